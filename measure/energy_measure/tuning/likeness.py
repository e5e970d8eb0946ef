"""Whether a changed program gives the same results: equal, within the noise of seeds, or other ones."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from energy_measure.comparison.output_diff import shown, without_times
from energy_measure.tuning.workshop import Outcome

Results = Literal["equal", "seeds", "trade-off", "different"]

RELATIVE, ABSOLUTE = 0.01, 0.001
"""Compiling rounds otherwise: numbers this close are the same."""
NOISE = 3.0
"""Standard errors between two means that seeds alone may make."""
FEW = 0.1
"""Part of the numbers that may lie outside of the noise, by chance."""
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far numbers may differ and still be the same."""

    relative: float = RELATIVE
    absolute: float = ABSOLUTE

    def same(self, one: float, other: float) -> bool:
        """Integers that differ are never the same: they count something."""
        if one == other or (math.isnan(one) and math.isnan(other)):
            return True
        if one.is_integer() and other.is_integer():
            return False
        return abs(one - other) <= max(self.absolute, self.relative * max(abs(one), abs(other)))


def same_output(one: Outcome, other: Outcome, tolerance: Tolerance) -> bool:
    """The same text, with numbers within the tolerance; times are not compared."""
    first, second = (_parts(outcome.output) for outcome in (one, other))
    if first[0] != second[0] or len(one.metrics) != len(other.metrics):
        return False
    pairs = [*zip(first[1], second[1], strict=True), *zip(one.metrics, other.metrics, strict=True)]
    return all(tolerance.same(left, right) for left, right in pairs)


def judged(
    before: Sequence[Outcome], after: Sequence[Outcome], changes_results: bool, tolerance: Tolerance
) -> Results:
    """What became of the results, from runs of both sides with the same seeds."""
    if all(same_output(one, other, tolerance) for one, other in zip(before, after, strict=True)):
        return "equal"
    if _within_noise(before, after, tolerance):
        return "seeds"
    return "trade-off" if changes_results else "different"


def _within_noise(before: Sequence[Outcome], after: Sequence[Outcome], tolerance: Tolerance) -> bool:
    """Results of training where there are some, else printed numbers, against their scatter over seeds."""
    sides = [[outcome.metrics for outcome in side] for side in (before, after)]
    if not all(numbers for side in sides for numbers in side):
        texts = {tuple(_parts(outcome.output)[0]) for side in (before, after) for outcome in side}
        if len(texts) != 1:
            return False
        sides = [[tuple(_parts(outcome.output)[1]) for outcome in side] for side in (before, after)]
    if len({len(numbers) for side in sides for numbers in side}) != 1 or len(before) < 2:
        return False
    first, second = (np.array(side, dtype=float) for side in sides)
    if not np.isfinite(first).all() or not np.isfinite(second).all():
        return False
    error = np.sqrt(first.var(axis=0, ddof=1) / len(first) + second.var(axis=0, ddof=1) / len(second))
    allowed = NOISE * error + np.maximum(tolerance.absolute, tolerance.relative * np.abs(first.mean(axis=0)))
    outside = np.abs(first.mean(axis=0) - second.mean(axis=0)) > allowed
    return bool(outside.mean() <= FEW) if outside.size else False


def _parts(output: bytes) -> tuple[list[str], list[float]]:
    """The text without its numbers, and the numbers."""
    lines = without_times(shown(output))
    return [_NUMBER.sub("#", line) for line in lines], [
        float(n) for line in lines for n in _NUMBER.findall(line)
    ]
