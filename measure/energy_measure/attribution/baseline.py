"""What the machine draws while it rests: level, drift and noise of the idle power, and whether it is
steady."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from energy_measure.attribution.observations import Observations, TooFewReadingsError, observe
from energy_measure.sampling.trace import SampledTrace
from energy_measure.statistics import NORMAL_95, student_95

Floats = npt.NDArray[np.float64]

LADDER = 12
"""Lengths of window at which the idle noise is looked at."""
SHORT_PIECE = 8
"""An idle window with fewer observations is looked at together with the others."""
DRIFTED = 3.5
"""Levels that are so many standard errors off are no longer one level."""
PRIOR_WINDOWS = 40.0
"""How many windows of one length it takes to weigh as much as what all lengths say together."""


@dataclass(frozen=True, slots=True)
class IdleWindow:
    """A stretch of time in which the measured program rested."""

    start_ns: int
    end_ns: int


@dataclass(frozen=True, slots=True, eq=False)
class Baseline:
    """Idle power of one device along a run: straight lines between the idle windows, level before and after
    them."""

    origin_ns: int
    times: Floats
    """Middles of the idle windows, in seconds from `origin_ns`."""
    watts: Floats
    stderr: Floats
    """Standard error of each level, in watts."""
    noise_seconds: Floats
    noise_joules: Floats
    """Standard deviation of the background's energy over windows of `noise_seconds`, beyond what the meter
    adds."""
    overlap: float = 1.0
    """Seconds observed per second that passed: see `Observations.overlap`."""

    def power(self, seconds: Floats) -> Floats:
        """Idle watts at moments on the axis of `origin_ns`."""
        return np.interp(seconds, self.times, self.watts)

    def uncertainty(self, seconds: Floats) -> Floats:
        """Standard error of the idle watts at these moments: between two levels both have their part."""
        if len(self.times) == 1:
            return np.full_like(seconds, self.stderr[0])
        right = np.clip(np.searchsorted(self.times, seconds), 1, len(self.times) - 1)
        before, after = self.times[right - 1], self.times[right]
        share = np.clip((seconds - before) / (after - before), 0.0, 1.0)
        return np.hypot((1.0 - share) * self.stderr[right - 1], share * self.stderr[right])

    def energy(self, starts: Floats, ends: Floats) -> Floats:
        """Idle joules between moments."""
        knots = self.times
        steps = np.diff(knots) * (self.watts[1:] + self.watts[:-1]) / 2.0
        total = np.concatenate(([0.0], np.cumsum(steps)))

        def until(moment: Floats) -> Floats:
            after = np.searchsorted(knots, moment, side="right") - 1
            held = np.clip(after, 0, len(knots) - 1)
            mean = (self.watts[held] + np.interp(moment, knots, self.watts)) / 2.0
            return total[held] + mean * (moment - knots[held])

        return until(ends) - until(starts)

    def noise(self, lengths: Floats) -> Floats:
        """Standard deviation of the background's energy over windows of these lengths, in joules.

        Below the shortest and beyond the longest length that was seen it grows like a random walk of energy.
        """
        if len(self.noise_seconds) == 0:
            return np.zeros_like(lengths)
        return self._observed_noise(lengths * self.overlap) / self.overlap

    def _observed_noise(self, lengths: Floats) -> Floats:
        seen = np.interp(lengths, self.noise_seconds, self.noise_joules)
        for end, beyond in ((0, lengths < self.noise_seconds[0]), (-1, lengths > self.noise_seconds[-1])):
            walk = self.noise_joules[end] * np.sqrt(lengths / self.noise_seconds[end])
            seen = np.where(beyond, walk, seen)
        return seen

    def flattened(self) -> Baseline:
        """One level for the whole run, unless the levels differ by more than their errors."""
        weights = 1.0 / np.maximum(self.stderr, 1e-12) ** 2
        mean = float(np.average(self.watts, weights=weights))
        if np.any(np.abs(self.watts - mean) > DRIFTED * self.stderr):
            return self
        stderr = float(np.sqrt(1.0 / np.sum(weights)))
        return replace(
            self, times=np.mean(self.times, keepdims=True), watts=np.array([mean]), stderr=np.array([stderr])
        )

    @property
    def level(self) -> float:
        """Mean idle power, in watts."""
        return float(np.mean(self.watts)) if len(self.watts) else 0.0


def no_baseline(origin_ns: int) -> Baseline:
    """A baseline of zero, for meters that count the program alone (the estimate from CPU time)."""
    none = np.zeros(1)
    return Baseline(origin_ns, none, none, none, np.zeros(0), np.zeros(0))


def fit_baseline(trace: SampledTrace, idle: Sequence[IdleWindow]) -> Baseline:
    """Level and noise of the idle power from the stretches in which the program rested."""
    return baseline_of(observe(trace), idle)


def baseline_of(observations: Observations, idle: Sequence[IdleWindow]) -> Baseline:
    """The same from observations that are at hand."""
    origin = observations.origin_ns
    pieces = [piece for window in idle if (piece := _piece(observations, window)) is not None]
    if not pieces:
        raise TooFewReadingsError("no idle window holds a reading of the meter: rest longer before the run")
    times = np.array([(piece.starts[0] + piece.ends[-1]) / 2.0 for piece in pieces])
    lengths = np.array([np.sum(piece.ends - piece.starts) for piece in pieces])
    watts = np.array([np.sum(piece.joules) for piece in pieces]) / lengths
    order = np.argsort(times)
    times, watts, lengths = times[order], watts[order], lengths[order]
    noise_seconds, noise_joules, meter = _noise(pieces, float(np.average(watts, weights=lengths)))
    draft = Baseline(origin, times, watts, np.zeros_like(watts), noise_seconds, noise_joules)
    own = np.hypot(draft.noise(lengths), meter) / lengths
    drift = _with_drift(watts, own)
    return Baseline(origin, times, watts, drift, noise_seconds, noise_joules, observations.overlap)


def _with_drift(watts: Floats, own: Floats) -> Floats:
    """Levels that differ by more than their noise leave it open where in between the change took place."""
    if len(watts) < 2:
        return own
    step, noise = np.diff(watts) ** 2, own[1:] ** 2 + own[:-1] ** 2
    excess = np.where(step > 4.0 * noise, step, 0.0) / 12.0
    left = np.concatenate(([excess[0]], excess))
    right = np.concatenate((excess, [excess[-1]]))
    with_drift: Floats = np.sqrt(own**2 + np.maximum(left, right))
    return with_drift


def _piece(observations: Observations, window: IdleWindow) -> Observations | None:
    """The observations that lie wholly inside an idle window."""
    start = (window.start_ns - observations.origin_ns) * 1e-9
    end = (window.end_ns - observations.origin_ns) * 1e-9
    inside = np.flatnonzero((observations.starts >= start) & (observations.ends <= end))
    if len(inside) == 0:
        return None
    held = slice(int(inside[0]), int(inside[-1]) + 1)
    return replace(
        observations,
        starts=observations.starts[held],
        ends=observations.ends[held],
        joules=observations.joules[held],
        placement=observations.placement[held],
    )


def _noise(pieces: Sequence[Observations], level: float) -> tuple[Floats, Floats, float]:
    """Idle energy's scatter by window length, freed of the meter's own; and the meter's own, in joules.

    The meter's misplacement of a reading gives to one window what it takes from the next, so neighbouring
    windows tell it apart from the background. Each length alone has too few windows for a sound variance,
    so each is drawn towards what all lengths say together.
    """
    if max(len(piece) for piece in pieces) < SHORT_PIECE:
        pieces = [_joined(pieces)]
    rows = max(len(piece) for piece in pieces)
    sizes = np.unique(np.geomspace(1, max(rows // 4, 1), LADDER).astype(np.int64))
    own = _meter_variance(pieces, level)
    ladder = []
    for size in sizes:
        parts = [part for piece in pieces if (part := _scatter(piece, int(size)))]
        scatter = [energy for part in parts for energy in part]
        if len(scatter) >= 4:
            free = len(scatter) - len(parts)
            length = float(np.mean([length for length, _ in scatter]))
            ladder.append((length, sum(energy**2 for _, energy in scatter) / free, free))
    if not ladder:
        return np.zeros(0), np.zeros(0), float(np.sqrt(own))
    seconds, variance, freedom = (np.array(column, dtype=np.float64) for column in zip(*ladder, strict=True))
    walks = (variance - own) / seconds
    together = float(np.average(walks, weights=freedom * (seconds / np.maximum(variance, 1e-30)) ** 2))
    walks = (freedom * walks + PRIOR_WINDOWS * together) / (freedom + PRIOR_WINDOWS)
    # Intervals reach as far as the normal distribution says: noise known from few windows has to count for more.
    walks *= (student_95(float(np.max(freedom))) / NORMAL_95) ** 2
    return seconds, np.sqrt(np.maximum(walks, 0.0) * seconds), float(np.sqrt(own))


def _joined(pieces: Sequence[Observations]) -> Observations:
    """Idle windows too short to show noise by themselves, as one."""
    return replace(
        pieces[0],
        starts=np.concatenate([piece.starts for piece in pieces]),
        ends=np.concatenate([piece.ends for piece in pieces]),
        joules=np.concatenate([piece.joules for piece in pieces]),
        placement=np.concatenate([piece.placement for piece in pieces]),
    )


def _meter_variance(pieces: Sequence[Observations], level: float) -> float:
    """What the meter itself adds to the energy of any window, in square joules; rather too little than too
    much."""
    placement = float(np.mean(np.concatenate([piece.placement for piece in pieces])))
    apart = max(placement**2 - pieces[0].shift ** 2, 0.0)
    at_most = 2.0 * apart * level**2 + pieces[0].reading_noise ** 2
    excess = [piece.joules - level * (piece.ends - piece.starts) for piece in pieces]
    pairs = sum(len(part) - 1 for part in excess)
    if pairs < 4 or not pieces[0].contiguous:
        return 0.0
    together = sum(float(part[1:] @ part[:-1]) for part in excess) / pairs
    variance = float(np.mean(np.concatenate(excess) ** 2))
    return float(np.clip(-2.0 * (together + variance / np.sqrt(pairs)), 0.0, at_most))


def _scatter(piece: Observations, size: int) -> list[tuple[float, float]]:
    """Length and energy above the piece's mean of the non-overlapping runs of `size` windows in a piece."""
    runs = len(piece) // size
    if runs < 2:
        return []
    watts = np.sum(piece.joules) / np.sum(piece.ends - piece.starts)
    first = np.arange(runs) * size
    energy = np.add.reduceat(piece.joules, first) if runs * size == len(piece) else None
    if energy is None:
        energy = np.add.reduceat(piece.joules[: runs * size], first)
    lengths = np.add.reduceat((piece.ends - piece.starts)[: runs * size], first)
    return list(zip(lengths.tolist(), (energy - watts * lengths).tolist(), strict=True))
