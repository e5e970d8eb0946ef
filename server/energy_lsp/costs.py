"""What the calls of a program cost, together: the same wherever they stand, so it is kept over edits that only move them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from heapq import nlargest
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from energy_lsp.hints import Total

if TYPE_CHECKING:
    from energy_code.analysis import Analysis
    from energy_code.call_list import Found, Renewed
    from energy_data.model import Figure
    from energy_lsp.folders import Folder


SOME = 8
"""Few are asked for: putting all in order would take longer."""


class Basis(NamedTuple):
    """What figures were looked up for, and where."""

    survey: object
    known: object
    reached: Sequence[Found]


class Costs:
    """A figure for each call, by their order in the text."""

    def __init__(
        self,
        figures: Sequence[Figure | None] = (),
        times: Sequence[int] = (),
        rows: Mapping[int, int] | None = None,
        basis: Basis | None = None,
    ) -> None:
        self.figures = figures
        self.times = times
        """How often each runs."""
        self.rows = rows or {}
        """Calls that were looked up by their line, and that line."""
        self._basis = basis

    @classmethod
    def of(cls, analysis: Analysis, folder: Folder, path: Path | None, before: Costs | None = None) -> Costs:
        """Look up every call, but for those that an analysis before had already."""
        reached, renewed = analysis.calls.reached, analysis.calls.renewed
        basis = Basis(analysis.survey, folder.known, reached)
        if before is None or not before.can_be_renewed(renewed, folder):
            figures, rows = folder.figures_in(path, reached, analysis.lines)
            return cls(figures, _times(reached), rows, basis)
        first, last = renewed.first, renewed.last
        middle = reached[first : len(reached) - len(renewed.before) + last]
        figures, rows = folder.figures_in(path, middle, analysis.lines)
        if rows:
            return cls.of(analysis, folder, path)
        return cls(
            [*before.figures[:first], *figures, *before.figures[last:]],
            [*before.times[:first], *_times(middle), *before.times[last:]],
            None,
            basis,
        )

    def hold_for(self, analysis: Analysis, folder: Folder) -> bool:
        """True when the calls are the same, and the same is known of them."""
        basis = self._basis
        if basis is None or basis.survey is not analysis.survey or basis.known is not folder.known:
            return False
        reached, lines = analysis.calls.reached, analysis.lines
        return all(lines.point(reached[place][0]).row == row for place, row in self.rows.items())

    def can_be_renewed(self, renewed: Renewed, folder: Folder) -> bool:
        """True when these are the costs of the calls that others were taken over from, wherever they stand."""
        basis = self._basis
        return (
            basis is not None
            and basis.reached is renewed.before
            and basis.known is folder.known
            and not self.rows
        )

    @cached_property
    def _total(self) -> Total:
        return Total.of(zip(self.figures, self.times, strict=True))

    def total_of(self, places: range) -> Total:
        """The sum over some calls that follow each other."""
        if len(places) == len(self.figures):
            return self._total
        first, last = places.start, places.stop
        return Total.of(zip(self.figures[first:last], self.times[first:last], strict=True))

    @cached_property
    def _joules(self) -> list[float]:
        """Joules per call times runs; 0 where they are not known."""
        return [
            figure.total * times if figure is not None and figure.total is not None else 0.0
            for figure, times in zip(self.figures, self.times, strict=True)
        ]

    def hungriest(self) -> Iterator[tuple[float, int]]:
        """Joules per call times runs, and which call it is, of those above zero, hungriest first."""
        joules, told, wanted = self._joules, 0, SOME
        while told < len(joules):
            places = nlargest(wanted, range(len(joules)), key=joules.__getitem__)
            for place in places[told:]:
                if joules[place] <= 0:
                    return
                yield joules[place], place
            told, wanted = len(places), len(joules)


def _times(reached: Sequence[Found]) -> list[int]:
    return [site.times for _, _, _, site in reached]
