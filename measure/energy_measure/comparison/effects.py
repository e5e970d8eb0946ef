"""What two sides differ by, as studies of frameworks report it: per device, for time, and for marked phases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from energy_measure.statistics import Interval, a12, holm, median_interval, spearman, wilcoxon

Magnitude = Literal["negligible", "small", "medium", "large"]
MAGNITUDES: tuple[Magnitude, ...] = ("negligible", "small", "medium", "large")
DELTA_LIMITS = (0.147, 0.33, 0.474)
"""Of |Cliff's δ|, by Romano et al."""
A12_LIMITS = (0.06, 0.14, 0.21)
"""Of |A12 − 0.5|, by Vargha and Delaney."""


@dataclass(frozen=True, slots=True)
class Spread:
    """One side's values."""

    mean: float
    median: float
    interval: Interval
    """95%, of the median."""


@dataclass(frozen=True, slots=True)
class Effect:
    """The two sides in one respect."""

    name: str
    """`cpu`, `ram`, `gpu`, `all devices`, `time`; for a marked phase its name before it."""
    unit: Literal["J", "s"]
    before: Spread
    after: Spread
    p_value: float
    """Wilcoxon's signed-rank test on pairs, two-sided."""
    p_holm: float
    """The same, corrected for all respects together."""
    a12: float
    """How often a run of the side after takes more than one of the side before."""
    cliffs_delta: float

    @property
    def magnitude(self) -> Magnitude:
        """Of Cliff's δ."""
        return _named(abs(self.cliffs_delta), DELTA_LIMITS)

    @property
    def a12_magnitude(self) -> Magnitude:
        """Of A12."""
        return _named(abs(self.a12 - 0.5), A12_LIMITS)


@dataclass(frozen=True, slots=True)
class Effects:
    """All respects, and how energy goes with time on either side."""

    respects: tuple[Effect, ...]
    spearman_before: float | None
    """Of energy and time over the runs; None where one of them does not vary."""
    spearman_after: float | None


Values = Mapping[tuple[str, Literal["J", "s"]], tuple[Sequence[float], Sequence[float]]]
"""Respect and unit → values of the side before and the side after, pair by pair."""


def effects(values: Values) -> Effects:
    """Compare the sides in all respects together."""
    # Where only one device has a meter, it is all devices: one test under two names, corrected for once.
    tests = {sides: wilcoxon(*sides) for sides in map(_as_test, values.values())}
    corrected = dict(zip(tests, holm(list(tests.values())), strict=True))
    respects = tuple(
        _effect(name, unit, *sides, tests[_as_test(sides)], corrected[_as_test(sides)])
        for (name, unit), sides in values.items()
    )
    energy, time = values.get(("all devices", "J")), values.get(("time", "s"))
    if energy is None or time is None:
        return Effects(respects, None, None)
    return Effects(respects, spearman(energy[0], time[0]), spearman(energy[1], time[1]))


def _as_test(sides: tuple[Sequence[float], Sequence[float]]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return tuple(sides[0]), tuple(sides[1])


def _effect(
    name: str,
    unit: Literal["J", "s"],
    before: Sequence[float],
    after: Sequence[float],
    p_value: float,
    p_holm: float,
) -> Effect:
    larger = a12(after, before)
    return Effect(name, unit, _spread(before), _spread(after), p_value, p_holm, larger, 2.0 * larger - 1.0)


def _spread(values: Sequence[float]) -> Spread:
    return Spread(float(np.mean(values)), float(np.median(values)), median_interval(values))


def _named(size: float, limits: Sequence[float]) -> Magnitude:
    return MAGNITUDES[sum(size >= limit for limit in limits)]
