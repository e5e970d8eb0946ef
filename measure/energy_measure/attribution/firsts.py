"""First calls of a run apart from the later ones: start-up, tracing and allocation happen once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import numpy.typing as npt

from energy_measure.attribution.events import Events, Integers
from energy_measure.attribution.site_energy import SiteEnergy, site_energies
from energy_measure.attribution.solver import DeviceAttribution
from energy_measure.attribution.spans import distinct, sums

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class FirstCall:
    """The first call of a site in a run, all devices."""

    joules: float
    seconds: float


def firsts_and_later(
    events: Events, devices: Sequence[DeviceAttribution]
) -> tuple[dict[int, FirstCall], dict[int, SiteEnergy]]:
    """For each site with several calls its first one, and the figures of the others."""
    if len(events) == 0:
        return {}, {}
    numbers, rows = distinct(events.site)
    calls = sums(rows, events.count.astype(np.float64), len(numbers))
    first = np.unique(rows, return_index=True)[1]  # events are in order of time
    apart = (calls > 1) & (events.count[first] == 1)
    joules = sum((part.joules for part in devices), start=np.zeros(len(events)))
    firsts = {
        int(numbers[number]): FirstCall(
            float(joules[first[number]]), float(events.busy[first[number]]) * 1e-9
        )
        for number in np.flatnonzero(apart)
    }
    kept = apart[rows]
    kept[first] = False
    return firsts, site_energies(*selected(events, devices, kept))


def selected(
    events: Events, devices: Sequence[DeviceAttribution], kept: Mask
) -> tuple[Events, list[DeviceAttribution]]:
    """Some of the events with what was attributed to them, nested in the nearest of them around."""
    columns = {field.name: getattr(events, field.name)[kept] for field in fields(Events)}
    above = nearest(events, kept)
    columns["parent"] = np.where(above >= 0, np.cumsum(kept)[above] - 1, -1)[kept]
    parts = []
    for part in devices:
        parts.append(
            replace(
                part,
                joules=part.joules[kept],
                stderr=part.stderr[kept],
                exclusive=part.exclusive[kept],
                exclusive_stderr=part.exclusive_stderr[kept],
                level_error=part.level_error[kept],
                tail=part.tail[kept],
                shared=part.shared[kept],
                seen=part.seen[kept],
            )
        )
    return Events(**columns), parts


def nearest(events: Events, wanted: Mask) -> Integers:
    """For each event the nearest wanted one around it; -1 where there is none."""
    above = events.parent.copy()
    between = (above >= 0) & ~wanted[above]
    while np.any(between):
        above[between] = events.parent[above[between]]
        between = (above >= 0) & ~wanted[above]
    return above


def among_calls(events: Events, part: DeviceAttribution, is_call: Mask) -> DeviceAttribution:
    """The same with what a call draws without the *calls* in it, and the program without calls, whatever else ran."""
    above = nearest(events, is_call)
    inside = np.flatnonzero(is_call & (above >= 0))
    exclusive = part.joules - sums(above[inside], part.joules[inside], len(events))
    outermost = is_call & (above < 0)
    return replace(
        part, exclusive=exclusive, outside_joules=part.program_joules - float(part.joules[outermost].sum())
    )
