"""Joules of a calibration's points where there are sensors: net energy over their runs, divided by their CPU time.

A reading of a sensor is a millisecond old at best, and most points take less. A point that ran for long enough in all has
a figure of its own; the others take the joules that a CPU second costs over the whole process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from energy_measure.attribution.baseline import IdleWindow, baseline_of
from energy_measure.attribution.observations import Observations, TooFewReadingsError, observe
from energy_measure.sampling.trace import SampledTrace

LONG_ENOUGH = 30
"""Updates of the meter that a point's runs must last together for a figure of its own."""

Span = tuple[int, int]


def net_joules(traces: Sequence[SampledTrace], idle: Sequence[IdleWindow], spans: Sequence[Span]) -> float:
    """Net joules of all devices over some spans of time."""
    total = 0.0
    edges = np.asarray(spans, dtype=np.int64).reshape(-1, 2)
    for trace in traces:
        try:
            seen = observe(trace)
            baseline = baseline_of(seen, idle)
        except TooFewReadingsError:
            continue
        starts, ends = (
            np.asarray((edges[:, side] - seen.origin_ns) * 1e-9, dtype=np.float64) for side in (0, 1)
        )
        gross = _energy_until(seen, ends) - _energy_until(seen, starts)
        total += float(np.sum(gross - baseline.energy(starts, ends)))
    return max(total, 0.0)


def _energy_until(seen: Observations, moments: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Joules up to these moments, in straight lines between the readings."""
    times = np.concatenate((seen.starts[:1], seen.ends))
    joules = np.concatenate(([0.0], np.cumsum(seen.joules)))
    return np.asarray(np.interp(moments, times, joules), dtype=np.float64)


def own_figures(
    traces: Sequence[SampledTrace], idle: Sequence[IdleWindow], rows: Mapping[int, Mapping[str, Any]]
) -> dict[int, float]:
    """Joules of a CPU second for each point that ran for long enough."""
    update = max((trace.update_period_s for trace in traces), default=0.0)
    found = {}
    for number, row in rows.items():
        spans = [(int(start), int(end)) for start, end in row["spans"]]
        length = sum(end - start for start, end in spans) * 1e-9
        used = sum(row["cpu"]) * 1e-9
        if length >= LONG_ENOUGH * update and used > 0:
            found[number] = net_joules(traces, idle, spans) / used
    return found
