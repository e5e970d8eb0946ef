"""Who was running when: the calls of a program laid against the windows that a meter observed.

Everything is linear in the power of each call, so two operations are enough: `expected` turns powers into the
energy each window should show, `collect` turns densities along the axis back into energy of the calls. The axis
is cut into cells at the ends of all windows: for a counter, cells and windows are the same.
"""

from __future__ import annotations

import numpy as np

from energy_measure.attribution.observations import Observations
from energy_measure.attribution.spans import Floats, Indices, Spans
from energy_measure.attribution.step_edges import StepEdges


class Timeline:
    """Spans against windows.

    Vectors over the spans have one entry more at the end: the program itself in the short gaps between calls.
    """

    def __init__(
        self, spans: Spans, observations: Observations, first: float, last: float, blur: float = 0.0
    ) -> None:
        self.spans = spans
        self.observations = observations
        self.count = len(spans.starts) + 1
        self._cells = _Cells(observations)
        moments = np.concatenate((spans.starts, spans.ends, [first, last]))
        self._step_edges = StepEdges(moments, self._cells.edges, blur, observations.sharp)
        self._order: Indices = np.argsort(moments, kind="stable")
        place = np.empty_like(self._order)
        place[self._order] = np.arange(len(moments))
        count = len(spans.starts)
        self._start_at, self._end_at = place[:count], place[count:-2]
        self._between_moments = np.diff(moments[self._order])
        self._step_buffer = np.zeros(len(moments))
        self._inside = np.flatnonzero(spans.parents >= 0)
        running = self._levels(np.ones(self.count))
        between = np.clip(1.0 - running, 0.0, 1.0)
        between[between < 1e-6] = 0.0
        between[: place[-2]] = 0.0
        between[place[-1] :] = 0.0
        self._between = between
        self._running = np.maximum(running, 1.0)
        self._overlaps = bool(np.any(self._running > 1.0 + 1e-6))
        """Whether calls of several threads ever run at the same time."""
        self._between_cells = self._seconds_between()
        """Seconds of each cell that belong to the program between calls."""
        self.unseen = self._unseen()
        """Seconds of each span that no window looked at."""

    def _seconds_between(self) -> Floats:
        steps = np.empty(len(self._order))
        steps[self._order] = np.diff(self._between, prepend=0.0, append=0.0)
        return self._step_edges.joules(steps)

    def _steps(self, watts: Floats) -> Floats:
        """By how much the power of all innermost calls changes at each moment; valid until asked again."""
        count = self.count - 1
        steps = self._step_buffer
        net = np.multiply(watts[:-1], self.spans.duty, out=steps[:count])
        if len(self._inside):
            net[self._inside] -= watts[self.spans.parents[self._inside]] * self.spans.duty[self._inside]
        np.negative(net, out=steps[count:-2])
        return steps

    def _levels(self, watts: Floats) -> Floats:
        """Power of the innermost calls of all threads from each moment, in order of time, to the next."""
        return np.cumsum(self._steps(watts)[self._order])[:-1]

    def expected(self, watts: Floats) -> Floats:
        """Joules each window should show if every span drew its `watts`."""
        joules = self._step_edges.joules(self._steps(watts))
        if watts[-1] != 0.0:
            joules += watts[-1] * self._between_cells
        return self._cells.per_window(joules)

    def between_seconds(self) -> Floats:
        """Seconds of each window that belong to short gaps."""
        return self._cells.per_window(self._between_cells)

    def density(self, window_watts: Floats) -> Floats:
        """Windows' watts per cell: the mean where several windows overlap, zero where none looks."""
        return self._cells.mean(window_watts)

    def collect(self, density: Floats) -> Floats:
        """Integral of a density over each span, from start to end (calls inside it included)."""
        following = self._step_edges.following(density)
        count = len(self.spans.starts)
        return np.asarray(following[:count] - following[count:-2])

    def _own(self, inclusive: Floats, density: Floats) -> Floats:
        """What each span ran itself, without the calls inside it; and the program between calls."""
        own = self.spans.exclusive(self.spans.duty * inclusive)
        return np.append(own, float(density @ self._between_cells))

    def own_seconds(self) -> Floats:
        """How long each span runs itself."""
        return np.append(self.spans.exclusive(self.spans.busy), float(self._between @ self._between_moments))

    def spread(self, window_watts: Floats) -> Floats:
        """Own joules of each span when the windows' watts are shared equally by those running."""
        density = self.density(window_watts)
        if not self._overlaps:
            return self._own(self.collect(density), density)
        steps = -np.diff(self._step_edges.following(density)[self._order])
        shared = np.concatenate(([0.0], np.cumsum(steps / self._running)))
        return self._own(shared[self._end_at] - shared[self._start_at], density)

    def adjoint(self, window_watts: Floats) -> Floats:
        """The transpose of `expected`: what a step of least squares needs."""
        density = self._cells.total(window_watts)
        return self._own(self.collect(density), density)

    def neighbours(self, watts: Floats) -> tuple[Floats, Floats]:
        """Power of what ran right before each span began and right after it ended."""
        level = np.concatenate(([0.0], self._levels(watts) + watts[-1] * self._between, [0.0]))
        return level[self._start_at], level[self._end_at + 1]

    def _unseen(self) -> Floats:
        spans, edges = self.spans, self._cells.edges
        inside = np.clip(spans.ends, edges[0], edges[-1]) - np.clip(spans.starts, edges[0], edges[-1])
        unseen = spans.lengths - inside
        if not self.observations.contiguous:
            unseen += self.collect((self._cells.covering < 0.5).astype(np.float64))
        return np.asarray(unseen)

    def seen_fraction(self) -> Floats:
        """Part of each span that some window looked at."""
        lengths = np.maximum(self.spans.lengths, 1e-12)
        return np.asarray(np.clip(1.0 - self.unseen / lengths, 0.0, 1.0))

    def shared_fraction(self) -> Floats:
        """Part of each span during which calls of other threads ran too."""
        lengths = self.spans.lengths
        if not self._overlaps:
            return np.zeros_like(lengths)
        crowded = np.where(self._running > 1.5, self._between_moments, 0.0)
        until = np.concatenate(([0.0], np.cumsum(crowded)))
        together: Floats = until[self._end_at] - until[self._start_at]
        return np.divide(together, lengths, out=np.zeros_like(together), where=lengths > 0)


