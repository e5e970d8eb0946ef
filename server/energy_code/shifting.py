"""Edits inside comments and documentation: what was lowered stays as it is, and only its places move.

Nothing that was found out about the program has to be looked at again after such an edit.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cache
from operator import itemgetter
from typing import NamedTuple

from energy_code.codes import ClassCode, Code, FunctionCode, Parameter, Unit
from energy_code.expressions import Expression
from energy_code.lowering_scopes import Cache
from energy_code.node_kinds import Node
from energy_code.statements import Statement
from energy_code.syntax import PARSER

PLAIN = re.compile(rb"[^\x00-\x08\x0a-\x1f\"'\\#]*\Z").match
"""Text that neither ends a comment or string nor begins one."""
PLAIN_STRING = re.compile(rb"[rRbBuU]{0,2}[\"']").match
STATEMENT = re.compile(r"(?:module|block|decorator|.*_(?:statement|definition|clause))\Z").match


class Shift(NamedTuple):
    """An edit inside one code: the place before which all is as it was, and by how much the rest moves."""

    place: int
    by: int


def is_plain(source: bytes, start: int, end: int, replacement: bytes) -> bool:
    """True for an edit that, inside a comment or a string, stays inside of it."""
    return (
        bool(PLAIN(source[start:end]) and PLAIN(replacement)) and start > 0 and source[start - 1] != ord("\\")
    )


def is_remark(statement: bytes, start: int, end: int) -> bool:
    """True when a stretch of a statement lies in a comment between statements, or in documentation."""
    root = PARSER.parse(statement).root_node
    node = root.descendant_for_byte_range(start - 1, end)
    if root.has_error or node is None or node.parent is None:
        return False
    if node.type == "comment":
        return node.start_byte < start and STATEMENT(node.parent.type) is not None
    return (
        node.type == "string_content" and node.start_byte < start and is_documentation(statement, node.parent)
    )


def is_documentation(statement: bytes, string: Node) -> bool:
    """True for a string that stands alone and holds no expressions."""
    parent = string.parent
    return (
        parent is not None
        and parent.type == "expression_statement"
        and parent.child_count == 1
        and PLAIN_STRING(statement, string.start_byte) is not None
    )


def codes_around(code: Code, place: int) -> Iterator[tuple[int, Code]]:
    """The codes that a place inside a code lies in, outermost first, with where they start in it."""
    yield 0, code
    for offset, part in code.parts:
        if offset < place < offset + part.end:
            for inner, found in codes_around(part, place - offset):
                yield offset + inner, found


def move(code: Code, shift: Shift) -> None:
    """Let all that stands behind a place in a code stand further down; codes inside of it are moved by themselves."""
    place, by = shift
    code.moves += 1
    code.end += by
    code.parts = [(offset + by if offset > place else offset, part) for offset, part in code.parts]
    for expression in expressions_of(code):
        if expression.end > place:
            expression.end += by
            if expression.start > place:
                expression.start += by


def expressions_of(code: Code) -> list[Expression]:
    """Every expression with a place of its own, apart from those of the codes inside."""
    found: list[Expression] = []
    seen: set[int] = set()
    stack: list[object] = []
    if isinstance(code, Unit):
        stack.append(code.statements)
    elif isinstance(code, FunctionCode):
        stack += [code.parameters, code.body, code.value, code.returns]
    elif isinstance(code, ClassCode):
        stack += [code.bases, code.keywords, code.body]
    while stack:
        item = stack.pop()
        if isinstance(item, tuple):
            stack.extend(item)
        elif isinstance(item, (Expression, Statement, Parameter)) and id(item) not in seen:
            seen.add(id(item))
            kind: type = type(item)
            stack.extend([getattr(item, name, None) for name in fields_of(kind)])
            if isinstance(item, Expression) and hasattr(item, "start"):
                found.append(item)
    return found


@cache
def fields_of(kind: type) -> tuple[str, ...]:
    """What a statement or expression is made of."""
    names = [name for cls in kind.__mro__ for name in getattr(cls, "__slots__", ())]
    return tuple(name for name in names if name not in ("start", "end", "home"))


def rename(caches: Iterable[Cache], texts: dict[Code, bytes]) -> None:
    """Let codes be found by the texts that they have now, and no longer by those they had."""
    for known in caches:
        for key in [key for key, code in known.items() if code in texts]:
            code = known.pop(key)
            name, column, _ = key
            if isinstance(code, Unit):  # statements of the same text are told apart
                kind, twin = name.split()[0], 1
                while (name := f"{kind} {twin}", column, texts[code]) in known:
                    twin += 1
            known.setdefault((name, column, texts[code]), code)


def shifted(
    units: list[tuple[int, Unit]], source: bytes, head: int, end: int, by: int
) -> tuple[list[tuple[int, Unit]], dict[Code, bytes]] | None:
    """Move what stands behind an edit that ends at `end` now; None unless it is in a remark inside a statement.

    Gives the statements with their places, and the texts of those around the edit.
    """
    number = bisect_right(units, head, key=itemgetter(0)) - 1
    if number < 0:
        return None
    start, unit = units[number]
    text = source[start : start + unit.end + by]
    if not (start < head and end < start + len(text)) or not is_remark(text, head - start, end - start):
        return None
    around = list(codes_around(unit, head - start))
    if is_written_twice(units, {code for _, code in around}):
        return None
    for offset, code in around:
        move(code, Shift(head - start - offset, by))
    texts = {code: text[offset : offset + code.end] for offset, code in around}
    behind = [(place + by, other) for place, other in units[number + 1 :]]
    return [*units[: number + 1], *behind], texts


def is_written_twice(units: list[tuple[int, Unit]], codes: set[Code]) -> bool:
    """True when one of the codes stands in several places, as the same function in two branches does."""
    met = 0
    stack: list[Code] = [unit for _, unit in units]
    while stack:
        code = stack.pop()
        met += code in codes
        stack.extend([part for _, part in code.parts])
    return met > len(codes)
