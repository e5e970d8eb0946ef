"""Where the codes of a module stand. After an edit most stand as they did, or only further down: those are taken over."""

from __future__ import annotations

import sys
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from energy_code.ir.code import Code, TopLevelStatement

if TYPE_CHECKING:
    from energy_code.analysis.enclosing import EnclosingCode

Statements = list[tuple[int, TopLevelStatement]]


class Same(NamedTuple):
    """How many statements of a module, from the first and from the last on, are what they were, and where they are now."""

    front: int
    back: int
    by: int
    """How much further down those at the end stand."""


NOTHING_SAME = Same(0, 0, 0)


class Layout:
    """Every code of a module, outermost first, by place."""

    __slots__ = ("codes", "enclosing_codes", "same", "starts", "statement_starts", "statements", "tops")

    def __init__(self, statements: Statements, before: Layout | None = None) -> None:
        self.statements = statements
        self.statement_starts = [start for start, _ in statements]
        self.same = same_statements(before.statements, statements) if before is not None else NOTHING_SAME
        self.enclosing_codes: list[EnclosingCode] = []
        """Absolute start and end of every code, with the code around it."""
        self.tops: list[int] = []
        """Which of them are the statements of the top level; behind the last one their number."""
        front, back, by = self.same
        if before is not None:
            self.enclosing_codes = before.enclosing_codes[: before.tops[front]]
            self.tops = before.tops[:front]
        for start, statement in statements[front : len(statements) - back]:
            self.tops.append(len(self.enclosing_codes))
            self.enclosing_codes += enclosing_codes_in(start, statement)
        if before is not None:
            first = before.tops[-1 - back]
            grown = len(self.enclosing_codes) - first
            behind = before.enclosing_codes[first:]
            self.enclosing_codes += [
                (start + by, end + by, code, parent) for start, end, code, parent in behind
            ]
            self.tops += [top + grown for top in before.tops[-1 - back : -1]]
        self.tops.append(len(self.enclosing_codes))
        self.starts = [enclosing_code[0] for enclosing_code in self.enclosing_codes]
        self.codes = [enclosing_code[2] for enclosing_code in self.enclosing_codes]

    def start_of(self, number: int) -> int:
        """Where one of the statements begins; behind the last one, behind everything."""
        return self.statement_starts[number] if number < len(self.statements) else sys.maxsize

    def has_only_between(self, codes: set[Code], first: int, last: int) -> bool:
        """Whether some codes, as far as the module has them, stand in a row of its statements and nowhere else."""
        before, behind = self.codes[: self.tops[first]], self.codes[self.tops[last] :]
        return codes.isdisjoint(before) and codes.isdisjoint(behind)

    def same_but_for(self, changed: set[Code]) -> Same:
        """Of the same statements those before and behind all codes of which something else is known."""
        front, back, by = self.same
        last = len(self.statements) - back
        if self.has_only_between(changed, front, last):
            return self.same
        places = [number for number, code in enumerate(self.codes) if code in changed]
        first_changed = bisect_right(self.tops, places[0]) - 1
        behind_changed = bisect_right(self.tops, places[-1])
        return Same(min(front, first_changed), min(back, len(self.statements) - behind_changed), by)


def same_statements(before: Statements, statements: Statements) -> Same:
    """How many statements at both ends are what they were."""
    shorter = min(len(before), len(statements))
    front = 0
    while front < shorter and before[front] == statements[front]:
        front += 1
    back = 0
    by = statements[-1][0] - before[-1][0] if shorter else 0
    while back < shorter - front:
        (old, known), (new, statement) = before[-1 - back], statements[-1 - back]
        if known is not statement or new - old != by:
            break
        back += 1
    return Same(front, back, by)


def enclosing_codes_in(start: int, statement: TopLevelStatement) -> list[EnclosingCode]:
    """A statement and all codes in it."""
    enclosing_codes: list[EnclosingCode] = []
    stack: list[tuple[int, Code, Code | None]] = [(start, statement, None)]
    while stack:
        start, code, parent = stack.pop()
        enclosing_codes.append((start, start + code.end, code, parent))
        if code.parts:
            stack.extend([(start + offset, part, code) for offset, part in reversed(code.parts)])
    return enclosing_codes