class _Cells:
    """The time axis cut at both ends of every window."""

    def __init__(self, observations: Observations) -> None:
        self._contiguous = observations.contiguous
        if self._contiguous:
            self.edges: Floats = np.concatenate((observations.starts[:1], observations.ends))
            self.covering: Floats = np.ones(len(observations))
            return
        self.edges = np.unique(np.concatenate((observations.starts, observations.ends)))
        self._first = np.searchsorted(self.edges, observations.starts)
        self._after = np.searchsorted(self.edges, observations.ends)
        self.covering = self.total(np.ones(len(observations)))

    def per_window(self, per_cell: Floats) -> Floats:
        """Sum over the cells of each window."""
        if self._contiguous:
            return per_cell
        until = np.concatenate(([0.0], np.cumsum(per_cell)))
        return np.asarray(until[self._after] - until[self._first])

    def total(self, per_window: Floats) -> Floats:
        """For each cell the sum over the windows that hold it."""
        if self._contiguous:
            return per_window
        count = len(self.edges)
        steps = np.bincount(self._first, weights=per_window, minlength=count)
        steps -= np.bincount(self._after, weights=per_window, minlength=count)
        return np.asarray(np.cumsum(steps)[:-1], dtype=np.float64)

    def mean(self, per_window: Floats) -> Floats:
        """For each cell the mean over the windows that hold it, zero where none does."""
        total = self.total(per_window)
        if self._contiguous:
            return total
        return np.divide(total, self.covering, out=np.zeros_like(total), where=self.covering > 0.5)
