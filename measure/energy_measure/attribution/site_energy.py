"""Energy of call sites: the events of each site added up, per call, with what is known of the errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from energy_data.model import DEVICES, Device, Quantity
from energy_measure.attribution.events import Events
from energy_measure.attribution.solver import DeviceAttribution
from energy_measure.attribution.spans import Floats, distinct, sums
from energy_measure.statistics import NORMAL_95, Interval, is_resolved


@dataclass(frozen=True, slots=True)
class SiteEnergy:
    """Net energy per call of one call site in one run."""

    site: int
    count: int
    """Calls in the run."""
    seconds: float
    """Per call."""
    joules: Mapping[Device, Quantity]
    exclusive: Quantity
    """All devices, without the API calls nested in it."""
    total: Quantity
    interval: Interval
    tail_joules: float | None
    """Net joules after the call until the next one, per call; None where the next always came too soon."""
    shared: float
    """Part of the time in which calls of other threads ran too."""
    seen: float = 1.0
    """Part of the time that the meter looked at; of several meters the one that looked least."""

    @property
    def resolved(self) -> bool:
        """Whether the meter could tell the call from nothing."""
        return is_resolved(self.interval.low)


def site_energies(events: Events, devices: Sequence[DeviceAttribution]) -> dict[int, SiteEnergy]:
    """Per site the mean over its calls; several sources of one device are added."""
    if len(events) == 0:
        return {}
    numbers, rows = distinct(events.site)
    count = len(numbers)
    calls = sums(rows, events.count.astype(np.float64), count)
    busy = sums(rows, events.busy.astype(np.float64), count) * 1e-9
    per_device: dict[Device, tuple[Floats, Floats]] = {}
    exclusive, exclusive_variance = np.zeros(count), np.zeros(count)
    tail, tailed = np.zeros(count), np.zeros(count)
    for part in devices:
        nothing: Floats = np.zeros(count)
        joules, variance = per_device.get(part.device, (nothing, nothing))
        joules = joules + sums(rows, part.joules, count)
        variance = variance + _variance(rows, part.stderr, part.level_error, events, count)
        per_device[part.device] = joules, variance
        exclusive += sums(rows, part.exclusive, count)
        exclusive_variance += _variance(rows, part.exclusive_stderr, part.level_error, events, count)
        seen = ~np.isnan(part.tail)
        tail += sums(rows[seen], part.tail[seen], count)
        tailed += sums(rows[seen], np.ones(int(seen.sum())), count)
    most_shared = np.max(np.stack([part.shared for part in devices]), axis=0) if devices else calls[rows] * 0
    shared = sums(rows, most_shared, count)
    seen = _seen(rows, events, devices, count)
    appearances = sums(rows, np.ones(len(rows)), count)
    return {
        int(number): _site(
            int(number),
            int(calls[i]),
            float(busy[i]),
            {
                device: (float(per_device[device][0][i]), float(per_device[device][1][i]))
                for device in DEVICES
                if device in per_device
            },
            (float(exclusive[i]), float(exclusive_variance[i])),
            float(tail[i] / calls[i]) if tailed[i] else None,
            float(shared[i] / appearances[i]),
            float(seen[i]),
        )
        for i, number in enumerate(numbers)
    }


def _variance(
    rows: npt.NDArray[np.intp],
    stderr: Floats,
    level_error: Floats,
    events: Events,
    count: int,
) -> Floats:
    """Errors of single calls are independent, but a wrong baseline is wrong for all of them alike."""
    common = np.minimum(level_error * events.busy * 1e-9, stderr)
    return sums(rows, stderr**2 - common**2, count) + sums(rows, common, count) ** 2


def _seen(
    rows: npt.NDArray[np.intp], events: Events, devices: Sequence[DeviceAttribution], count: int
) -> Floats:
    """Part of the sites' time that the meters looked at."""
    weights = np.maximum(events.busy, 1).astype(np.float64)
    total = sums(rows, weights, count)
    parts = [sums(rows, weights * part.seen, count) / total for part in devices]
    return np.asarray(np.min(np.stack([np.ones(count), *parts]), axis=0))


def _site(
    site: int,
    calls: int,
    busy: float,
    devices: Mapping[Device, tuple[float, float]],
    exclusive: tuple[float, float],
    tail: float | None,
    shared: float,
    seen: float,
) -> SiteEnergy:
    total = sum(joules for joules, _ in devices.values()) / calls
    stderr = float(np.sqrt(sum(variance for _, variance in devices.values()))) / calls
    return SiteEnergy(
        site,
        calls,
        busy / calls,
        {
            device: Quantity(joules / calls, float(np.sqrt(variance)) / calls)
            for device, (joules, variance) in devices.items()
        },
        Quantity(exclusive[0] / calls, float(np.sqrt(exclusive[1])) / calls),
        Quantity(total, stderr),
        Interval(total - NORMAL_95 * stderr, total + NORMAL_95 * stderr),
        tail,
        shared,
        seen,
    )
