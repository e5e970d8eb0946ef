"""What the machine draws while it rests: level, drift and noise of the idle power, and whether it is steady."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from energy_measure.observations import Observations, TooFewReadings, observe
from energy_measure.traces import SampledTrace

Floats = npt.NDArray[np.float64]

LADDER = 12
"""Lengths of window at which the idle noise is looked at."""


@dataclass(frozen=True, slots=True)
class IdleWindow:
    """A stretch of time in which the measured program rested."""

    start_ns: int
    end_ns: int


@dataclass(frozen=True, slots=True, eq=False)
class Baseline:
    """Idle power of one device along a run: straight lines between the idle windows, level before and after them."""

    origin_ns: int
    times: Floats
    """Middles of the idle windows, in seconds from `origin_ns`."""
    watts: Floats
    stderr: Floats
    """Standard error of each level, in watts."""
    noise_seconds: Floats
    noise_joules: Floats
    """Standard deviation of the background's energy over windows of `noise_seconds`, beyond what the meter adds."""

    def power(self, seconds: Floats) -> Floats:
        """Idle watts at moments on the axis of `origin_ns`."""
        return np.interp(seconds, self.times, self.watts)

    def uncertainty(self, seconds: Floats) -> Floats:
        """Standard error of the idle watts at these moments."""
        return np.interp(seconds, self.times, self.stderr)

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

        Beyond the longest length that was seen the noise grows like a random walk of energy.
        """
        if len(self.noise_seconds) == 0:
            return np.zeros_like(lengths)
        seen = np.interp(lengths, self.noise_seconds, self.noise_joules)
        short = self.noise_seconds[0]
        seen = np.where(lengths < short, self.noise_joules[0] * lengths / short, seen)
        far = self.noise_seconds[-1]
        return np.where(lengths > far, self.noise_joules[-1] * np.sqrt(lengths / far), seen)

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
        raise TooFewReadings("no idle window holds a reading of the meter: rest longer before the run")
    times = np.array([(piece.starts[0] + piece.ends[-1]) / 2.0 for piece in pieces])
    lengths = np.array([np.sum(piece.ends - piece.starts) for piece in pieces])
    watts = np.array([np.sum(piece.joules) for piece in pieces]) / lengths
    order = np.argsort(times)
    times, watts, lengths = times[order], watts[order], lengths[order]
    noise_seconds, noise_joules, meter = _noise(pieces, float(np.average(watts, weights=lengths)))
    draft = Baseline(origin, times, watts, np.zeros_like(watts), noise_seconds, noise_joules)
    own = np.hypot(draft.noise(lengths), meter) / lengths
    return Baseline(origin, times, watts, _with_drift(watts, own), noise_seconds, noise_joules)


def _with_drift(watts: Floats, own: Floats) -> Floats:
    """Levels that differ by more than their noise leave it open where in between the change took place."""
    if len(watts) < 2:
        return own
    excess = np.maximum(np.diff(watts) ** 2 - own[1:] ** 2 - own[:-1] ** 2, 0.0) / 12.0
    left = np.concatenate(([excess[0]], excess))
    right = np.concatenate((excess, [excess[-1]]))
    return np.sqrt(own**2 + np.maximum(left, right))


def _piece(observations: Observations, window: IdleWindow) -> Observations | None:
    """The observations that lie wholly inside an idle window."""
    start = (window.start_ns - observations.origin_ns) * 1e-9
    end = (window.end_ns - observations.origin_ns) * 1e-9
    inside = np.flatnonzero((observations.starts >= start) & (observations.ends <= end))
    if len(inside) == 0:
        return None
    held = slice(int(inside[0]), int(inside[-1]) + 1)
    return Observations(
        observations.origin_ns,
        observations.starts[held],
        observations.ends[held],
        observations.joules[held],
        observations.placement[held],
        observations.reading_noise,
        observations.overlap,
    )


def _noise(pieces: Sequence[Observations], level: float) -> tuple[Floats, Floats, float]:
    """Idle energy's scatter by window length, freed of the meter's own; and the meter's own, in joules."""
    rows = max(len(piece) for piece in pieces)
    sizes = np.unique(np.geomspace(1, max(rows // 4, 1), LADDER).astype(np.int64))
    placement = float(np.mean(np.concatenate([piece.placement for piece in pieces])))
    meter = np.sqrt(2.0 * (placement * level) ** 2 + pieces[0].reading_noise ** 2)
    seconds, joules = [], []
    for size in sizes:
        scatter = [part for piece in pieces for part in _scatter(piece, int(size))]
        if len(scatter) < 4:
            continue
        lengths = np.array([length for length, _ in scatter])
        excess = np.array([energy for _, energy in scatter])
        seconds.append(float(np.mean(lengths)))
        joules.append(float(np.sqrt(max(np.var(excess, ddof=1) - meter**2, 0.0))))
    return np.array(seconds), np.maximum.accumulate(np.array(joules)) if joules else np.zeros(0), float(meter)


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
