"""Curves through energy against size: linear, power law, steps of batches; which of them the data speak for.

Fits are judged by the corrected Akaike criterion on relative errors, since joules range over decades. A curve is only told
with the range of sizes that was measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from energy_measure.statistics import Interval, student_95

Floats = npt.NDArray[np.floating]
Kind = Literal["constant", "linear", "power", "steps"]
FEWEST = 3
"""Sizes: through fewer any curve would pass."""
CLEARLY = 2.0
"""By how much a curve with more numbers has to be better, as is usual with Akaike's criterion."""


@dataclass(frozen=True, slots=True)
class Fit:
    """A curve and what it is made of."""

    kind: Kind
    parameters: tuple[float, ...]
    intervals: tuple[Interval, ...]
    """95%, one a parameter; infinite where there are too few points to tell."""
    error: float
    """Typical relative distance of the points from the curve."""
    score: float
    """Corrected Akaike criterion: the lowest is the best."""
    step: float = 0.0
    """Size of a batch, for steps."""

    def at(self, size: float) -> float:
        """Joules at a size."""
        return float(_curve(self.kind, self.step)(np.array([size]), *self.parameters)[0])

    @property
    def formula(self) -> str:
        """As a person would write it; x is the size."""
        a = self.parameters
        if self.kind == "constant":
            return f"{a[0]:.3g} J"
        if self.kind == "linear":
            return f"{a[0]:.3g} J + {a[1]:.3g} J · x"
        if self.kind == "power":
            return f"{a[0]:.3g} J · x^{a[1]:.2f}"
        return f"{a[0]:.3g} J + {a[1]:.3g} J · ⌈x / {self.step:g}⌉"


@dataclass(frozen=True, slots=True)
class Correlation:
    """How energy goes with size."""

    pearson: float
    spearman: float
    p_value: float
    """Of Spearman's, two-sided."""
    low: float
    high: float
    """95% interval of Pearson's, by Fisher's transformation."""
    points: int

    @property
    def certain(self) -> bool:
        """Whether there is one: three points always look like one, and cannot tell."""
        return self.points <= FEWEST or not self.low <= 0.0 <= self.high


def correlate(sizes: Sequence[float], joules: Sequence[float]) -> Correlation | None:
    """Correlation of energy and size; None where one of them does not vary."""
    x, y = np.asarray(sizes, dtype=np.float64), np.asarray(joules, dtype=np.float64)
    if len(x) < FEWEST or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    from scipy import stats  # takes a second to load: at the end of a sweep alone

    pearson = float(np.corrcoef(x, y)[0, 1])
    ranks = stats.spearmanr(x, y)
    low, high = -1.0, 1.0
    if len(x) > 3:
        middle, half = math.atanh(min(max(pearson, -0.999999), 0.999999)), 1.959964 / math.sqrt(len(x) - 3)
        low, high = math.tanh(middle - half), math.tanh(middle + half)
    return Correlation(pearson, float(ranks.statistic), float(ranks.pvalue), low, high, len(x))


def fits(sizes: Sequence[float], joules: Sequence[float], row: float = 1.0) -> list[Fit]:
    """All curves that can be drawn, the best first.

    `row`: what one row of a batch has of the size, such as its bytes; 0 where nobody knows, and no steps are tried.
    """
    x, y = np.asarray(sizes, dtype=np.float64), np.asarray(joules, dtype=np.float64)
    good = (y > 0) & np.isfinite(x) & np.isfinite(y)
    x, y = x[good], y[good]
    if len(set(x.tolist())) < FEWEST:
        return []
    found = [_fitted("constant", x, y), _fitted("linear", x, y)]
    if np.all(x > 0):
        found.append(_power(x, y))
    for step in _possible_steps(x, row) if row > 0 else ():
        found.append(_fitted("steps", x, y, step))
    usable = [fit for fit in found if fit is not None]
    return sorted(usable, key=lambda fit: fit.score)


