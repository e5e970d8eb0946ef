"""Where the codes of a module stand. After an edit most stand as they did, or only further down: those are taken over."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

from energy_code.codes import Code, Unit

if TYPE_CHECKING:
    from energy_code.surroundings import Home

Units = list[tuple[int, Unit]]


class Same(NamedTuple):
    """How many statements of a module, from the first and from the last on, are what they were, and where they are now."""

    front: int
    back: int
    by: int
    """How much further down those at the end stand."""


class Layout:
    """Every code of a module, outermost first, by place."""

    __slots__ = ("codes", "homes", "starts", "tops", "unit_starts", "units")

    def __init__(self, units: Units, before: Layout | None = None, same: Same | None = None) -> None:
        self.units = units
        self.unit_starts = [start for start, _ in units]
        self.homes: list[Home] = []
        """Absolute start and end of every code, with the code around it."""
        self.tops: list[int] = []
        """Which of them are the statements of the top level; behind the last one their number."""
        front, back, by = same or (0, 0, 0)
        if before is not None and front:
            self.homes = before.homes[: before.tops[front]]
            self.tops = before.tops[:front]
        for start, unit in units[front : len(units) - back]:
            self.tops.append(len(self.homes))
            self.homes += homes_in(start, unit)
        if before is not None and back:
            first = before.tops[-1 - back]
            grown = len(self.homes) - first
            behind = before.homes[first:]
            self.homes += [(start + by, end + by, code, parent) for start, end, code, parent in behind]
            self.tops += [top + grown for top in before.tops[-1 - back : -1]]
        self.tops.append(len(self.homes))
        self.starts = [home[0] for home in self.homes]
        self.codes = [home[2] for home in self.homes]

    def same(self, units: Units, touched: Collection[Unit]) -> Same:
        """What is the same in other statements of the module, apart from some in which places have moved."""
        before = self.units
        shorter = min(len(before), len(units))
        front = 0
        while front < shorter and before[front] == units[front] and units[front][1] not in touched:
            front += 1
        back = 0
        by = units[-1][0] - before[-1][0] if shorter else 0
        while back < shorter - front:
            (old, known), (new, unit) = before[-1 - back], units[-1 - back]
            if known is not unit or new - old != by or unit in touched:
                break
            back += 1
        return Same(front, back, by)

    def start_of(self, number: int) -> int:
        """Where one of the statements begins; behind the last one, behind everything."""
        return self.unit_starts[number] if number < len(self.units) else sys.maxsize

    def narrowed(self, same: Same, changed: set[Code]) -> Same:
        """Of the same statements at both ends those before and behind all codes of which something else is known."""
        front, back, by = same
        last = len(self.units) - back
        before, behind = self.codes[: self.tops[front]], self.codes[self.tops[last] :]
        if not changed.isdisjoint(before):
            number = next(number for number, code in enumerate(before) if code in changed)
            front = bisect_right(self.tops, number) - 1
        if not changed.isdisjoint(behind):
            number = max(number for number, code in enumerate(behind, self.tops[last]) if code in changed)
            back = len(self.units) - bisect_right(self.tops, number)
        return Same(front, back, by)


def homes_in(start: int, unit: Unit) -> list[Home]:
    """A statement and all codes in it."""
    homes: list[Home] = []
    stack: list[tuple[int, Code, Code | None]] = [(start, unit, None)]
    while stack:
        start, code, parent = stack.pop()
        homes.append((start, start + code.end, code, parent))
        if code.parts:
            stack.extend([(start + offset, part, code) for offset, part in reversed(code.parts)])
    return homes
