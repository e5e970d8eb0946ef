"""What a meter saw over time: the arrays that attribution works on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from energy_data.model import DEVICES, Device
from energy_measure.meters.interface import Kind as Kind


@dataclass(frozen=True, slots=True, eq=False)
class SampledTrace:
    """Readings of one device, in the order they were taken.

    A reading carries the time at which it was *taken*; the meter's own value is up to `update_period_s`
    older. A reading of an `energy` trace is the joules counted since the trace began, a reading of a `power`
    trace is the mean power over the `window_s` before the meter's last update. `quantum` is the step of one
    reading, in joules or in watts. Readings that failed (a device that vanished) are left out: a gap in
    `times_ns` is a gap in knowledge.
    """

    device: Device
    times_ns: npt.NDArray[np.int64]
    """On CLOCK_MONOTONIC, increasing."""
    kind: Kind
    values: npt.NDArray[np.float64]
    update_period_s: float
    window_s: float = 0.0
    quantum: float = 0.0
    source: str = ""
    """What was read: `package-0`, `GPU 0`, or a sum of several."""
    estimated: bool = False
    ages_s: npt.NDArray[np.float64] | None = None
    """How old each reading may be, where that differs from reading to reading: else up to `update_period_s`."""
    noises: npt.NDArray[np.float64] | None = None
    """Standard deviation of each reading, where that differs: else what follows from `quantum`."""
    limit_watts: float = 0.0
    """The most the device can draw, where that is known."""

    def __post_init__(self) -> None:
        if self.times_ns.shape != self.values.shape or self.times_ns.ndim != 1:
            raise ValueError(f"{len(self.times_ns)} times for {len(self.values)} readings of {self.device}")

    def __len__(self) -> int:
        return len(self.times_ns)

    def between(self, start_ns: int, end_ns: int) -> SampledTrace:
        """The readings taken from `start_ns` up to and including `end_ns`; the arrays are views."""
        first = int(np.searchsorted(self.times_ns, start_ns, side="left"))
        last = int(np.searchsorted(self.times_ns, end_ns, side="right"))
        return self._part(slice(first, last))

    def around(self, start_ns: int, end_ns: int) -> SampledTrace:
        """The same, with the last reading before and the first one after: what lies in between is known then."""
        first = int(np.searchsorted(self.times_ns, start_ns, side="right")) - 1
        last = int(np.searchsorted(self.times_ns, end_ns, side="left"))
        return self._part(slice(max(first, 0), last + 1))

    def changes(self) -> SampledTrace:
        """The first reading and those that differ from the one before: where the meter was seen to update."""
        if len(self) == 0:
            return self
        return self._part(np.concatenate(([True], np.diff(self.values) != 0)))

    def _part(self, places: slice | npt.NDArray[np.bool_]) -> SampledTrace:
        ages = None if self.ages_s is None else self.ages_s[places]
        noises = None if self.noises is None else self.noises[places]
        return replace(
            self, times_ns=self.times_ns[places], values=self.values[places], ages_s=ages, noises=noises
        )


def per_device(traces: Iterable[SampledTrace]) -> list[SampledTrace]:
    """One trace per device and kind: sockets and GPUs that were read together are added up.

    All sources of a device have to come from the same sampler (they share its time stamps); only ticks at
    which every source answered are kept, because a sum with a missing part would look like a drop in power.
    """
    groups: dict[tuple[Device, Kind], list[SampledTrace]] = {}
    for trace in traces:
        groups.setdefault((trace.device, trace.kind), []).append(trace)
    ordered = sorted(groups, key=lambda key: (DEVICES.index(key[0]), key[1]))
    return [_sum(groups[key]) for key in ordered]


def _sum(traces: list[SampledTrace]) -> SampledTrace:
    first = traces[0]
    if len(traces) == 1:
        return first
    times = first.times_ns
    for trace in traces[1:]:
        times = np.intersect1d(times, trace.times_ns, assume_unique=True)
    values = np.zeros(len(times), dtype=np.float64)
    for trace in traces:
        values += trace.values[np.searchsorted(trace.times_ns, times)]
    return SampledTrace(
        first.device,
        times,
        first.kind,
        values,
        max(trace.update_period_s for trace in traces),
        max(trace.window_s for trace in traces),
        float(np.sqrt(sum(trace.quantum**2 for trace in traces))),
        " + ".join(trace.source for trace in traces),
        any(trace.estimated for trace in traces),
        limit_watts=_limit(traces),
    )


def _limit(traces: list[SampledTrace]) -> float:
    """Of all together; what processes are estimated to draw comes from the same CPUs."""
    limits = [trace.limit_watts for trace in traces]
    if any(trace.estimated for trace in traces):
        return max(limits)
    return sum(limits) if all(limits) else 0.0
