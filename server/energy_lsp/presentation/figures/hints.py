"""A hint: one call with what is known of its energy and what would cost less; and the hints of a whole text."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Literal, NamedTuple, overload

from energy_lsp.presentation.figures.account import Account, is_measured
from energy_lsp.presentation.figures.calls import Figures, Place

if TYPE_CHECKING:
    from energy_code.model import Call
    from energy_code.rules import Finding
    from energy_data.model import Figure

LONGEST_CALLEE = 65536
"""How far before a call's name its receiver may begin (in a long chain of calls) for a hover to find it."""

_START = itemgetter(0)


class Hint(NamedTuple):
    """One call with what is known about its energy. A tuple, as thousands are made on each keystroke."""

    call: Call
    figure: Figure | None
    findings: tuple[Finding, ...] = ()

    @property
    def measured(self) -> Figure | None:
        """The figure, if it was measured at this call."""
        return self.figure if self.figure is not None and is_measured(self.figure) else None

    @property
    def has_own_figure(self) -> bool:
        """True where more is known than what other calls of the API took with other inputs."""
        return self.figure is not None and self.figure.origin != "api"

    @property
    def joules_per_call(self) -> float | None:
        """Net joules of one call; None when nothing is known of this very call or the meter could not resolve it."""
        return self.figure.total if self.figure is not None and self.has_own_figure else None

    @property
    def times(self) -> int:
        """How often the call runs in one run."""
        return (self.figure.times if self.figure else None) or self.call.runs.times

    @property
    def times_from(self) -> Literal["measured", "source"]:
        """How that is known: from a run, or from loop constants in the source."""
        return "measured" if self.figure is not None and self.figure.times is not None else "source"

    @property
    def known_joules(self) -> float | None:
        """Joules of all its calls in one run."""
        return self.figure.of_run(self.times) if self.figure is not None and self.has_own_figure else None

    @property
    def estimated(self) -> bool:
        """True when the figure comes from a model rather than a meter."""
        return self.figure is not None and self.figure.estimated


class Joined:
    """All calls of a program with what is known of them. A keystroke looks at a handful out of thousands."""

    def __init__(
        self,
        calls: Sequence[Call] = (),
        reached: Sequence[Place] = (),
        figures: Figures | None = None,
        findings: Sequence[Finding] = (),
    ) -> None:
        self._calls = calls
        self.reached = reached
        self.figures = figures if figures is not None else Figures()
        self._findings: dict[int, list[Finding]] = {}
        for finding in findings:
            if finding.call is not None:
                self._findings.setdefault(finding.call.span.start_byte, []).append(finding)
        self._made: dict[int, Hint] = {}

    def hint(self, place: int) -> Hint:
        """One call with its figure and findings."""
        hint = self._made.get(place)
        if hint is None:
            call = self._calls[place]
            found = self._findings.get(call.span.start_byte, ())
            hits = tuple(one for one in found if one.call == call)
            hint = self._made[place] = Hint(call, self.figures[place], hits)
        return hint


class Hints(Sequence[Hint]):
    """One hint for each call of a program, or of a stretch of it, in the order of the text."""

    def __init__(self, joined: Joined, first: int = 0, last: int | None = None) -> None:
        self._joined = joined
        self._places = range(len(joined.reached))[first:last]

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> Hint: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Hint]: ...
    def __getitem__(self, index: int | slice) -> Hint | Sequence[Hint]:
        if isinstance(index, slice):
            return [self._joined.hint(place) for place in self._places[index]]
        return self._joined.hint(self._places[index])

    def between(self, start: int, end: int) -> Hints:
        """The hints of calls that begin in a stretch of bytes."""
        reached, places = self._joined.reached, self._places
        first = bisect_left(reached, start, places.start, places.stop, key=_START)
        return Hints(self._joined, first, bisect_left(reached, end, first, places.stop, key=_START))

    def under(self, offset: int) -> Hint | None:
        """The hint whose callee lies under a byte; of chained calls the one whose name comes first."""
        reached = self._joined.reached
        near = self.between(offset - LONGEST_CALLEE, offset + 1)._places
        around = [self._joined.hint(place) for place in near if -reached[place][1] >= offset]
        under = [hint for hint in around if hint.call.name.end_byte >= offset]
        return min(under, key=lambda one: (one.call.name.end_byte, -one.call.span.start_byte), default=None)

    def by_joules(self) -> Iterator[tuple[float, Hint]]:
        """What was measured here, costliest first: joules of one run, and the hint."""
        for joules, place in self.figures.costliest():
            if place in self._places:
                yield joules, self._joined.hint(place)

    @property
    def figures(self) -> Figures:
        """What is known of all calls of the program."""
        return self._joined.figures

    def account(self) -> Account:
        """The sum over all of them, without making a single hint."""
        return self.figures.account_of(self._places)


NO_HINTS = Hints(Joined())