def best(found: Sequence[Fit], correlation: Correlation | None = None) -> Fit | None:
    """The simplest curve that is not clearly worse than the best; flat where energy does not go with size at all."""
    if not found:
        return None
    flat = [fit for fit in found if fit.kind == "constant"]
    if flat and correlation is not None and not correlation.certain:
        return flat[0]
    order: tuple[Kind, ...] = ("constant", "linear", "power", "steps")
    near = [fit for fit in found if fit.score <= found[0].score + CLEARLY]
    return min(near, key=lambda fit: (order.index(fit.kind), fit.score))


def _curve(kind: Kind, step: float) -> Callable[..., Floats]:
    if kind == "constant":
        return lambda x, a: np.full_like(x, a)
    if kind == "linear":
        return lambda x, a, b: a + b * x
    if kind == "power":
        return lambda x, a, b: a * x**b
    return lambda x, a, b: a + b * np.ceil(x / step - 1e-9)


def _fitted(kind: Kind, x: Floats, y: Floats, step: float = 0.0) -> Fit | None:
    """Least squares of relative errors: these curves are linear in their parameters."""
    features = {
        "constant": [np.ones_like(x)],
        "linear": [np.ones_like(x), x],
        "steps": [np.ones_like(x), np.ceil(x / step - 1e-9) if step else x],
    }[kind]
    matrix = np.stack(features, axis=1) / y[:, None]
    if np.linalg.matrix_rank(matrix) < matrix.shape[1]:
        return None
    parameters, *_ = np.linalg.lstsq(matrix, np.ones_like(y), rcond=None)
    residual = matrix @ parameters - 1.0
    return _described(kind, parameters, np.linalg.inv(matrix.T @ matrix), residual, step)


def _power(x: Floats, y: Floats) -> Fit | None:
    """A straight line through logarithms, whose distances are relative errors to first order."""
    matrix = np.stack([np.ones_like(x), np.log(x)], axis=1)
    if np.linalg.matrix_rank(matrix) < 2:
        return None
    parameters, *_ = np.linalg.lstsq(matrix, np.log(y), rcond=None)
    residual = matrix @ parameters - np.log(y)
    fit = _described("power", parameters, np.linalg.inv(matrix.T @ matrix), residual, 0.0)
    low, high = fit.intervals[0].low, fit.intervals[0].high
    scale = Interval(math.exp(max(low, -700.0)), math.exp(min(high, 700.0)))
    return Fit(
        "power",
        (math.exp(float(parameters[0])), float(parameters[1])),
        (scale, fit.intervals[1]),
        fit.error,
        fit.score,
    )


def _described(kind: Kind, parameters: Floats, inverse: Floats, residual: Floats, step: float) -> Fit:
    count, free = len(residual), len(residual) - len(parameters)
    squares = float(residual @ residual)
    spread = math.sqrt(squares / free) if free > 0 else math.inf
    reach = student_95(free) if free > 0 else math.inf
    half = [
        reach * spread * math.sqrt(max(float(v), 0.0)) if free > 0 else math.inf for v in np.diag(inverse)
    ]
    intervals = tuple(Interval(float(p) - h, float(p) + h) for p, h in zip(parameters, half, strict=True))
    numbers = (
        len(parameters) + 1 + (1 if kind == "steps" else 0)
    )  # the spread, and the step, are fitted as well
    penalty = 2 * numbers * count / max(count - numbers - 1, 0.5)
    score = count * math.log(max(squares / count, 1e-12)) + penalty
    return Fit(kind, tuple(map(float, parameters)), intervals, math.sqrt(squares / count), score, step)


def _possible_steps(x: Floats, row: float) -> list[float]:
    """Batch sizes that people use, where the range holds several of them but sizes between."""
    top = float(np.max(x))
    found = []
    for power in range(3, 13):
        step = row * 2**power
        between = np.any(np.abs(x / step - np.round(x / step)) > 0.01)
        if between and top >= 2 * step and len(set(np.ceil(x / step).tolist())) >= FEWEST:
            found.append(step)
    return found
