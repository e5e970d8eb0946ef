"""Is the machine at rest? Coefficients of variation and temperatures against limits, waiting no longer than
agreed."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from energy_data.model import Device
from energy_measure.attribution.observations import Observations, TooFewReadingsError, observe
from energy_measure.sampling.trace import SampledTrace

Floats = npt.NDArray[np.float64]

SHORTEST_PAUSE = 0.25


@dataclass(frozen=True, slots=True)
class StabilityLimits:
    """When a machine counts as steady; the variation limits are those of FECoM."""

    variation: Mapping[Device, float] = field(default_factory=lambda: {"cpu": 0.03, "ram": 0.03, "gpu": 0.01})
    """Highest standard deviation over mean of the power points, per device."""
    points: int = 20
    point_seconds: float = 0.05
    """Length of a point; longer where the meter needs it (see `point_length`)."""
    temperature: Mapping[str, float] = field(default_factory=lambda: {"cpu": 70.0, "gpu": 60.0})
    """Highest temperature to start at, in °C."""
    wait_seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class Stability:
    """What was found: whether the machine is steady, how it varies, and what speaks against it."""

    stable: bool
    variation: Mapping[Device, float]
    temperatures: Mapping[str, float]
    reasons: tuple[str, ...]
    """One phrase for each limit that was not kept."""
    waited: float = 0.0


@dataclass(frozen=True, slots=True)
class Look:
    """Traces up to now and temperatures right now."""

    traces: Sequence[SampledTrace]
    temperatures: Mapping[str, float] = field(default_factory=dict)


def point_length(observations: Observations, limits: StabilityLimits, variation: float) -> float:
    """Seconds per point: long enough that the meter's own timing stays under half the limit."""
    placement = float(np.median(observations.placement))
    for_timing = math.sqrt(2.0) * placement / (variation / 2.0)
    return max(limits.point_seconds, 2.0 * observations.step, for_timing)


def check(look: Look, limits: StabilityLimits | None = None) -> Stability:
    """Judge the last points of each trace and the temperatures."""
    limits = limits or StabilityLimits()
    variation: dict[Device, float] = {}
    reasons = []
    for trace in look.traces:
        highest = limits.variation.get(trace.device, np.inf)
        found = _variation(trace, limits, highest)
        if found is None:
            reasons.append(f"{trace.device}: too few readings to tell")
            continue
        variation[trace.device] = found
        if found > highest:
            reasons.append(f"{trace.device} power varies by {found:.1%} (limit {highest:.1%})")
    for name, limit in limits.temperature.items():
        reached = look.temperatures.get(name)
        if reached is not None and reached > limit:
            reasons.append(f"{name} at {reached:.0f} °C (limit {limit:.0f} °C)")
    return Stability(not reasons, variation, dict(look.temperatures), tuple(reasons))


def _variation(trace: SampledTrace, limits: StabilityLimits, highest: float) -> float | None:
    if trace.estimated:
        return 0.0  # an estimate counts the program alone: nothing in the background can disturb it
    try:
        observations = observe(trace)
    except TooFewReadingsError:
        return None
    length = point_length(observations, limits, highest)
    watts = _points(observations, length, limits.points)
    if len(watts) < limits.points:
        return None
    mean = float(np.mean(watts))
    return float(np.std(watts, ddof=1)) / mean if mean > 0 else 0.0


def _points(observations: Observations, length: float, count: int) -> Floats:
    """Mean power over the last `count` stretches of `length` seconds; fewer where the trace is too short."""
    first, last = float(observations.starts[0]), float(observations.ends[-1])
    count = min(count, int((last - first) / length))
    edges = last - length * np.arange(count, -1, -1.0)
    if observations.contiguous:
        times = np.append(observations.starts[:1], observations.ends)
        counted = np.concatenate(([0.0], np.cumsum(observations.joules)))
        return np.diff(np.interp(edges, times, counted)) / length
    power = observations.joules / (observations.ends - observations.starts)
    place = np.searchsorted(edges, observations.ends, side="left") - 1
    inside = (place >= 0) & (place < count)
    held = np.bincount(place[inside], minlength=count)
    summed = np.bincount(place[inside], weights=power[inside], minlength=count)
    return np.asarray(summed[held > 0] / held[held > 0])


def wait_until_stable(
    look: Callable[[], Look],
    limits: StabilityLimits | None = None,
    *,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Stability:
    """Look again and again until the machine is steady or `wait_seconds` have passed.

    The first look comes as soon as there can be enough points. After that the pauses grow, since a machine
    that has not settled in one second will hardly have in the next quarter.
    """
    limits = limits or StabilityLimits()
    begin = clock()
    pause = limits.points * limits.point_seconds
    while True:
        left = limits.wait_seconds - (clock() - begin)
        sleep(max(min(pause, left), 0.0))
        found = check(look(), limits)
        waited = clock() - begin
        if found.stable or waited >= limits.wait_seconds:
            return Stability(found.stable, found.variation, found.temperatures, found.reasons, waited)
        pause = max(SHORTEST_PAUSE, waited / 4.0)
