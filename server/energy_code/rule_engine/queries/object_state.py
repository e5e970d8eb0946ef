"""What a step reads of its object: a trace takes for granted what `self` holds, so that has to stay as it is."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from energy_code.rule_engine.context import RuleContext
from energy_code.rule_engine.queries.purity import DEPTH, changes_outside, has_effect

if TYPE_CHECKING:
    from tree_sitter import Node

_SETS_UP = re.compile(r"__init__|__post_init__|build|compile|setup|set_up|init|create|make")
"""In the names of methods that run before training does."""
_SELF = re.compile(rb"(?<![\w.])self(?!\w)")
_WRITES_BY_NAME = (b"setattr", b"__dict__")


class Reads(NamedTuple):
    """The attributes of `self` that some code uses; `steady` is False where it sets one, or gives `self` away."""

    attributes: frozenset[str]
    steady: bool


def is_steady(place: RuleContext, start: int, end: int, depth: int = DEPTH) -> bool:
    """Whether what a stretch of a method reads of `self` was set once, before training, and its methods have no effect."""
    source = place.analysis.source
    if _SELF.search(source, start, end) is None:
        return True
    reads = reads_of(_statements(source, start, end))
    if reads is None or not reads.steady or any(map(place.shared.has, _WRITES_BY_NAME)):
        return False
    place.shared.looked_anywhere = True  # any method of the file may set an attribute
    code = place.shared.code()
    outside = code[:start] + b"\n" + code[end:]
    if changes_outside(outside, [f"self.{name}" for name in reads.attributes]):
        return False
    return all(_stays(place, name, depth) for name in reads.attributes)


def _stays(place: RuleContext, name: str, depth: int) -> bool:
    """Whether an attribute, property or method of that name gives the same each time it is asked."""
    bodies = list(_methods(place, name))
    if any(has_effect(place, body) for body in bodies) or not _set_once(place, name):
        return False
    return not bodies or (
        depth > 0 and all(is_steady(place, body.start_byte, body.end_byte, depth - 1) for body in bodies)
    )


def reads_of(text: str) -> Reads | None:
    """What a piece of code reads of `self`; None for what is no Python."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None
    attributes: set[str] = set()
    known: set[int] = set()
    steady = True
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and _is_self(node.value):
            attributes.add(node.attr)
            known.add(id(node.value))
            steady = steady and isinstance(node.ctx, ast.Load)
        elif isinstance(node, ast.Call) and _is_self(node.func):
            known.add(
                id(node.func)
            )  # the object called as a model: what that does is looked at with all models
    given_away = any(_is_self(node) and id(node) not in known for node in ast.walk(tree))
    return Reads(frozenset(attributes), steady and not given_away)


def _statements(source: bytes, start: int, end: int) -> str:
    """Statements of a block without their margin."""
    margin = source[source.rfind(b"\n", 0, start) + 1 : start]
    return textwrap.dedent(
        (b"" if margin.strip() else margin).decode() + source[start:end].decode("utf-8", "replace")
    )


def _is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _methods(place: RuleContext, name: str) -> Iterator[Node]:
    """The bodies of methods and properties of that name in the file's classes."""
    for start in place.shared.occurrences(name.encode(), b"(", 0, len(place.analysis.source)):
        node = place.analysis.root_at(start).descendant_for_byte_range(start, start + len(name.encode()))
        function = node.parent if node is not None else None
        body = function.child_by_field_name("body") if function is not None else None
        if (
            function is not None
            and body is not None
            and function.type == "function_definition"
            and function.child_by_field_name("name") == node
        ):
            yield body


def _set_once(place: RuleContext, name: str) -> bool:
    """Whether the file sets an attribute at most once, where an object is set up, and never counts it up."""
    pattern = re.compile(
        rb"\." + re.escape(name.encode()) + rb"\s*(?:,[^=\n()]*|:[^=\n]*)?([-+*/|&%@]|//|\*\*)?=(?!=)"
    )
    found = list(pattern.finditer(place.shared.code()))
    if len(found) > 1 or any(one.group(1) for one in found):
        return False
    for one in found:
        node = place.analysis.root_at(one.start()).descendant_for_byte_range(one.start(), one.start() + 1)
        function = place.function(node) if node is not None else None
        written = function.child_by_field_name("name") if function is not None else None
        if written is None or _SETS_UP.search(place.text(written)) is None:
            return False
    return True
