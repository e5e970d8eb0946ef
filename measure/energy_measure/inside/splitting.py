"""Splits the energy of a call among what ran in it.

Within each of the meter's windows the call's energy goes, at every instant, in equal parts to the operations that are
active: where nothing is, to the runtime. Shares of the windows that were looked at stand for those that were not,
function by function (a validation step is no training step), first executions and what lies between steps apart. On a
machine that is loaded the time that operations take says little; then the 2nd percentile of each operation's own
time is its weight.

An operation is active on the thread that runs it and on those that work for it; it counts once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from energy_measure.attribution.spans import sums
from energy_measure.injected.inside import reader

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

LOADED = 1.5
"""Operations take so many times the CPU time that the process got: others have the CPUs."""
UNEVEN = 1.4
"""Executions of an operation take so many times their median on average: some of them waited.

On a calm machine 1.06 to 1.23, on a busy one 1.2 to 6.6. Many short operations may have little of the CPU time, so that
`LOADED` alone does not see it.
"""
FEWEST = 5
"""Executions whose median says something."""
PERCENTILE = 2.0
"""At a load of 5 on each processor even the 10th still holds waiting (benchmarks/inside.py isolated)."""
BLOCKS = 8
"""Parts of the time looked at whose shares are compared for their error."""


@dataclass(frozen=True, slots=True, eq=False)
class Activity:
    """When instances of operations were active, in nanoseconds; intervals of one instance do not overlap."""

    origin: Integers
    """Number of the origin of each interval."""
    instance: Integers
    start: Integers
    end: Integers

    def __len__(self) -> int:
        return len(self.start)

    @classmethod
    def of(cls, rows: Integers, origins: Integers) -> Activity:
        """Intervals of the same instance on several threads are joined where they overlap."""
        if not len(rows):
            nothing = np.zeros(0, np.int64)
            return cls(nothing, nothing, nothing, nothing)
        instance, start, end = rows[:, 3], rows[:, 4], rows[:, 5]
        order = np.lexsort((start, instance))
        instance, start, end, origins = instance[order], start[order], end[order], origins[order]
        # One axis for all instances: each lies behind the one before it. An instance is of one session, and these are short.
        _, session = np.unique(rows[order, 0], return_inverse=True)
        first_of = np.full(int(session.max()) + 1, np.iinfo(np.int64).max)
        np.minimum.at(first_of, session, start)
        span = int((end - first_of[session]).max()) + 1
        _, dense = np.unique(instance, return_inverse=True)
        shift = dense.astype(np.int64) * span - first_of[session]
        reached = np.maximum.accumulate(end + shift)
        begins = np.concatenate(([True], (start + shift)[1:] > reached[:-1]))
        first = np.flatnonzero(begins)
        last = np.append(first[1:], len(start)) - 1
        return cls(origins[first], instance[first], start[first], (reached - shift)[last])


@dataclass(frozen=True, slots=True, eq=False)
class Density:
    """A call's net power along the time axis: level between edges, zero where the call does not run."""

    edges: Integers
    watts: Floats

    def joules(self) -> float:
        """All of it."""
        return float(np.sum(self.watts * np.diff(self.edges)) * 1e-9)

    def sparser(self, factor: int) -> Density:
        """As a meter would say it that is read so many times less often."""
        joules = self.watts * np.diff(self.edges)
        first = np.arange(0, len(joules), factor)
        edges = np.append(self.edges[:-1][first], self.edges[-1])
        return Density(edges, np.add.reduceat(joules, first) / np.diff(edges))

    def within(self, starts: Integers, ends: Integers) -> Density:
        """The same, zero outside of intervals that are in order and do not overlap."""
        if not len(starts):
            return Density(self.edges, np.zeros_like(self.watts))
        edges = np.unique(np.concatenate((self.edges, starts, ends)))
        middles = edges[:-1]
        watts = self.watts[np.clip(np.searchsorted(self.edges, middles, "right") - 1, 0, len(self.watts) - 1)]
        watts = np.where((middles >= self.edges[0]) & (middles < self.edges[-1]), watts, 0.0)
        at = np.searchsorted(starts, middles, "right") - 1
        inside = (at >= 0) & (middles < ends[np.maximum(at, 0)])
        return Density(edges, np.where(inside, watts, 0.0))

    def without(self, starts: Integers, ends: Integers) -> Density:
        """The same, zero inside of the intervals."""
        if not len(starts):
            return self
        inside = self.within(starts, ends)
        at = np.clip(np.searchsorted(self.edges, inside.edges[:-1], "right") - 1, 0, len(self.watts) - 1)
        held = (inside.edges[:-1] >= self.edges[0]) & (inside.edges[:-1] < self.edges[-1])
        return Density(inside.edges, np.where(held, self.watts[at], 0.0) - inside.watts)


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """How the energy of some time is split: a share of each origin, and what no operation holds."""

    origins: Floats
    runtime: float
    variance: Floats
    """Of the origins' shares, from the blocks that were looked at."""
    runtime_variance: float
    looked_at: float
    """Joules in the time that was looked at."""


