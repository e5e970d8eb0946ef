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
