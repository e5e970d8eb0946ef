"""What the program's own process noted of its CPU time, about calls long enough that looking does not show.

The clock of a process, read from outside, is up to a tick of the kernel old, and calls are shorter than the time
between two readings. Read by a thread of the process itself it is exact for this thread, and for all that are asleep.
So where energy is estimated from CPU time, marks at the ends of calls are put among the sampler's readings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from energy_measure.attribution.events import MARK, OPEN, Events, Integers, chunks
from energy_measure.sampling.trace import SampledTrace

DOUBT_NS = 100_000.0
"""Standard deviation of a mark at least. Measured against the kernel's exact clock: 2 µs about calls on one thread, 80 to
140 µs about those that use several, 440 µs about Keras' `fit` of 90 ms."""
NEARBY_NS = 20_000_000
LOOKING_NS = 10_000
"""The two clocks of a mark are read within this time."""


@dataclass(frozen=True, slots=True, eq=False)
class CpuCheckpoints:
    """Moments of the monotonic clock and the CPU nanoseconds that a process had used by then."""

    times_ns: Integers
    cpu_ns: Integers
    """Since the meter began to count the process."""

    threads: Mapping[int, Integers] = field(default_factory=dict)
    """For each thread: moments, and CPU nanoseconds of the process and of the thread by then, in order of time."""

    def __len__(self) -> int:
        return len(self.times_ns)

    @classmethod
    def read(cls, folder: Path, process: int, counted_from: int, killed: bool = False) -> CpuCheckpoints:
        """Those of one process of a run, in order of time; `counted_from`: its CPU time when the meter began to count.

        Of a process that was killed the beginnings of calls that may not have ended count too.
        """
        path = folder / f"events-{process}.bin"
        found: dict[int, list[Integers]] = {}
        for thread, rows in chunks(path):
            if rows.shape[1] == len(MARK):
                found.setdefault(thread, []).append(rows)
            elif killed and rows.shape[1] == len(OPEN):
                found.setdefault(thread, []).append(rows[:, [1, 3, 4]])
        threads = {thread: np.concatenate(parts) for thread, parts in found.items()}
        threads = {thread: rows[np.argsort(rows[:, 0], kind="stable")] for thread, rows in threads.items()}
        rows = np.concatenate([np.zeros((0, len(MARK)), dtype=np.int64), *threads.values()])
        times, places = np.unique(rows[:, 0], return_index=True)
        # Between looking at the one clock and at the other another thread may have made a mark of its own.
        cpu = np.maximum.accumulate(rows[places, 1]) - counted_from if len(times) else times
        return cls(times, cpu, threads)

    def hold(self, events: Events) -> npt.NDArray[np.bool_]:
        """Which calls have a mark at either end."""
        return np.isin(events.start, self.times_ns) & np.isin(events.end, self.times_ns)


def with_checkpoints(
    sources: Sequence[SampledTrace], marks: CpuCheckpoints, events: Events, joules_per_ns: float
) -> SampledTrace:
    """One trace of the whole program: `sources` are the readings of the marked process, and of what it started."""
    own, others = sources
    readings = _needed(own.times_ns, marks, events)
    times = np.concatenate((own.times_ns[readings], marks.times_ns))
    values = np.concatenate((own.values[readings], marks.cpu_ns * joules_per_ns))
    ages = np.repeat([own.update_period_s, 0.0], [int(readings.sum()), len(marks)])
    exactly = np.full(int(readings.sum()), own.quantum / np.sqrt(12.0))
    noises = np.concatenate((exactly, _doubts(marks, own.update_period_s * 1e9) * joules_per_ns))
    order = np.argsort(times, kind="stable")
    times = times[order]
    beside = np.interp(times, others.times_ns, others.values) if len(others) else 0.0
    return replace(
        own,
        times_ns=times,
        values=np.maximum.accumulate(values[order]) + beside,
        ages_s=ages[order],
        noises=noises[order],
        source=f"{own.source} + {others.source}",
    )


def _doubts(marks: CpuCheckpoints, tick_ns: float) -> npt.NDArray[np.float64]:
    """Standard deviation, in CPU nanoseconds, of each mark: threads that run beside the one that made it are known as of
    their last tick. How many did is seen from what the process used nearby, and since the mark before."""
    seconds = np.maximum(np.diff(marks.times_ns), 1)
    beyond = np.maximum(np.diff(marks.cpu_ns) - seconds - LOOKING_NS, 0) / seconds
    beside = np.maximum(np.append(0.0, beyond), np.append(beyond, 0.0))
    first, last = (
        np.interp(marks.times_ns + away, marks.times_ns, marks.cpu_ns) for away in (-NEARBY_NS, NEARBY_NS)
    )
    beside = np.maximum(beside, (last - first) / (2 * NEARBY_NS) - 1.0)
    return np.asarray(np.sqrt(DOUBT_NS**2 + np.maximum(beside, 0.0) * tick_ns**2 / 12.0))


def _needed(times_ns: Integers, marks: CpuCheckpoints, events: Events) -> npt.NDArray[np.bool_]:
    """Readings that say something: not those between two marks with a single call, or none, between them."""
    ends = np.sort(np.concatenate((events.start, events.end)))
    after = np.searchsorted(marks.times_ns, times_ns)
    between = (after > 0) & (after < len(marks))
    left = marks.times_ns[np.maximum(after - 1, 0)]
    right = marks.times_ns[np.minimum(after, len(marks) - 1)]
    alone = np.searchsorted(ends, left, side="right") == np.searchsorted(ends, right, side="left")
    return np.asarray(~(between & alone))
