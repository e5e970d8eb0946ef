"""Edits of comments, documentation and blank lines: what was lowered stays as it is, and only its places move.

Nothing that was found out about the program has to be looked at again after such an edit.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import chain
from operator import itemgetter
from types import MappingProxyType
from typing import NamedTuple

from energy_code.ir.code import ClassCode, Code, FunctionCode, Parameter, TopLevelStatement
from energy_code.ir.expressions import Expression
from energy_code.ir.statements import Statement
from energy_code.lowering.context import Cache
from energy_code.syntax.node_kinds import Node
from energy_code.syntax.tree import PARSER
from energy_code.text.blank_edits import Change, Gap, gap_in, has_code, may_be_in_string

PLAIN = re.compile(rb"[^\x00-\x08\x0a-\x1f\"'\\#]*\Z").match
"""Text that neither ends a comment or string nor begins one."""
PLAIN_STRING = re.compile(rb"[rRbBuU]{0,2}[\"']").match
STATEMENT = re.compile(r"(?:module|block|decorator|.*_(?:statement|definition|clause))\Z").match


class Shift(NamedTuple):
    """An edit: the place before which all is as it was, and by how much the rest moves."""

    place: int
    by: int

    def of(self, start: int, end: int) -> tuple[int, int]:
        """Where something starts and ends now."""
        place, by = self
        return start + by if start > place else start, end + by if end > place else end


class Shifted(NamedTuple):
    """Statements after an edit that moved them."""

    units: list[tuple[int, TopLevelStatement]]
    shift: Shift
    """What has moved in the text."""
    around: TopLevelStatement | None = None
    """The statement that the edit lies in, if it lies in one."""
    inside: Shift = Shift(0, 0)
    """What has moved in it."""
    texts: Mapping[Code, bytes] = MappingProxyType({})
    """What it, and the functions and classes in it around the edit, look like now."""


def is_plain(change: Change) -> bool:
    """True for an edit that, inside a comment or a string, stays inside of it."""
    head = change.head
    return bool(PLAIN(change.old) and PLAIN(change.new)) and head > 0 and change.after[head - 1] != ord("\\")


def is_comment(statement: bytes, start: int, end: int) -> bool:
    """True when a stretch of a statement lies in a comment between statements, or in documentation."""
    if not may_be_comment(statement, start):
        return False
    root = PARSER.parse(statement).root_node
    node = root.descendant_for_byte_range(start - 1, end)
    if root.has_error or node is None or node.parent is None:
        return False
    if node.type == "comment":
        return node.start_byte < start and STATEMENT(node.parent.type) is not None
    return (
        node.type == "string_content" and node.start_byte < start and is_documentation(statement, node.parent)
    )


def may_be_comment(statement: bytes, place: int) -> bool:
    """False, found out fast, for most places in code."""
    line = statement[statement.rfind(b"\n", 0, place) + 1 : place]
    return (
        b"#" in line
        or PLAIN_STRING(line.lstrip()) is not None
        or any(statement.count(quotes, 0, place) % 2 for quotes in (b'"""', b"'''"))
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


def is_in_text(statement: bytes, place: int) -> bool:
    """True when a place of a statement lies in a string that is more than documentation."""
    if not may_be_in_string(statement[:place]):
        return False
    node = PARSER.parse(statement).root_node.descendant_for_byte_range(place, place)
    while node is not None and node.type != "string":
        node = node.parent
    return node is not None and not is_documentation(statement, node)


def codes_around(code: Code, place: int, ending: bool = False) -> Iterator[tuple[int, Code]]:
    """The codes that a place inside a code lies in, outermost first, with where they start in it.

    Those that end at the place count if `ending`, as a function does when a comment at its end grows.
    """
    yield 0, code
    for offset, part in code.parts:
        if offset < place < offset + part.end + ending:
            for inner, found in codes_around(part, place - offset, ending):
                yield offset + inner, found


def move(code: Code, shift: Shift) -> None:
    """Let all that stands behind a place in a code stand further down; codes inside of it are moved by themselves."""
    place, by = shift
    code.moves += 1
    code.end += by
    code.parts = [(offset + by if offset > place else offset, part) for offset, part in code.parts]
    groups = expressions_in(code)
    behind = first_behind(groups, place)
    for expression in chain.from_iterable(groups[max(behind - 1, 0) :]):
        if expression.end > place:
            expression.end += by
            if expression.start > place:
                expression.start += by


def is_in_expression(code: Code, place: int) -> bool:
    """True for a place inside one of the expressions of a code."""
    groups = expressions_in(code)
    behind = first_behind(groups, place)
    return behind > 0 and place < groups[behind - 1][0].end


def first_behind(groups: list[list[Expression]], place: int) -> int:
    """The number of the first group that begins behind a place."""
    return bisect_right(groups, place, key=lambda group: group[0].start)


