"""Takes what looking itself cost out of the account: sessions of the profiler begin and end within calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from energy_measure.attribution.events import Events, Integers
from energy_measure.attribution.solver import DeviceAttribution


class Overhead:
    """Intervals in which the program did nothing of its own, as calls beside those of the program."""

    def __init__(self, events: Events, intervals: Sequence[tuple[int, int]]) -> None:
        self.plain = events
        self.count = len(intervals)
        if not self.count:
            self.events, self._kept = events, np.ones(len(events), np.bool_)
            self._ancestors: list[list[int]] = []
            return
        starts = np.array([start for start, _ in intervals], np.int64)
        ends = np.array([end for _, end in intervals], np.int64)
        parents = np.array([_innermost(events, *one) for one in intervals], np.int64)
        held = parents >= 0
        above = np.maximum(parents, 0)
        some = len(events) > 0
        site = np.full(self.count, int(events.site.max(initial=0)) + 2, np.int64)
        order = np.lexsort(
            (
                np.concatenate((events.depth, np.where(held, events.depth[above] + 1 if some else 0, 0))),
                np.concatenate((events.start, starts)),
            )
        )
        place = np.empty_like(order)
        place[order] = np.arange(len(order))

        def both(old: Integers, new: Integers) -> Integers:
            return np.concatenate((old, new))[order]

        new_parents = np.where(held, place[above], -1)
        old_parents = np.where(events.parent >= 0, place[np.maximum(events.parent, 0)], -1)
        self._kept = order < len(events)
        self.events = Events(
            both(events.site, site),
            both(events.thread, np.where(held, events.thread[above], 0) if some else site * 0),
            both(events.start, starts),
            both(events.end, ends),
            both(events.busy, ends - starts),
            both(events.count, np.ones(self.count, np.int64)),
            both(events.depth, np.where(held, events.depth[above] + 1, 0) if some else site * 0),
            np.concatenate((events.tracing, np.zeros(self.count, np.bool_)))[order],
            both(old_parents, new_parents),
        )
        self._ancestors = [self._above(row) for row in np.flatnonzero(~self._kept).tolist()]

    def _above(self, row: int) -> list[int]:
        found = []
        while (row := int(self.events.parent[row])) >= 0:
            found.append(row)
        return found

    def without(self, found: DeviceAttribution) -> DeviceAttribution:
        """What was attributed to the program's own events, without the energy of looking."""
        if not self.count:
            return found
        joules = found.joules.copy()
        own = np.flatnonzero(~self._kept)
        for row, ancestors in zip(own.tolist(), self._ancestors, strict=True):
            joules[ancestors] -= found.joules[row]
        kept = self._kept
        spent = float(np.sum(found.joules[own]))
        return replace(
            found,
            joules=joules[kept],
            stderr=found.stderr[kept],
            exclusive=found.exclusive[kept],
            exclusive_stderr=found.exclusive_stderr[kept],
            level_error=found.level_error[kept],
            tail=found.tail[kept],
            shared=found.shared[kept],
            seen=found.seen[kept],
            program_joules=found.program_joules - spent,
        )

    def corrected(self) -> Events:
        """The program's own events, with the time that they were busy."""
        if not self.count:
            return self.plain
        busy = self.events.busy.copy()
        for row, ancestors in zip(np.flatnonzero(~self._kept).tolist(), self._ancestors, strict=True):
            busy[ancestors] -= self.events.busy[row]
        return replace(self.plain, busy=np.maximum(busy[self._kept], 1))

    @property
    def seconds(self) -> float:
        """How long it took altogether."""
        return float(np.sum((self.events.end - self.events.start)[~self._kept])) * 1e-9


def _innermost(events: Events, start: int, end: int) -> int:
    """The last call that began before an interval and ends after it; -1: none."""
    around = np.flatnonzero((events.start <= start) & (events.end >= end))
    return int(around[np.lexsort((events.depth[around], events.start[around]))[-1]]) if len(around) else -1
