"""From what the points cost to coefficients: non-negative least squares on relative errors, and conformal intervals."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from energy_data.model import Coefficient
from energy_data.prediction.cost_model import BANDS, INTERVAL, cost, outside
from energy_data.prediction.specs import COVERAGE

SMALLEST = 5e-6
"""CPU seconds below which a difference says nothing: relative errors are taken of at least this much."""
UPDATE = "optimizer"
"""The family of optimizers."""
FEWEST = 20
"""Points that a band needs for an interval of its own."""
WIDEST = math.log(8.0)
"""No end of an interval is further from the figure than this factor: beyond it no figure is worth showing."""

Pair = tuple[float, float]
"""Predicted and measured."""


@dataclass(frozen=True, slots=True)
class FitSample:
    """A point that ran: what it is fitted for, its features, and what it cost."""

    name: str
    mode: str
    family: str
    features: tuple[float, ...]
    joules: float
    noise: float
    """Joules that say nothing: what it costs is the difference of two larger figures."""
    trace: float = 0.0
    """Joules that tracing it took, for layers and optimizers."""
    watts: float = 0.0
    """Net power while it ran."""

    @property
    def key(self) -> tuple[str, str]:
        """What it is fitted with."""
        return self.name, self.mode


def solve(
    features: Sequence[Sequence[float]], measured: Sequence[float], noise: Sequence[float]
) -> tuple[float, ...]:
    """Non-negative coefficients, the constant first, that are least wrong in relation to what was measured."""
    amounts = np.maximum(np.asarray(measured, dtype=np.float64), 1e-12)
    given = np.asarray(features, dtype=np.float64).reshape(len(amounts), -1)
    weights = 1.0 / np.maximum(amounts, np.asarray(noise))
    weighted = np.column_stack([np.ones(len(amounts)), given]) * weights[:, None]
    size = np.maximum(np.linalg.norm(weighted, axis=0), 1e-30)
    found, _ = nnls(weighted / size, amounts * weights)
    return tuple(float(value) for value in found / size)


def fitted(samples: Sequence[FitSample], calibration_id: str = "", watts: float = 1.0) -> Coefficient:
    """Coefficients for samples of one key; `watts`: joules of a CPU second."""
    first = samples[0]
    amounts = [sample.joules for sample in samples]
    values = solve([sample.features for sample in samples], amounts, [sample.noise for sample in samples])
    return Coefficient(
        calibration_id,
        first.name,
        first.mode,
        first.family,
        values,
        smallest=min(amounts) / watts,
        largest=max(amounts) / watts,
        points=len(samples),
        reach=tuple(max(column) for column in zip(*(sample.features for sample in samples), strict=True)),
        watts=float(np.median([sample.watts for sample in samples])),
        trace=_trace(samples),
    )


def _trace(samples: Sequence[FitSample]) -> float:
    """Joules of tracing: a layer, or the update of one variable, where the first of an update's features counts those."""
    amounts = [sample.trace for sample in samples]
    if samples[0].family != UPDATE or len(samples) < 2:
        return float(np.median(amounts))
    return solve([sample.features[:1] for sample in samples], amounts, [s.noise for s in samples])[1]


def grouped(samples: Iterable[FitSample]) -> dict[tuple[str, str], list[FitSample]]:
    """Samples by key."""
    found: dict[tuple[str, str], list[FitSample]] = defaultdict(list)
    for sample in samples:
        found[sample.key].append(sample)
    return dict(found)


def left_out(groups: Iterable[Sequence[FitSample]]) -> list[Pair]:
    """Each sample as predicted from the others of its key, where these reach as far."""
    found = []
    for group in groups:
        if len(group) < 3:
            continue
        for place, sample in enumerate(group):
            known = fitted([*group[:place], *group[place + 1 :]])
            # Beyond the sizes that were calibrated predictions are said to be so, and are wider.
            if not outside(known, sample.features):
                predicted = max(cost(known, sample.features), sample.noise)
                found.append((predicted, max(sample.joules, sample.noise)))
    return found


def lent(family: Mapping[str, Sequence[FitSample]]) -> list[Pair]:
    """The samples of each API as predicted from the other APIs of its family."""
    found = []
    for name, group in family.items():
        others = [sample for other, samples in family.items() if other != name for sample in samples]
        if len(others) < 3:
            continue
        known = fitted(others)
        found += [
            (max(cost(known, each.features), each.noise), max(each.joules, each.noise)) for each in group
        ]
    return found


def interval(
    kind: str, pairs: Sequence[Pair], watts: float, calibration_id: str = "", *, bands: bool = True
) -> Coefficient:
    """The conformal interval of measured / predicted on the logarithm, for each band of predicted cost."""
    ratios = [(predicted / watts, _ratio(predicted, measured)) for predicted, measured in pairs]
    everything = ends([ratio for _, ratio in ratios])
    lows, highs = [everything[0]], [everything[1]]
    if bands:
        lows, highs = [], []
        for first, last in zip((0.0, *BANDS), (*BANDS, math.inf), strict=True):
            inside = [ratio for seconds, ratio in ratios if first <= seconds < last]
            low, high = ends(inside) if len(inside) >= FEWEST else everything
            lows.append(low)
            highs.append(high)
    return Coefficient(calibration_id, INTERVAL, kind, "", (*lows, *highs), 0.0, 0.0, len(pairs))


def ends(ratios: Sequence[float], coverage: float = COVERAGE) -> Pair:
    """Ends that hold a new ratio with this probability: conformal, each side by itself."""
    if not ratios:
        return -math.log(4.0), math.log(4.0)
    ordered, count = sorted(ratios), len(ratios)
    rank = math.floor((count + 1) * (1 - coverage) / 2)
    if rank >= 1:
        low, high = ordered[rank - 1], ordered[count - rank]
    else:
        # Too few for that: the outermost, and beyond them by a part of their distance the fewer they are.
        missing = max(0.0, 0.5 - (count + 1) * (1 - coverage) / 2)
        reach = missing * (ordered[-1] - ordered[0])
        low, high = ordered[0] - reach, ordered[-1] + reach
    return max(min(low, 0.0), -WIDEST), min(max(high, 0.0), WIDEST)


def _ratio(predicted: float, measured: float) -> float:
    return math.log(max(measured, 1e-9) / max(predicted, 1e-9))
