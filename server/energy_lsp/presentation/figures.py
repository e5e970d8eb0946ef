"""Second stage: from the calls of an analysis to what is known of each.

Kept over edits that only move the calls: what they cost is the same wherever they stand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from heapq import nlargest
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from energy_lsp.presentation.account import Account, counts, machine_of
from energy_lsp.presentation.call_matching import Matching, WrittenCall

if TYPE_CHECKING:
    from energy_code.analysis.analysis import Analysis
    from energy_code.analysis.calls import Calls, Found, Renewed
    from energy_code.interpreter.summary import ResolvedCall
    from energy_code.ir.expressions import CallExpression
    from energy_code.model import Call
    from energy_data.model import Figure, MeasuredSite
    from energy_lsp.presentation.own_steps import OwnStep
    from energy_lsp.session.folders import Folder

SOME = 8
"""Few are asked for: putting all in order would take longer."""

Place = tuple[int, int, "CallExpression | None", "ResolvedCall | None"]
"""Start and negative end of a call; what the reader knows of it, unless it is an own step."""
Looks = Mapping["CallExpression", tuple[str, str]]
"""Function and text of calls."""


class Basis(NamedTuple):
    """What figures were looked up for, and where."""

    module_summary: object
    known: object
    reached: Sequence[Found]


class Figures(Sequence["Figure | None"]):
    """A figure for each call, by their order in the text."""

    def __init__(
        self,
        figures: Sequence[Figure | None] = (),
        times: Sequence[int] = (),
        rows: Mapping[int, int] | None = None,
        basis: Basis | None = None,
        looks: Looks | None = None,
        measured: bool = False,
        order: Sequence[int] = (),
        steps: Sequence[OwnStep] = (),
    ) -> None:
        self._figures = figures
        self.times = times
        """How often each runs: in the measured run, else as far as the source tells."""
        self.rows = rows or {}
        """Calls whose figure depends on their line, and that line."""
        self._basis = basis
        self._looks = looks or {}
        self._measured = measured
        """Whether calls of the file were measured: then any edit may change which call is which."""
        self._order = order
        """Where there are own steps: which of the API calls, and behind them of the steps, comes at each place."""
        self._steps = steps

    @classmethod
    def of(
        cls, analysis: Analysis, folder: Folder, path: Path | None, before: Figures | None = None
    ) -> Figures:
        """Look up every call, but for those that an analysis before had already."""
        reached, renewed = analysis.calls.reached, analysis.calls.renewed
        basis = Basis(analysis.module_summary, folder.known, reached)
        sites = folder.sites(path)
        if sites:
            return cls._with_sites(analysis, folder, sites, basis, before)
        if before is None or not before.can_be_renewed(renewed, folder):
            return cls(_in_general(reached, folder), _times(reached), None, basis)
        first, last = renewed.first, renewed.last
        middle = reached[first : len(reached) - len(renewed.before) + last]
        return cls(
            [*before[:first], *_in_general(middle, folder), *before[last:]],
            [*before.times[:first], *_times(middle), *before.times[last:]],
            None,
            basis,
        )

    @classmethod
    def _with_sites(
        cls,
        analysis: Analysis,
        folder: Folder,
        sites: Sequence[MeasuredSite],
        basis: Basis,
        before: Figures | None,
    ) -> Figures:
        reached = basis.reached
        of_apis = [site for site in sites if site.figure.kind == "api"]
        looks, calls = _written(analysis, {site.api for site in of_apis}, before._looks if before else {})
        found = Matching(calls, of_apis)
        figures, times = _in_general(reached, folder), _times(reached)
        for place, figure in found.figures.items():
            figures[place] = figure
            times[place] = figure.times or times[place]
        if len(of_apis) == len(sites):
            return cls(figures, times, found.rows, basis, looks, measured=True)
        from energy_lsp.presentation.own_steps import own_steps

        steps = own_steps(analysis, [site for site in sites if site.figure.kind != "api"])
        figures += [step.figure for step in steps]
        times += [step.figure.times or 1 for step in steps]
        starts = [start for start, *_ in reached] + [step.call.span.start_byte for step in steps]
        order = sorted(range(len(starts)), key=starts.__getitem__)
        figures, times = [figures[number] for number in order], [times[number] for number in order]
        return cls(figures, times, found.rows, basis, looks, True, order, steps)

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

    def hold_for(self, analysis: Analysis, folder: Folder) -> bool:
        """True when the calls are the same, and the same is known of them."""
        basis = self._basis
        if (
            basis is None
            or basis.module_summary is not analysis.module_summary
            or basis.known is not folder.known
        ):
            return False
        if self._steps:
            return False  # they are found by their text, wherever that is now
        reached, lines = analysis.calls.reached, analysis.lines
        return all(lines.point(reached[place][0]).row == row for place, row in self.rows.items())

    def can_be_renewed(self, renewed: Renewed, folder: Folder) -> bool:
        """True when these are the figures of the calls that others were taken over from, wherever they stand."""
        basis = self._basis
        return (
            basis is not None
            and basis.reached is renewed.before
            and basis.known is folder.known
            and not self._measured
        )

    @cached_property
    def _account(self) -> Account:
        return Account.of(zip(self._figures, self.times, strict=True))

    @property
    def account(self) -> Account:
        """The sum over the whole program."""
        return self._account

    def account_of(self, places: range) -> Account:
        """The sum over some calls that follow each other."""
        if len(places) == len(self._figures):
            return self._account
        first, last = places.start, places.stop
        return Account.of(zip(self._figures[first:last], self.times[first:last], strict=True))

    @cached_property
    def _joules(self) -> list[float]:
        """Joules of one run of what the main machine measured; 0 for all else."""
        main = self._account.main
        return [
            (figure.of_run(times) or 0.0)
            if main is not None and figure is not None and counts(figure) and machine_of(figure) == main.key
            else 0.0
            for figure, times in zip(self._figures, self.times, strict=True)
        ]

    def costliest(self) -> Iterator[tuple[float, int]]:
        """Joules of one run, and which call it is, of those above zero, costliest first."""
        if self._account.main is None:
            return
        joules, told, wanted = self._joules, 0, SOME
        while told < len(joules):
            places = nlargest(wanted, range(len(joules)), key=joules.__getitem__)
            for place in places[told:]:
                if joules[place] <= 0:
                    return
                yield joules[place], place
            told, wanted = len(places), len(joules)


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


def _place(step: OwnStep) -> Place:
    return step.call.span.start_byte, -step.call.span.end_byte, None, None


def _in_general(reached: Sequence[Found], folder: Folder) -> list[Figure | None]:
    apis = [site.api for _, _, _, site in reached]
    known = folder.general(apis)
    return [known[api] for api in apis]


def _times(reached: Sequence[Found]) -> list[int]:
    return [site.times for _, _, _, site in reached]


def _written(analysis: Analysis, apis: set[str], before: Looks) -> tuple[Looks, list[WrittenCall]]:
    """The calls of some APIs as they stand in the text; how they look is taken over where the text is the same."""
    from energy_code.analysis.call_text import call_text

    looks: dict[CallExpression, tuple[str, str]] = {}
    calls: list[WrittenCall] = []
    lines, source = analysis.lines, analysis.source
    for place, (start, negative_end, expression, site) in enumerate(analysis.calls.reached):
        if site.api not in apis or site.decorator:
            continue
        look = before.get(expression)
        if look is None:
            look = analysis.calls.function_of(place), call_text(source[start:-negative_end])
        looks[expression] = look
        row, column = lines.point(start)
        characters = len(lines.line(row)[:column].decode("utf-8", "replace"))
        calls.append(WrittenCall(place, site.api, *look, row + 1, characters + 1))
    return looks, calls
