"""Statistics of repeats and comparisons: intervals that cover what they say, tests that account for many.

SciPy takes more than a second to load, so it is loaded where a figure needs it: at the end of a measurement.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

RESAMPLES = 10_000
SMALL = 10
"""Below so many values a bootstrap interval is too narrow: Student's t is used."""
FEWEST_RANKS = 6
"""Fewer values cannot hold the median between their lowest and highest in 95% of cases."""
SEEN_ENOUGH = 0.25
"""Of the part that the meter looked at less than this says nothing of the rest."""
EXACT_ROUNDS = 9
"""Up to 3⁹ ways in which rounds could have gone all are looked at; of more a sample."""
SEED = 20_240_501
"""The same values always give the same interval."""
NORMAL = NormalDist()
NORMAL_95 = NORMAL.inv_cdf(0.975)


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95% confidence interval."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class RepeatSummary:
    """Repeats of one figure."""

    mean: float
    interval: Interval
    variation: float
    """Coefficient of variation: standard deviation over mean; not a number for a single value."""
    count: int
    outliers: tuple[int, ...]
    """Places of the values that lie far from the rest. They are part of the mean all the same."""


def summarise(values: Sequence[float]) -> RepeatSummary:
    """Mean, 95% interval, coefficient of variation and outliers of repeated measurements."""
    data = np.asarray(values, dtype=np.float64)
    if len(data) == 0:
        raise ValueError("nothing to summarise")
    mean = float(np.mean(data))
    spread = float(np.std(data, ddof=1)) if len(data) > 1 else float("nan")
    variation = spread / abs(mean) if mean else float("nan")
    return RepeatSummary(mean, mean_interval(data), variation, len(data), outliers(data))


def student_95(freedom: float) -> float:
    """How many standard errors reach to the end of a 95% interval when the spread itself is estimated."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.975))


def mean_interval(values: Sequence[float] | Floats) -> Interval:
    """95% interval of the mean: bootstrap (BCa, widened for small samples); Student's t for few values."""
    data = np.asarray(values, dtype=np.float64)
    mean = float(np.mean(data))
    if len(data) < 2:
        return Interval(float("-inf"), float("inf"))
    if len(data) < SMALL or np.ptp(data) == 0:
        half = student_95(len(data) - 1) * float(np.std(data, ddof=1)) / np.sqrt(len(data))
        return Interval(mean - half, mean + half)
    return bootstrap_interval(data, _row_means)


def median_interval(values: Sequence[float] | Floats) -> Interval:
    """95% interval of the median: bootstrap; for few values the ranks that hold it, or Student's t."""
    data = np.sort(np.asarray(values, dtype=np.float64))
    if len(data) < FEWEST_RANKS:
        return mean_interval(data)
    if len(data) < SMALL:
        rank = _rank_of_lowest(len(data))
        return Interval(float(data[max(rank - 1, 0)]), float(data[-max(rank, 1)]))
    return bootstrap_interval(data, _row_medians)


def _rank_of_lowest(count: int) -> int:
    """The smallest number of values that lie below the median with a chance of 2.5% or more."""
    chance = 0
    for rank in range(count + 1):
        chance += comb(count, rank)
        if chance >= 0.025 * 2**count:
            return rank
    return count


def _row_means(rows: Floats) -> Floats:
    return np.asarray(np.mean(rows, axis=-1))


def _row_medians(rows: Floats) -> Floats:
    return np.asarray(np.median(rows, axis=-1))


def bootstrap_interval(values: Floats, statistic: Callable[[Floats], Floats]) -> Interval:
    """Bias-corrected and accelerated bootstrap, with the tails widened as Student's t is against the normal.

    A plain bootstrap of n values is too narrow by the factor √((n−1)/n) and takes the spread for known.
    """
    count = len(values)
    rng = np.random.default_rng(SEED)
    resampled = np.sort(statistic(values[rng.integers(0, count, (RESAMPLES, count))]))
    observed = float(statistic(values[None, :])[0])
    below = (np.sum(resampled < observed) + 0.5 * np.sum(resampled == observed)) / RESAMPLES
    bias = NORMAL.inv_cdf(float(np.clip(below, 1e-4, 1 - 1e-4)))
    left_out = statistic(np.stack([np.delete(values, i) for i in range(count)]))
    away = np.mean(left_out) - left_out
    scale = float(np.sum(away**2)) ** 1.5
    acceleration = float(np.sum(away**3)) / (6.0 * scale) if scale > 0 else 0.0
    reach = student_95(count - 1) * float(np.sqrt(count / (count - 1)))
    bounds = []
    for edge in (-reach, reach):
        shifted = bias + (bias + edge) / max(1.0 - acceleration * (bias + edge), 0.05)
        bounds.append(float(np.quantile(resampled, NORMAL.cdf(shifted))))
    return Interval(bounds[0], bounds[1])


