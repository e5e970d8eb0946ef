"""Who was running when: the calls of a program laid against the windows that a meter observed.

Everything is linear in the power of each call, so two sweeps over one merged time axis are enough:
`expected` turns powers into the energy each window should show, `collect` turns densities along the axis
back into energy of the calls. Both are cumulative sums; neither ever lists pairs of calls and windows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from energy_measure.events import Events
from energy_measure.observations import Observations

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


def sums(groups: Indices, values: Floats, count: int) -> Floats:
    """Sum of the values of each group."""
    return np.asarray(np.bincount(groups, weights=values, minlength=count), dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Spans:
    """Calls and the long gaps between them, in seconds on the axis of the observations."""

    starts: Floats
    ends: Floats
    duty: Floats
    """Part of the span in which the call really ran: below 1 where neighbouring calls were merged."""
    parents: Indices
    calls: int
    """The first so many are calls; the rest are gaps in which no call ran."""

    @property
    def lengths(self) -> Floats:
        """Seconds from start to end."""
        return self.ends - self.starts

    @property
    def busy(self) -> Floats:
        """Seconds inside the call."""
        return self.duty * (self.ends - self.starts)

    def exclusive(self, inclusive: Floats) -> Floats:
        """Take from each span what the spans directly inside it hold."""
        inside = self.parents >= 0
        if not inside.any():
            return inclusive
        return inclusive - self.sum_of_children(inclusive)

    def sum_of_children(self, values: Floats) -> Floats:
        """For each span the sum over the spans directly inside it."""
        inside = np.flatnonzero(self.parents >= 0)
        return sums(self.parents[inside], values[inside], len(values))

    def inclusive(self, exclusive: Floats) -> Floats:
        """Add to each span what the spans inside it hold, at any depth."""
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


class Timeline:
    """Spans and windows on one merged time axis.

    Vectors over the spans have one entry more at the end: the program itself in the short gaps between calls.

    The windows' true places scatter about where they are put, so on average they see a span begin and end
    not in a step but in a ramp of `blur` seconds; expecting steps would take from short spans what leaks
    into their neighbours' windows.
    """

    def __init__(
        self, spans: Spans, observations: Observations, first: float, last: float, blur: float = 0.0
    ) -> None:
        self.spans = spans
        self.observations = observations
        self.blur = blur
        count = len(spans.starts)
        self.count = count + 1
        half = blur / 2.0
        ramps = (
            [spans.starts - half, spans.ends + half, spans.starts + half, spans.ends - half]
            if blur
            else [spans.starts, spans.ends]
        )
        times = np.concatenate((*ramps, _window_edges(observations), [first, last]))
        self._order = np.argsort(times, kind="stable")
        place = np.empty(len(times), dtype=np.int64)
        place[self._order] = np.arange(len(times))
        self._start_at, self._end_at = place[:count], place[count : 2 * count]
        if blur:
            self._start_until, self._end_from = place[2 * count : 3 * count], place[3 * count : 4 * count]
        self._window_start, self._window_end = _windows(place[len(ramps) * count : -2], observations)
        self._dt = np.diff(times[self._order])
        self._steps = np.zeros(len(times))
        self._running_total = np.zeros(len(times))
        self._inside = np.flatnonzero(spans.parents >= 0)
        self._covering = self._on_segments(np.ones(len(observations))).copy()
        running = self._levels(np.ones(self.count)).copy()
        self._between = np.clip(1.0 - running, 0.0, 1.0)
        self._between[self._between < 1e-6] = 0.0
        self._between[: place[-2]] = 0.0
        self._between[place[-1] :] = 0.0
        self._running = np.maximum(running, 1.0)

    def _levels(self, watts: Floats) -> Floats:
        """Sum of the powers of the innermost calls of all threads, per segment; valid until the next
        sweep."""
        spans = self.spans
        net = watts[:-1].copy()
        net[self._inside] -= watts[spans.parents[self._inside]]
        net *= spans.duty
        count = len(net)
        steps = np.zeros(len(self._order))
        if self.blur:
            net /= self.blur
            steps[: 2 * count] = np.concatenate((net, net))
            np.negative(steps[: 2 * count], out=steps[2 * count : 4 * count])
        else:
            steps[:count] = net
            np.negative(net, out=steps[count : 2 * count])
        np.take(steps, self._order, out=self._steps)
        level = np.cumsum(self._steps, out=self._steps)[:-1]
        if not self.blur:
            return level
        # So far these are slopes. Within a segment the level is a straight line: its middle is its mean.
        at_points = np.concatenate(([0.0], np.cumsum(level * self._dt)))
        return np.asarray((at_points[:-1] + at_points[1:]) / 2.0)

    def _integral(self, density: Floats) -> Floats:
        """Integral from the start of the axis up to each of its points; valid until the next one."""
        total = self._running_total
        np.multiply(density, self._dt, out=total[1:])
        np.cumsum(total[1:], out=total[1:])
        return total

    def _on_segments(self, per_window: Floats) -> Floats:
        """Sum of the windows' values over the windows that hold each segment; valid until the next sweep."""
        step = self._steps
        step[:] = 0.0
        if self.observations.contiguous:
            step[self._window_start] = np.diff(per_window, prepend=0.0)
            step[self._window_end[-1]] = -per_window[-1]
        else:
            np.add.at(step, self._window_start, per_window)
            np.subtract.at(step, self._window_end, per_window)
        return np.cumsum(step, out=step)[:-1]

    def _per_window(self, density: Floats) -> Floats:
        total = self._integral(density)
        return total[self._window_end] - total[self._window_start]

    def expected(self, watts: Floats) -> Floats:
        """Joules each window should show if every span drew its `watts`."""
        level = self._levels(watts)
        if watts[-1] != 0.0:
            level += watts[-1] * self._between
        return self._per_window(level)

    def between_seconds(self) -> Floats:
        """Seconds of each window that belong to short gaps."""
        return self._per_window(self._between)

    def density(self, window_watts: Floats) -> Floats:
        """Windows' watts per segment: the mean where several windows overlap, zero where none looks."""
        summed = self._on_segments(window_watts)
        if not self.observations.contiguous:
            np.divide(summed, self._covering, out=summed, where=self._covering > 0.5)
            summed[self._covering < 0.5] = 0.0
        return summed

    def collect(self, density: Floats) -> Floats:
        """Integral of a density over each span, from start to end (calls inside it included)."""
        total = self._integral(density)
        if not self.blur:
            return total[self._end_at] - total[self._start_at]
        twice = np.concatenate(([0.0], np.cumsum((total[:-1] + total[1:]) * self._dt / 2.0)))
        until_end = twice[self._end_at] - twice[self._end_from]
        until_start = twice[self._start_until] - twice[self._start_at]
        return np.asarray((until_end - until_start) / self.blur)

    def _own(self, density: Floats) -> Floats:
        """Integral of a density over the time each span runs itself, without the calls inside it."""
        own = self.spans.exclusive(self.spans.duty * self.collect(density))
        between = float((density * self._between) @ self._dt)
        return np.append(own, between)

    def own_seconds(self) -> Floats:
        """How long each span runs itself."""
        return np.append(self.spans.exclusive(self.spans.busy), float(self._between @ self._dt))

    def spread(self, window_watts: Floats) -> Floats:
        """Own joules of each span when the windows' watts are shared equally by those running."""
        density = self.density(window_watts)
        density /= self._running
        return self._own(density)

    def adjoint(self, window_watts: Floats) -> Floats:
        """The transpose of `expected`: what a step of least squares needs."""
        return self._own(self._on_segments(window_watts))

    def neighbours(self, watts: Floats) -> tuple[Floats, Floats]:
        """Power of what ran right before each span began and right after it ended."""
        level = np.concatenate(([0.0], self._levels(watts) + watts[-1] * self._between, [0.0]))
        return level[self._start_at], level[self._end_at + 1]

    def unseen(self) -> Floats:
        """Seconds of each span that no window looked at."""
        return self.collect((self._covering < 0.5).astype(np.float64))

    def shared_fraction(self) -> Floats:
        """Part of each span during which calls of other threads ran too."""
        lengths = self.spans.lengths
        together = self.collect((self._running > 1.5).astype(np.float64))
        return np.divide(together, lengths, out=np.zeros_like(together), where=lengths > 0)


def _window_edges(observations: Observations) -> Floats:
    if observations.contiguous:
        return np.concatenate((observations.starts[:1], observations.ends))
    return np.concatenate((observations.starts, observations.ends))


def _windows(edge_at: Indices, observations: Observations) -> tuple[Indices, Indices]:
    if observations.contiguous:
        return edge_at[:-1], edge_at[1:]
    return edge_at[: len(observations)], edge_at[len(observations) :]