def expressions_in(code: Code) -> list[list[Expression]]:
    """Every expression with a place of its own, by place, each with all that are part of it behind it.

    Gathered once: however they move, their order stays.
    """
    if code.expressions is None:
        code.expressions = []
        end = -1
        for expression in sorted(expressions_of(code), key=lambda one: (one.start, -one.end)):
            if expression.start >= end:
                code.expressions.append([])
                end = expression.end
            code.expressions[-1].append(expression)
    return code.expressions


def expressions_of(code: Code) -> list[Expression]:
    """Every expression with a place of its own, apart from those of the codes inside."""
    found: list[Expression] = []
    seen: set[int] = set()
    stack: list[object] = []
    if isinstance(code, TopLevelStatement):
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
    return tuple(name for name in names if name not in ("start", "end", "enclosing_code"))


def rename(caches: Iterable[Cache], texts: Mapping[Code, bytes]) -> None:
    """Let codes be found by the texts that they have now, and no longer by those they had."""
    for known in caches:
        for key in [key for key, code in known.items() if code in texts]:
            code = known.pop(key)
            name, column, _ = key
            if isinstance(code, TopLevelStatement):  # statements of the same text are told apart
                kind, twin = name.split()[0], 1
                while (name := f"{kind} {twin}", column, texts[code]) in known:
                    twin += 1
            known.setdefault((name, column, texts[code]), code)


def shifted(units: list[tuple[int, TopLevelStatement]], change: Change) -> Shifted | None:
    """Move what stands behind an edit; None unless it is in a comment inside a statement, or of blank lines."""
    if is_plain(change):
        number = bisect_right(units, change.head, key=itemgetter(0)) - 1
        if number < 0 or end_of(units[number]) <= change.head:
            if is_at_margin(change):
                return Shifted(further(units, number + 1, change.by), Shift(change.head, change.by))
        elif units[number][0] < change.head and change.old_end < end_of(units[number]):
            start, unit = units[number]
            text = change.after[start : start + unit.end + change.by]
            if is_comment(text, change.head - start, change.end - start):
                return moved(units, number, change, change.head, comment=True)
    gap = gap_in(change)
    if gap is None:
        return None
    number = bisect_right(units, gap.place, key=itemgetter(0)) - 1
    if number >= 0 and gap.place < end_of(units[number]):
        return (
            moved(units, number, change, gap.place) if is_between_tokens(units[number], change, gap) else None
        )
    if gap.comments and not is_at_margin(change):
        return None
    return Shifted(further(units, number + 1, change.by), Shift(gap.place, change.by))


def is_at_margin(change: Change) -> bool:
    """True for an edit of comments that begin their lines: indented ones may be part of the statement before."""
    lines = [line for text in change.lines for line in text.split(b"\n")]
    return all(line.startswith(b"#") or not line.strip() for line in lines)


def end_of(unit: tuple[int, TopLevelStatement]) -> int:
    """Where a statement ends."""
    return unit[0] + unit[1].end


def moved(
    units: list[tuple[int, TopLevelStatement]],
    number: int,
    change: Change,
    place: int,
    *,
    comment: bool = False,
) -> Shifted | None:
    """What stands behind a place in one of the statements, and the statements behind it, further down."""
    start, unit = units[number]
    around = list(codes_around(unit, place - start, comment))
    if is_written_twice(units, {code for _, code in around}):
        return None
    for offset, code in around:
        move(code, Shift(place - start - offset, change.by))
    text = change.after[start : start + unit.end]
    texts = {code: text[offset : offset + code.end] for offset, code in around}
    by = change.by
    return Shifted(further(units, number + 1, by), Shift(place, by), unit, Shift(place - start, by), texts)


def further(
    units: list[tuple[int, TopLevelStatement]], first: int, by: int
) -> list[tuple[int, TopLevelStatement]]:
    """The statements, from one of them on further down."""
    return [*units[:first], *[(place + by, unit) for place, unit in units[first:]]]


def is_between_tokens(unit: tuple[int, TopLevelStatement], change: Change, gap: Gap) -> bool:
    """True for an edit outside of expressions and strings that leaves every function and class its end.

    Comments at the end of a block count to it or not by how they are indented. Calls remember how they are written.
    """
    start, code = unit
    text = change.after[start : start + code.end + change.by]
    head, end, place = change.head - start, change.end - start, gap.place - start
    for offset, around in codes_around(code, place):
        if is_in_expression(around, place - offset):
            return False
    if is_in_text(text, head):
        return False
    if not gap.comments:
        return True
    for offset, around in codes_around(code, place):
        if not has_code(text[end : offset + around.end + change.by]):
            return False
        ends = [offset + place + part.end for place, part in around.parts]
        last = max((one for one in ends if one <= head), default=None)
        if last is not None and not has_code(text[last:head]):
            return False
    return True


def is_written_twice(units: list[tuple[int, TopLevelStatement]], codes: set[Code]) -> bool:
    """True when one of the codes stands in several places, as the same function in two branches does."""
    met = 0
    stack: list[Code] = [unit for _, unit in units]
    while stack:
        code = stack.pop()
        met += code in codes
        stack.extend([part for _, part in code.parts])
    return met > len(codes)