def outliers(values: Sequence[float] | Floats) -> tuple[int, ...]:
    """Places of values beyond Tukey's fences (one and a half quartile distances outside the quartiles)."""
    data = np.asarray(values, dtype=np.float64)
    if len(data) < 4:
        return ()
    low, high = np.quantile(data, [0.25, 0.75])
    reach = 1.5 * (high - low)
    return tuple(int(i) for i in np.flatnonzero((data < low - reach) | (data > high + reach)))


def combine(
    values: Sequence[float], stderrs: Sequence[float], seen: Sequence[float] | None = None
) -> tuple[float, Interval]:
    """One figure from repeated runs, each with its own standard error.

    From three runs on their scatter decides, unless chance made it smaller than the runs' own errors allow. `seen`: the
    part that the meter looked at in each run. Where it looked away, a run says nothing; where it always did, all runs
    are wrong in the same way and repeating does not help.
    """
    data, errors = np.asarray(values, dtype=np.float64), np.asarray(stderrs, dtype=np.float64)
    if seen is not None:
        looked = np.asarray(seen) >= SEEN_ENOUGH
        if not looked.any():
            mean, half = float(np.mean(data)), NORMAL_95 * float(np.mean(errors))
            return mean, Interval(mean - half, mean + half)
        data, errors = data[looked], errors[looked]
    mean = float(np.mean(data))
    within = float(np.sqrt(np.sum(errors**2))) / len(data)
    if len(data) < 3:
        between = float(np.std(data, ddof=1)) / np.sqrt(2) if len(data) == 2 else 0.0
        half = NORMAL_95 * max(within, between)
        return mean, Interval(mean - half, mean + half)
    interval = mean_interval(data)
    return mean, Interval(min(interval.low, mean - within), max(interval.high, mean + within))


def is_resolved(low: float) -> bool:
    """Whether net energy is significantly above zero: the 95% interval begins above it."""
    return low > 0.0


def wilcoxon(before: Sequence[float], after: Sequence[float]) -> float:
    """Two-sided p of the signed-rank test on pairs; 1 when no pair differs."""
    change = np.asarray(after, dtype=np.float64) - np.asarray(before, dtype=np.float64)
    if len(change) == 0 or not np.any(change):
        return 1.0
    from scipy.stats import wilcoxon as signed_rank_test

    return float(signed_rank_test(change).pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's correction: p values that hold when all of them are looked at together."""
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        corrected[index] = highest
    return corrected


def a12(first: Sequence[float], second: Sequence[float]) -> float:
    """Vargha and Delaney's A: how often a value of `first` is larger than one of `second`, ties half."""
    if not len(first) or not len(second):
        raise ValueError("both sides need values")
    mine, theirs = np.asarray(first, dtype=np.float64)[:, None], np.asarray(second, dtype=np.float64)
    return float(np.mean((mine > theirs) + 0.5 * (mine == theirs)))


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Spearman's rank correlation; None where one side does not vary."""
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if len(one) < 3 or np.ptp(one) == 0 or np.ptp(other) == 0:
        return None
    from scipy.stats import spearmanr

    return float(spearmanr(one, other).statistic)


def randomisation(after: Sequence[float], before: Sequence[float], control: Sequence[float]) -> float:
    """Two-sided p of an exact randomisation test: in each round one of three runs was the changed one.

    If the change did nothing, any of the three could have been it. The statistic is the mean over rounds of the logarithm of
    the changed run against the two others. It needs fewer rounds than a test on pairs: three can tell, at best 1/27.
    """
    rounds = np.log(np.array([after, before, control], dtype=np.float64).T)
    if len(rounds) == 0:
        return 1.0
    against = rounds - (rounds.sum(axis=1, keepdims=True) - rounds) / 2
    observed = abs(float(against[:, 0].mean()))
    if len(rounds) <= EXACT_ROUNDS:
        sums = np.zeros(1)
        for row in against:
            sums = (sums[:, None] + row).ravel()
    else:
        drawn = np.random.default_rng(SEED).integers(0, 3, (RESAMPLES, len(rounds)))
        sums = np.append(against[np.arange(len(rounds)), drawn].sum(axis=1), observed * len(rounds))
    return float(np.mean(np.abs(sums) / len(rounds) >= observed - 1e-12))
