"""Calls and the long gaps between them as stretches of time on the axis of a meter's observations."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from energy_measure.attribution.events import Events

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


def sums(groups: Indices, values: Floats, count: int) -> Floats:
    """Sum of the values of each group."""
    return np.asarray(np.bincount(groups, weights=values, minlength=count), dtype=np.float64)


def distinct(numbers: Indices) -> tuple[Indices, Indices]:
    """The different numbers, none below zero and none very large, and for each entry which of them it is."""
    present = np.bincount(numbers) > 0
    return np.flatnonzero(present), (np.cumsum(present) - 1)[numbers]


@dataclass(eq=False)
class Spans:
    """Calls and the long gaps between them, in seconds on the axis of the observations."""

    starts: Floats
    ends: Floats
    duty: Floats
    """Part of the span in which the call really ran: below 1 where neighbouring calls were merged."""
    parents: Indices
    calls: int
    """The first so many are calls; the rest are gaps in which no call ran."""

    lengths: Floats = field(init=False)
    """Seconds from start to end."""
    busy: Floats = field(init=False)
    """Seconds inside the call."""
    nested: bool = field(init=False)
    """Whether any span lies inside another."""

    def __post_init__(self) -> None:
        self.lengths = self.ends - self.starts
        self.busy = self.duty * self.lengths
        self.nested = bool(np.any(self.parents >= 0))

    def exclusive(self, inclusive: Floats) -> Floats:
        """Take from each span what the spans directly inside it hold."""
        if not self.nested:
            return inclusive
        return inclusive - self.sum_of_children(inclusive)

    def sum_of_children(self, values: Floats) -> Floats:
        """For each span the sum over the spans directly inside it."""
        inside = np.flatnonzero(self.parents >= 0)
        return sums(self.parents[inside], values[inside], len(values))

    def inclusive(self, exclusive: Floats) -> Floats:
        """Add to each span what the spans inside it hold, at any depth."""
        if not self.nested:
            return exclusive
        total: Floats = exclusive.copy()
        for level in reversed(self._levels()):
            total = total + sums(self.parents[level], total[level], len(total))
        return total

    def _levels(self) -> list[Indices]:
        """Spans with a parent, by depth; the deepest last."""
        depth = np.zeros(len(self.parents), dtype=np.int64)
        spans = np.flatnonzero(self.parents >= 0)
        ancestors = self.parents[spans]
        while len(spans):
            depth[spans] += 1
            above = self.parents[ancestors]
            spans, ancestors = spans[above >= 0], above[above >= 0]
        deepest = int(depth.max(initial=0))
        if deepest == 0:
            return []
        order = np.argsort(depth, kind="stable")
        firsts = np.searchsorted(depth[order], np.arange(1, deepest + 2))
        return [order[firsts[level] : firsts[level + 1]] for level in range(deepest)]


def spans_of(events: Events, origin_ns: int, first: float, last: float, long_gap: float) -> Spans:
    """Calls as spans, plus one span for every gap between `first` and `last` of at least `long_gap`
    seconds."""
    starts = (events.start - origin_ns) * 1e-9
    ends = np.maximum((events.end - origin_ns) * 1e-9, starts)
    lengths = events.end - events.start
    duty = np.divide(events.busy, lengths, out=np.ones(len(starts)), where=lengths > 0)
    parents = _true_parents(events)
    order = np.argsort(starts, kind="stable")
    covered_until = np.maximum.accumulate(np.concatenate(([first], ends[order])))
    next_start = np.concatenate((starts[order], [last]))
    gap = np.flatnonzero(next_start - covered_until > max(long_gap, 0.0))
    gaps = len(gap)
    return Spans(
        np.concatenate((starts, covered_until[gap])),
        np.concatenate((ends, next_start[gap])),
        np.concatenate((np.minimum(duty, 1.0), np.ones(gaps))),
        np.concatenate((parents, np.full(gaps, -1, dtype=np.int64))),
        len(starts),
    )


def _true_parents(events: Events) -> Indices:
    """Parents that really hold their child: same thread, and running for the whole of it."""
    parents = events.parent
    if len(parents) == 0:
        return parents
    rows = np.arange(len(parents))
    above = np.where(parents >= 0, parents, rows)
    held = (events.thread[above] == events.thread) & (events.start[above] <= events.start)
    held &= events.end[above] >= events.end
    # Of two equal spans the earlier row holds the later one, so that no circle can arise.
    held &= (events.end[above] - events.start[above] > events.end - events.start) | (above < rows)
    return np.where(held, above, -1)
