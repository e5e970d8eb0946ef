"""Chains of method calls such as `ds.map(f).batch(32)`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from energy_code.rule_engine.context import Edit, RuleContext
from energy_code.rule_engine.patterns.pattern import canonical, same_api
from energy_code.rule_engine.queries.loops import calls_of, mentions
from energy_code.rule_engine.queries.tracing import CALLERS

if TYPE_CHECKING:
    from tree_sitter import Node

_PER_ELEMENT = tuple(
    f"tensorflow.data.Dataset.{method}" for method in ("map", "flat_map", "interleave", "filter")
)
_COMMENT = re.compile(rb"[ \t]*#[^\r\n]*")


def link_before(place: RuleContext, node: Node, api: str) -> Node | None:
    """The call that a method call follows directly, when it is of that API (`tf.data.Dataset.map`)."""
    receiver = place.receiver(node)
    if receiver is None or not same_api(place.api(receiver), canonical(api)):
        return None
    return receiver


def link_behind(place: RuleContext, node: Node, api: str, through: frozenset[str]) -> Node | None:
    """The nearest call of an API that a method call follows, with nothing but some methods of datasets between."""
    link = place.receiver(node)
    while link is not None and not same_api(place.api(link), canonical(api)):
        known = place.api(link) or ""
        link = place.receiver(link) if known.rpartition(".")[2] in through and "Dataset" in known else None
    return link


def link_in_statement_before(
    place: RuleContext, node: Node, api: str, through: frozenset[str]
) -> Node | None:
    """The same where the chain is written as `ds = ds.map(f)` and `ds = ds.batch(n)`, a statement each.

    Between them the name may be given on, through the same methods, and not be used for anything else.
    """
    statement = _assignment_of(node)
    name = _start_of_chain(place, place.receiver(node), api, through)
    if statement is None or name is None or name.type != "identifier":
        return None
    word = place.text(name)
    if _assigned_name(place, statement) != word:
        return None
    before = statement.prev_named_sibling
    while before is not None:
        if re.search(rf"(?<![\w.]){re.escape(word)}(?!\w)", place.text(before)) is None:
            before = before.prev_named_sibling
            continue
        if _assigned_name(place, before) != word:
            return None
        value = before.named_children[0].child_by_field_name("right")
        link = _start_of_chain(place, value, api, through)
        if link is None or (link.type == "identifier" and place.text(link) != word):
            return None
        if link.type != "identifier":
            return link if same_api(place.api(link), canonical(api)) else None
        before = before.prev_named_sibling
    return None


def _start_of_chain(place: RuleContext, link: Node | None, api: str, through: frozenset[str]) -> Node | None:
    """Where a chain of some methods begins: at a call of the API, or at a name."""
    while link is not None and link.type == "call" and not same_api(place.api(link), canonical(api)):
        known = place.api(link) or ""
        link = place.receiver(link) if known.rpartition(".")[2] in through and "Dataset" in known else None
    return link


def _assignment_of(node: Node) -> Node | None:
    """The statement that assigns what a call gives, alone or with further links behind it."""
    parent = node.parent
    while parent is not None and parent.type in ("attribute", "call", "assignment"):
        parent = parent.parent
    return parent if parent is not None and parent.type == "expression_statement" else None


def _assigned_name(place: RuleContext, statement: Node) -> str | None:
    """The one name that a statement assigns."""
    first = statement.named_children[0] if statement.type == "expression_statement" else None
    left = first.child_by_field_name("left") if first is not None and first.type == "assignment" else None
    return place.text(left) if left is not None and left.type == "identifier" else None


def moved_behind(place: RuleContext, link: Node, node: Node) -> list[Edit]:
    """A link of one statement's chain, put behind a call of a later statement."""
    source, start = place.analysis.source, place.receiver(link)
    assert start is not None
    text = source[start.end_byte : link.end_byte].decode().strip()
    insert = Edit(node.end_byte, node.end_byte, text)
    statement = _assignment_of(link)
    assignment = statement.named_children[0] if statement is not None else None
    whole = assignment is not None and assignment.child_by_field_name("right") == link
    if statement is None or not whole or start.type != "identifier":
        return [Edit(start.end_byte, link.end_byte, ""), insert]
    end = source.find(b"\n", statement.end_byte) + 1
    beginning = source.rfind(b"\n", 0, statement.start_byte) + 1
    alone = (
        not source[beginning : statement.start_byte].strip() and not source[statement.end_byte : end].strip()
    )
    if not end or not alone:  # another statement or a comment stands on the line
        return [Edit(start.end_byte, link.end_byte, ""), insert]
    return [Edit(beginning, end, ""), insert]


def runs_for_single_elements(place: RuleContext, node: Node, depth: int = CALLERS) -> bool:
    """Whether code is in a function that the file gives to `map` or its like, and before any `batch`."""
    lambdas = [parent for parent in place.within_function(node) if parent.type == "lambda"]
    if any(_is_mapped(place, one) for one in lambdas):
        return True
    function = place.function(node)
    name = function.child_by_field_name("name") if function is not None else None
    if function is None or name is None:
        return False
    for use in mentions(place, place.text(name)):
        owner = use.parent
        if _is_mapped(place, owner if owner is not None and owner.type == "attribute" else use):
            return True
    calls = calls_of(place, function) if depth else []
    return any(runs_for_single_elements(place, call, depth - 1) for call in calls)


def _is_mapped(place: RuleContext, given: Node) -> bool:
    arguments = given.parent
    if arguments is not None and arguments.type == "keyword_argument":
        arguments = arguments.parent
    call = arguments.parent if arguments is not None and arguments.type == "argument_list" else None
    if call is None or not any(same_api(place.api(call), api) for api in _PER_ELEMENT):
        return False
    receiver = place.receiver(call)
    return receiver is None or ".batch(" not in place.text(receiver)


def swap(place: RuleContext, inner: Node, outer: Node) -> list[Edit]:
    """Exchange two neighbouring links of a chain, with their line breaks, and with the comments behind them."""
    start = place.receiver(inner)
    assert start is not None
    source = place.analysis.source
    middle, end = inner.end_byte, outer.end_byte
    if _on_lines_of_their_own(source, start, inner, outer):
        middle, end = _with_comment(source, middle), _with_comment(source, end)
    first, second = source[start.end_byte : middle].decode(), source[middle:end].decode()
    return [Edit(start.end_byte, end, second + first)]


def _on_lines_of_their_own(source: bytes, start: Node, inner: Node, outer: Node) -> bool:
    """Whether each link is a line, and nothing but a line's end follows the comment behind the last."""
    between = source[start.end_byte : _dot(inner)], source[inner.end_byte : _dot(outer)]
    end = _with_comment(source, outer.end_byte)
    return all(b"\n" in piece for piece in between) and source[end : end + 1] in (b"\n", b"\r", b"")


def _dot(call: Node) -> int:
    function = call.child_by_field_name("function")
    name = function.child_by_field_name("attribute") if function is not None else None
    return name.start_byte if name is not None else call.start_byte


def _with_comment(source: bytes, end: int) -> int:
    found = _COMMENT.match(source, end)
    return found.end() if found is not None else end
