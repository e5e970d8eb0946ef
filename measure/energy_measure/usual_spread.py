"""How much runs usually differ on this machine with this meter, learned from the repeated ones in the database.

One run cannot say how much runs differ, and the meter's own interval is far too narrow for that. Calls in place and calls
replayed differ in other ways, so each has a spread of its own.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from pathlib import Path

from energy_data.database.database import Database
from energy_data.model import Machine, Measurement, Method
from energy_measure.statistics import student_95

FEWEST_RUNS = 3
"""Repeats behind a figure whose interval says something of runs."""
FEWEST_CALLS = 5
LATEST = 50
"""Measured programs that are looked at."""


def usual_spread(path: Path, machine: Machine, meter: str) -> dict[Method, float]:
    """Relative standard deviation between runs, the median over calls; by method, where enough is known."""
    if not path.exists():
        return {}
    found: dict[Method, list[float]] = {}
    with Database.read(path) as database:
        runs = [run for run in database.runs() if run.meter == meter and run.machine.label == machine.label]
        for run in runs[-LATEST:]:
            for measurement in database.measurements(run.id):
                spread = spread_of(measurement)
                if spread is not None:
                    found.setdefault(measurement.method, []).append(spread)
    return {
        method: statistics.median(spreads)
        for method, spreads in found.items()
        if len(spreads) >= FEWEST_CALLS
    }


def spread_of(measurement: Measurement) -> float | None:
    """Relative standard deviation of a call between runs, from the interval of its mean; None where it says nothing."""
    runs, low, high = measurement.repeats, measurement.low, measurement.high
    joules = sum(quantity.value for quantity in measurement.joules.values())
    if measurement.covers not in ("", "sampling and runs"):
        return None  # a call that was replayed once, in whatever number of runs
    if runs < FEWEST_RUNS or not measurement.resolved or joules <= 0 or low is None or high is None:
        return None
    spread = (high - low) / 2.0 * math.sqrt(runs) / student_95(runs - 1) / joules
    return spread if math.isfinite(spread) else None


def widened(joules: float, low: float, high: float, spread: float) -> tuple[float, float]:
    """The interval of a figure of one run with the spread that runs usually have; below it stays above nothing."""
    factor = 1.0 + 1.96 * spread
    return min(low, joules / factor), max(high, joules * factor)


NO_SPREAD: Mapping[Method, float] = {}
