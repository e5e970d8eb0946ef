"""Net energy of a call from samples half a second apart: what stood above idle, and how surely."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

Z95 = 1.96
MOST_BASELINE_SAMPLES = 20
FEWEST_BASELINE_SAMPLES = 5


@dataclass(frozen=True, slots=True)
class Series:
    """Mean power over consecutive stretches of one device's own clock, in seconds and watts.

    Stretch `i` ends at `ends[i]` and begins where the one before it ended; the first begins at `begin`.
    """

    begin: float
    ends: Sequence[float]
    watts: Sequence[float]
    step: float
    """Smallest difference in watts that the meter reports."""
    lag: float = 0.0
    """How long after the fact a reading may still show it."""

    def start_of(self, index: int) -> float:
        """Where a stretch begins."""
        return self.ends[index - 1] if index else self.begin


@dataclass(frozen=True, slots=True)
class Net:
    """Energy above the baseline, its standard error, and the most it can be.

    `most` credits the call with everything that its samples hold above the baseline: a call much shorter than
    a sample cannot be known from what else happened in that half second.
    """

    joules: float
    stderr: float
    most: float
    baseline_watts: float
    baseline_deviation: float


def net_energy(series: Series, start: float, end: float) -> Net | None:
    """Net energy between two moments of the series' clock; None without a baseline or samples within."""
    first = bisect_right(series.ends, start)
    last = bisect_left(series.ends, end)
    baseline = range(max(0, first - MOST_BASELINE_SAMPLES), first)
    if len(baseline) < FEWEST_BASELINE_SAMPLES or last >= len(series.ends):
        return None
    idle = [series.watts[index] for index in baseline]
    level = sum(idle) / len(idle)
    # The variance of Student's t, as it comes from few samples; and a steady reading is still only known to
    # within its last digit.
    variance = sum((watts - level) ** 2 for watts in idle) / (len(idle) - 3) + series.step**2 / 12

    joules = spread = edges = 0.0
    for index in range(first, last + 1):
        begin, length = series.start_of(index), series.ends[index] - series.start_of(index)
        inside = min(end, series.ends[index]) - max(start, begin)
        above = series.watts[index] - level
        joules += above * inside
        spread += variance * inside**2
        # Where in the sample its excess fell is unknown: it was in the window with the chance of the overlap.
        share = inside / length
        edges += share * (1 - share) * (above * length) ** 2
    level_error = variance / len(idle) * (end - start) ** 2
    stderr = math.sqrt(spread + edges + level_error)
    most = _most(series, first, end, level, variance, len(idle))
    return Net(joules, stderr, max(most, joules + Z95 * stderr), level, math.sqrt(variance))


def _most(series: Series, first: int, end: float, level: float, variance: float, idle: int) -> float:
    """Upper 95% bound when everything above the baseline in the touched samples is the call's."""
    last = min(bisect_left(series.ends, end + series.lag), len(series.ends) - 1)
    lengths = [series.ends[index] - series.start_of(index) for index in range(first, last + 1)]
    excess = sum(
        (series.watts[index] - level) * length
        for index, length in zip(range(first, last + 1), lengths, strict=True)
    )
    noise = variance * sum(length**2 for length in lengths) + variance / idle * sum(lengths) ** 2
    return excess + Z95 * math.sqrt(noise)