def shares(
    activity: Activity, density: Density, count: int, *, loaded: bool, weights: Floats | None
) -> Shares:
    """Shares of `count` origins in the energy of a density; `weights`: of each interval, where the machine is loaded."""
    total = density.joules()
    if total <= 0.0 or not len(activity):
        return Shares(np.zeros(count), 1.0, np.zeros(count), 0.0, max(total, 0.0))
    edges, per_operation = _per_active(activity, density)
    until = np.concatenate(([0.0], np.cumsum(per_operation * np.diff(edges) * 1e-9)))
    held = np.interp(activity.end, edges, until) - np.interp(activity.start, edges, until)
    busy = float(held.sum())
    if loaded and weights is not None and busy > 0.0:
        own = np.where(held > 0.0, weights, 0.0)
        held = own * (busy / max(float(own.sum()), 1e-300))
    by_origin = sums(activity.origin, held, count)
    per_block = _per_block(activity, density, held, count)
    return Shares(
        by_origin / total,
        max(0.0, 1.0 - busy / total),
        np.asarray(np.var(per_block, axis=1, ddof=1) / BLOCKS),
        float(np.var(per_block.sum(axis=0), ddof=1) / BLOCKS),
        total,
    )


def _per_active(activity: Activity, density: Density) -> tuple[Integers, Floats]:
    """Along the axis the power that each active operation has."""
    edges = np.unique(np.concatenate((density.edges, activity.start, activity.end)))
    change = np.zeros(len(edges))
    np.add.at(change, np.searchsorted(edges, activity.start), 1.0)
    np.add.at(change, np.searchsorted(edges, activity.end), -1.0)
    active = np.cumsum(change)[:-1]
    at = np.clip(np.searchsorted(density.edges, edges[:-1], "right") - 1, 0, len(density.watts) - 1)
    held = (edges[:-1] >= density.edges[0]) & (edges[:-1] < density.edges[-1])
    watts = np.where(held, density.watts[at], 0.0)
    return edges, np.divide(watts, active, out=np.zeros_like(watts), where=active > 0.5)


def _per_block(activity: Activity, density: Density, held: Floats, count: int) -> Floats:
    """Shares of the origins in blocks of equal energy."""
    until = np.concatenate(([0.0], np.cumsum(density.watts * np.diff(density.edges) * 1e-9)))
    middles = np.interp((activity.start + activity.end) / 2.0, density.edges, until)
    block = np.minimum((middles / until[-1] * BLOCKS).astype(np.int64), BLOCKS - 1)
    table = sums(activity.origin * BLOCKS + block, held, count * BLOCKS).reshape(count, BLOCKS)
    return np.asarray(table / (until[-1] / BLOCKS))


def _took(rows: Integers, activity: Activity) -> tuple[Integers, Floats, list[Integers]]:
    """Instances, how long each was active on any thread, and which of them are of one name."""
    instances, dense = np.unique(activity.instance, return_inverse=True)
    took = sums(dense, (activity.end - activity.start).astype(np.float64), len(instances))
    name = np.zeros(len(instances), np.int64)
    name[np.searchsorted(instances, rows[:, 3])] = rows[:, 1]
    order = np.argsort(name, kind="stable")
    bounds = np.flatnonzero(np.diff(name[order], prepend=-1))
    return instances, took, np.split(order, bounds[1:])


def percentile_weights(rows: Integers, activity: Activity) -> Floats:
    """For each interval its part of the 2nd percentile, over all instances of the name, of what an instance took."""
    if not len(rows):
        return np.zeros(0)
    instances, took, alike = _took(rows, activity)
    usual = np.zeros(len(instances))
    for group in alike:
        usual[group] = np.percentile(took[group], PERCENTILE)
    at = np.searchsorted(instances, activity.instance)
    intervals = sums(at, np.ones(len(activity)), len(instances))
    return np.asarray(usual[at] / np.maximum(intervals[at], 1.0))


def is_loaded(rows: Integers, activity: Activity, cpu_ns: float) -> bool:
    """Whether operations waited for CPUs that others had; `cpu_ns`: CPU time of the process in the same windows."""
    return wall_over_cpu(rows, cpu_ns) > LOADED or mean_over_median(rows, activity) > UNEVEN


def mean_over_median(rows: Integers, activity: Activity) -> float:
    """How many times its median an execution of an operation took on average; an operation's first one is apart."""
    if not len(rows):
        return 1.0
    _, took, alike = _took(rows, activity)
    later = [took[group[1:]] for group in alike if len(group) > FEWEST]
    usual = sum(float(np.median(one)) * len(one) for one in later)
    return sum(float(one.sum()) for one in later) / usual if usual > 0.0 else 1.0


def wall_over_cpu(rows: Integers, cpu_ns: float) -> float:
    """How many times longer operations took, on all threads, than the CPU time of the process in the same windows."""
    if cpu_ns <= 0.0 or not len(rows):
        return 1.0
    computing = np.isin(rows[:, 2], (reader.OPERATION, reader.WORKER, reader.COMPILED, reader.EAGER))
    return float((rows[computing, 5] - rows[computing, 4]).sum()) / cpu_ns


def joined(intervals: Sequence[tuple[int, int]] | Integers) -> tuple[Integers, Integers]:
    """Intervals in order, those that overlap as one: their starts and ends."""
    data = np.asarray(intervals, dtype=np.int64).reshape(-1, 2)
    data = data[data[:, 1] > data[:, 0]]
    if not len(data):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    data = data[np.argsort(data[:, 0], kind="stable")]
    reached = np.maximum.accumulate(data[:, 1])
    begins = np.concatenate(([True], data[1:, 0] > reached[:-1]))
    first = np.flatnonzero(begins)
    last = np.append(first[1:], len(data)) - 1
    return data[first, 0], reached[last]
