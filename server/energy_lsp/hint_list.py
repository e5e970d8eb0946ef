"""The hints of a text: figures are looked up for all its calls, the rest is joined when somebody looks."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, overload

from energy_lsp.hints import Hint

if TYPE_CHECKING:
    from pathlib import Path

    from energy_code.analysis import Analysis
    from energy_code.rules import Finding
    from energy_lsp.folders import Folder


class Hints(Sequence[Hint]):
    """One hint for each call, in the order of the text. A keystroke asks for a handful out of thousands."""

    def __init__(
        self, analysis: Analysis, findings: Sequence[Finding], folder: Folder, path: Path | None
    ) -> None:
        self._calls = analysis.calls
        lookup, rows = folder.lookup_in(path), analysis.lines.starts
        reached = self._calls.reached
        self._figures = [lookup(site.api, bisect_right(rows, start)) for start, _, _, site in reached]
        """Looked up here, as the database belongs to the worker's thread."""
        self._findings: dict[int, list[Finding]] = {}
        for finding in findings:
            if finding.call is not None:
                self._findings.setdefault(finding.call.span.start_byte, []).append(finding)
        self._made: dict[int, Hint] = {}

    def __len__(self) -> int:
        return len(self._figures)

    @overload
    def __getitem__(self, index: int) -> Hint: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Hint]: ...
    def __getitem__(self, index: int | slice) -> Hint | Sequence[Hint]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        hint = self._made.get(index)
        if hint is None:
            call = self._calls[index]
            found = self._findings.get(call.span.start_byte, ())
            hits = tuple(one for one in found if one.call == call)
            hint = self._made[index] = Hint(call, self._figures[index], hits)
        return hint

    def by_joules(self) -> Iterator[tuple[float, Hint]]:
        """The calls with a figure above zero, hungriest first: joules per call times runs, and the hint."""
        reached = self._calls.reached
        known = sorted(
            (-figure.total * reached[place][3].times, place)
            for place, figure in enumerate(self._figures)
            if figure is not None and figure.total is not None and figure.total > 0
        )
        return ((-joules, self[place]) for joules, place in known)
