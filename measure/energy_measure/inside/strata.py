"""Times of a call that are alike: shares seen in some of them stand for those that were not looked at.

Executions of one function are alike, its first one apart. So is what lies between executions of the same two functions;
but before a function's first execution its graph is built, which nothing else is like.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from energy_measure.inside.splitting import joined

Integers = npt.NDArray[np.int64]

MOST_KINDS = 64
"""Of gaps: a program with more has its rarer ones as one kind."""


@dataclass(frozen=True, slots=True, eq=False)
class Stratum:
    """Some times of a call; `function`: what executed in them, -1 between executions."""

    function: int
    rows: Integers
    """Function, start, end, thread, how many."""

    @property
    def intervals(self) -> tuple[Integers, Integers]:
        """Their starts and ends, in order."""
        return joined(self.rows[:, 1:3])

    def seen(self, sessions: tuple[Integers, Integers]) -> Integers:
        """The rows that lie wholly in some intervals."""
        if not len(sessions[0]):
            return self.rows[:0]
        at = np.searchsorted(sessions[0], self.rows[:, 1], "right") - 1
        inside = (at >= 0) & (self.rows[:, 2] <= sessions[1][np.maximum(at, 0)])
        return np.asarray(self.rows[inside])

    def ratio(self, sessions: tuple[Integers, Integers], otherwise: float) -> float:
        """How many executions there were for each that was looked at."""
        seen = int(self.seen(sessions)[:, 4].sum())
        return int(self.rows[:, 4].sum()) / seen if seen else otherwise


def strata(steps: Integers, starts: Integers, ends: Integers, first: dict[int, int]) -> list[Stratum]:
    """The strata of a call that runs in some intervals and has some steps; `first`: when each function first began."""
    found = []
    for function in np.unique(steps[:, 0]).tolist():
        own = steps[steps[:, 0] == function]
        at_first = own[:, 1] == first[function]
        found += [Stratum(function, some) for some in (own[at_first], own[~at_first]) if len(some)]
    return found + _gaps(steps, starts, ends, first)


def _gaps(steps: Integers, starts: Integers, ends: Integers, first: dict[int, int]) -> list[Stratum]:
    """What lies before, between and after steps, by the functions on both sides."""
    kinds: dict[tuple[int, int, bool], list[tuple[int, int]]] = {}
    ordered = steps[np.argsort(steps[:, 1], kind="stable")]
    bounds = np.searchsorted(ordered[:, 1], starts), np.searchsorted(ordered[:, 1], ends)
    for start, end, low, high in zip(
        starts.tolist(), ends.tolist(), bounds[0].tolist(), bounds[1].tolist(), strict=True
    ):
        before, reached = -1, start
        for function, began, ended in ordered[low:high, :3].tolist():
            if began > reached:
                kind = before, function, began == first[function]
                kinds.setdefault(kind, []).append((reached, began))
            before, reached = function, max(reached, ended)
        if end > reached:
            kinds.setdefault((before, -1, False), []).append((reached, end))
    ranked = sorted(kinds.values(), key=len, reverse=True)
    rest = [gap for gaps in ranked[MOST_KINDS:] for gap in gaps]
    return [_between(gaps) for gaps in [*ranked[:MOST_KINDS], rest] if gaps]


def _between(gaps: list[tuple[int, int]]) -> Stratum:
    rows = np.full((len(gaps), 5), -1, np.int64)
    rows[:, 1:3] = gaps
    rows[:, 4] = 1
    return Stratum(-1, rows)
