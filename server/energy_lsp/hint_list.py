"""The hints of a text: figures are looked up for all its calls, the rest is joined when somebody looks."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, overload

from energy_lsp.costs import Costs
from energy_lsp.hints import Hint, Total

if TYPE_CHECKING:
    from energy_code.call_list import Found
    from energy_code.calls import Call
    from energy_code.rules import Finding

LONGEST_CALLEE = 65536
"""How far before a call's name its receiver may begin (in a long chain of calls) for a hover to find it."""

_START = itemgetter(0)


class Joined:
    """All calls of a program with what is known of them. A keystroke looks at a handful out of thousands."""

    def __init__(
        self,
        calls: Sequence[Call] = (),
        reached: Sequence[Found] = (),
        costs: Costs | None = None,
        findings: Sequence[Finding] = (),
    ) -> None:
        self._calls = calls
        self.reached = reached
        self.costs = costs or Costs()
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
            hint = self._made[place] = Hint(call, self.costs.figures[place], hits)
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
        """The calls with a figure above zero, hungriest first: joules per call times runs, and the hint."""
        for joules, place in self.costs.hungriest():
            if place in self._places:
                yield joules, self._joined.hint(place)

    @property
    def costs(self) -> Costs:
        """What all calls of the program cost."""
        return self._joined.costs

    @property
    def total(self) -> Total:
        """The sum over all of them, without making a single hint."""
        return self.costs.total_of(self._places)


NO_HINTS = Hints(Joined())
