"""Whether a changed program gives the same results: equal, within the noise of seeds, or other ones."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from energy_measure.comparison.output_diff import shown, without_times
from energy_measure.tuning.workshop import VersionRun
from energy_measure.tuning.written import WRITTEN

Results = Literal["equal", "seeds", "trade-off", "different"]
Numbers = NDArray[np.float64]
"""A row for each run."""

RELATIVE, ABSOLUTE = 0.01, 0.001
"""Compiling rounds otherwise: numbers this close are the same."""
NOISE = 3.0
"""Standard errors between two means that seeds alone may make."""
FEW = 0.1
"""Part of the numbers that may lie outside of the noise, by chance."""
ROUNDING = 0.1
"""Part of the tolerance within which a program's own runs are alike: more than this is no rounding, but scatter."""
_TIMES = without_times(["1 s"])[0]
_BAR = re.compile(r"\d+/\d+\s*[\[━=>. \]-]+")
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

    @property
    def rounding(self) -> Tolerance:
        """How far runs of one program may differ that gives the same each time."""
        return Tolerance(ROUNDING * self.relative, ROUNDING * self.absolute)


def comparable(outcome: VersionRun) -> bool:
    """Whether a run gave anything to compare: progress bars and times say nothing of results."""
    return bool(outcome.metrics) or any(
        any(character.isalnum() for character in line.replace(_TIMES, ""))
        for line in (_BAR.sub("", line) for line in without_times(shown(outcome.results)))
        if not line.startswith(WRITTEN) and (_TIMES not in line or _NUMBER.search(line))
    )


def same_output(one: VersionRun, other: VersionRun, tolerance: Tolerance) -> bool:
    """The same text, with numbers within the tolerance; times are not compared."""
    first, second = (_parts(outcome.results) for outcome in (one, other))
    if first[0] != second[0] or len(one.metrics) != len(other.metrics):
        return False
    pairs = [*zip(first[1], second[1], strict=True), *zip(one.metrics, other.metrics, strict=True)]
    return all(tolerance.same(left, right) for left, right in pairs)


def judged(
    before: Sequence[VersionRun], after: Sequence[VersionRun], changes_results: bool, tolerance: Tolerance
) -> Results | None:
    """What became of the results, from runs of both sides with the same seeds; None: there is nothing to compare."""
    if not any(comparable(outcome) for outcome in (*before, *after)):
        return None
    if all(same_output(one, other, tolerance) for one, other in zip(before, after, strict=True)):
        # What prints something else each time is compared with its own scatter, which may be less than the tolerance.
        if not _shifted(before, after, tolerance.rounding):
            return "equal"
    elif _within_noise(before, after, tolerance):
        return "seeds"
    return "trade-off" if changes_results else "different"


def _within_noise(before: Sequence[VersionRun], after: Sequence[VersionRun], tolerance: Tolerance) -> bool:
    """Results of training where there are some, else printed numbers, against their scatter over seeds."""
    sides = [[outcome.metrics for outcome in side] for side in (before, after)]
    if not all(numbers for side in sides for numbers in side):
        texts = {tuple(_parts(outcome.results)[0]) for side in (before, after) for outcome in side}
        if len(texts) != 1:
            return False
        sides = [[tuple(_parts(outcome.results)[1]) for outcome in side] for side in (before, after)]
    if len({len(numbers) for side in sides for numbers in side}) != 1 or len(before) < 2:
        return False
    first, second = (np.array(side, dtype=float) for side in sides)
    if not np.isfinite(first).all() or not np.isfinite(second).all():
        return False
    outside = _outside(first, second, tolerance)
    return bool(outside.mean() <= FEW) if outside.size else False


def _shifted(before: Sequence[VersionRun], after: Sequence[VersionRun], rounding: Tolerance) -> bool:
    """Whether numbers that scatter from run to run lie elsewhere after the change, beyond that scatter."""
    sides = [[(*_parts(one.results)[1], *one.metrics) for one in side] for side in (before, after)]
    if len({len(numbers) for side in sides for numbers in side}) != 1 or len(before) < 2:
        return False
    first, second = (np.array(side, dtype=float) for side in sides)
    if not np.isfinite(first).all() or not np.isfinite(second).all():
        return False
    scatter = np.ptp(first, axis=0) > np.maximum(
        rounding.absolute, rounding.relative * np.abs(first).max(axis=0)
    )
    return bool(scatter.any() and _outside(first, second, rounding)[scatter].mean() > FEW)


def _outside(first: Numbers, second: Numbers, tolerance: Tolerance) -> NDArray[np.bool_]:
    """Which numbers differ on average by more than their scatter and the tolerance."""
    error = np.sqrt(first.var(axis=0, ddof=1) / len(first) + second.var(axis=0, ddof=1) / len(second))
    allowed = NOISE * error + np.maximum(tolerance.absolute, tolerance.relative * np.abs(first.mean(axis=0)))
    outside: NDArray[np.bool_] = np.abs(first.mean(axis=0) - second.mean(axis=0)) > allowed
    return outside


def _parts(output: bytes) -> tuple[list[str], list[float]]:
    """The text without its numbers, and the numbers."""
    lines = without_times(shown(output))
    return [_NUMBER.sub("#", line) for line in lines], [
        float(n) for line in lines for n in _NUMBER.findall(line)
    ]
