"""What the calls of a program cost, together: the same wherever they stand, so it is kept over edits that only move them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from heapq import heapify, heappop
from pathlib import Path
from typing import TYPE_CHECKING

from energy_lsp.hints import Total

if TYPE_CHECKING:
    from energy_code.analysis import Analysis
    from energy_data.model import Figure
    from energy_lsp.folders import Folder


class Costs:
    """A figure for each call, by their order in the text."""

    def __init__(
        self,
        figures: Sequence[Figure | None] = (),
        times: Sequence[int] = (),
        rows: Mapping[int, int] | None = None,
        basis: tuple[object, object] | None = None,
    ) -> None:
        self.figures = figures
        self.times = times
        """How often each runs."""
        self.rows = rows or {}
        """Calls that were looked up by their line, and that line."""
        self._basis = basis
        self._popped: list[tuple[float, int]] = []

    @classmethod
    def of(cls, analysis: Analysis, folder: Folder, path: Path | None) -> Costs:
        """Look up every call."""
        reached = analysis.calls.reached
        basis = (analysis.survey, folder.known)
        figures, rows = folder.figures_in(path, reached, analysis.lines)
        return cls(figures, [site.times for _, _, _, site in reached], rows, basis)

    def hold_for(self, analysis: Analysis, folder: Folder) -> bool:
        """True when the calls are the same, and the same is known of them."""
        if self._basis is None or self._basis[0] is not analysis.survey or self._basis[1] is not folder.known:
            return False
        reached, lines = analysis.calls.reached, analysis.lines
        return all(lines.point(reached[place][0]).row == row for place, row in self.rows.items())

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
    def _unpopped(self) -> list[tuple[float, int]]:
        found = [
            (-figure.total * times, place)
            for place, (figure, times) in enumerate(zip(self.figures, self.times, strict=True))
            if figure is not None and figure.total is not None and figure.total > 0
        ]
        heapify(found)  # few are asked for: putting all in order would take longer
        return found

    def hungriest(self) -> Iterator[tuple[float, int]]:
        """Joules per call times runs, and which call it is, of those above zero, hungriest first."""
        for joules, place in self._popped:
            yield -joules, place
        while self._unpopped:
            joules, place = heappop(self._unpopped)
            self._popped.append((joules, place))
            yield -joules, place
