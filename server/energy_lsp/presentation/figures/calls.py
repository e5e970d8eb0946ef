"""Second stage: from the calls of an analysis to what is known of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import nlargest
from pathlib import Path
from typing import TYPE_CHECKING

from energy_lsp.presentation.figures.account import Account, counts, machine_of
from energy_lsp.presentation.figures.matching import Matching, WrittenCall

if TYPE_CHECKING:
    from energy_code.analysis.analysis import Analysis
    from energy_code.analysis.calls import Calls, Found
    from energy_code.interpreter.summary import ResolvedCall
    from energy_code.ir.code import CallSite
    from energy_code.model import Call
    from energy_data.model import Figure, MeasuredSite
    from energy_lsp.presentation.figures.own_steps import OwnStep
    from energy_lsp.workspace.folders import Folder

SOME = 8
"""Few are asked for: putting all in order would take longer."""

Place = tuple[int, int, "CallSite | None", "ResolvedCall | None"]
"""Start and negative end of a call; what the reader knows of it, unless it is an own step."""


class Figures(Sequence["Figure | None"]):
    """A figure for each call, by their order in the text."""

    def __init__(
        self,
        figures: Sequence[Figure | None] = (),
        times: Sequence[int] = (),
        order: Sequence[int] = (),
        steps: Sequence[OwnStep] = (),
    ) -> None:
        self._figures = figures
        self.times = times
        """How often each runs: in the measured run, else as far as the source tells."""
        self._order = order
        """Where there are own steps: which of the API calls, and behind them of the steps, comes at each place."""
        self._steps = steps
        self._account: Account | None = None
        self._joules: list[float] | None = None

    @classmethod
    def of(cls, analysis: Analysis, folder: Folder, path: Path | None) -> Figures:
        """Look up every call: as it was measured in this file, else what is known of its API."""
        reached, sites = analysis.calls().reached, folder.sites(path)
        figures, times = _in_general(reached, folder), _times(reached)
        if not sites:
            return cls(figures, times)
        of_apis = [site for site in sites if _is_read(site)]
        found = Matching(_written(analysis, {site.api for site in of_apis}), of_apis)
        for place, figure in found.figures.items():
            figures[place] = figure
            times[place] = figure.times or times[place]
        if len(of_apis) == len(sites):
            return cls(figures, times)
        from energy_lsp.presentation.figures.own_steps import own_steps

        steps = own_steps(analysis, [site for site in sites if not _is_read(site)])
        figures += [step.figure for step in steps]
        times += [step.figure.times or 1 for step in steps]
        starts = [start for start, *_ in reached] + [step.call.span.start_byte for step in steps]
        order = sorted(range(len(starts)), key=starts.__getitem__)
        figures, times = [figures[number] for number in order], [times[number] for number in order]
        return cls(figures, times, order, steps)

    def joined_with(self, calls: Calls) -> tuple[Sequence[Call], Sequence[Place]]:
        """The calls that have these figures, and where they stand: those of APIs, and the program's own steps among them."""
        if not self._steps:
            return calls, calls.reached
        number = len(calls)
        places: list[Place] = [
            calls.reached[place] if place < number else _place(self._steps[place - number])
            for place in self._order
        ]
        return WithSteps(calls, self._steps, self._order), places

    def __len__(self) -> int:
        return len(self._figures)

    def __getitem__(self, index):  # type: ignore[no-untyped-def]  # as a sequence's
        return self._figures[index]

    def account(self) -> Account:
        """The sum over the whole program."""
        if self._account is None:
            self._account = Account.of(zip(self._figures, self.times, strict=True))
        return self._account

    def account_of(self, places: range) -> Account:
        """The sum over some calls that follow each other."""
        if len(places) == len(self._figures):
            return self.account()
        first, last = places.start, places.stop
        return Account.of(zip(self._figures[first:last], self.times[first:last], strict=True))

    def _main_joules(self) -> list[float]:
        """Joules of one run of what the main machine measured; 0 for all else."""
        if self._joules is not None:
            return self._joules
        main = self.account().main
        self._joules = [
            (figure.of_run(times) or 0.0)
            if main is not None and figure is not None and counts(figure) and machine_of(figure) == main.key
            else 0.0
            for figure, times in zip(self._figures, self.times, strict=True)
        ]
        return self._joules

    def costliest(self) -> Iterator[tuple[float, int]]:
        """Joules of one run, and which call it is, of those above zero, costliest first."""
        if self.account().main is None:
            return
        joules, seen, wanted = self._main_joules(), 0, SOME
        while seen < len(joules):
            places = nlargest(wanted, range(len(joules)), key=joules.__getitem__)
            for place in places[seen:]:
                if joules[place] <= 0:
                    return
                yield joules[place], place
            seen, wanted = len(places), len(joules)


class WithSteps(Sequence["Call"]):
    """API calls, made when somebody looks at them, and own steps, in the order of the text."""

    def __init__(self, calls: Calls, steps: Sequence[OwnStep], order: Sequence[int]) -> None:
        self._calls = calls
        self._steps = steps
        self._order = order

    def __len__(self) -> int:
        return len(self._order)

    def __getitem__(self, index):  # type: ignore[no-untyped-def]  # as a sequence's
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        number = self._order[index]
        return (
            self._calls[number] if number < len(self._calls) else self._steps[number - len(self._calls)].call
        )


def _is_read(site: MeasuredSite) -> bool:
    """Whether it is a call that the reader finds, as those of PyTorch are not."""
    return site.figure.kind == "api" and not site.api.startswith("torch.")


def _place(step: OwnStep) -> Place:
    return step.call.span.start_byte, -step.call.span.end_byte, None, None


def _in_general(reached: Sequence[Found], folder: Folder) -> list[Figure | None]:
    apis = [site.api for _, _, _, site in reached]
    known = folder.general(apis)
    return [known[api] for api in apis]


def _times(reached: Sequence[Found]) -> list[int]:
    return [site.times for _, _, _, site in reached]


def _written(analysis: Analysis, apis: set[str]) -> list[WrittenCall]:
    """The calls of some APIs as they stand in the text."""
    from energy_code.analysis.call_text import call_text

    calls: list[WrittenCall] = []
    lines, source = analysis.lines, analysis.source
    for place, (start, negative_end, _, site) in enumerate(analysis.calls().reached):
        if site.api not in apis or site.decorator:
            continue
        look = analysis.calls().function_of(place), call_text(source[start:-negative_end])
        row, column = lines.point(start)
        characters = len(lines.line(row)[:column].decode("utf-8", "replace"))
        calls.append(WrittenCall(place, site.api, *look, row + 1, characters + 1))
    return calls
