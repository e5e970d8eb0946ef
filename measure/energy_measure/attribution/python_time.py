"""How much CPU time the program's own threads used outside of everything that is recorded: Python between calls.

A thread notes its CPU time at both ends of what takes half a millisecond or more, and at the beginning and end of the
program. Between two such checkpoints lie either the inside of something recorded, or Python with short calls in it;
short calls compute all the time, so that what they took is taken off.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from energy_measure.attribution.cpu_checkpoints import CpuCheckpoints
from energy_measure.attribution.events import Events, Integers


@dataclass(frozen=True, slots=True)
class OutsideTime:
    """CPU seconds outside of recorded calls."""

    python: float
    """Of the threads that run Python code of the program."""
    process: float
    """Of all threads of the process, those of libraries that outlive calls included."""


def outside_time(checkpoints: CpuCheckpoints, events: Events) -> OutsideTime:
    """CPU time of the program's first process outside of its outermost events; its thread 0 is the main thread."""
    python = process = 0.0
    outermost = np.flatnonzero(events.parent < 0)
    for number, rows in checkpoints.threads.items():
        if len(rows) < 2:
            continue
        used = np.maximum(np.diff(rows[:, 2]), 0)
        all_used = np.maximum(np.diff(rows[:, 1]), 0)
        thread = _thread_of(rows, events)
        own = outermost[events.thread[outermost] == thread]
        inside = np.zeros(len(used), dtype=np.bool_)
        short = np.zeros(len(used))
        marked = np.isin(events.start[own], rows[:, 0]) & np.isin(events.end[own], rows[:, 0])
        first = np.searchsorted(rows[:, 0], events.start[own], side="left")
        last = np.searchsorted(rows[:, 0], events.end[own], side="right") - 1
        for begin, end in zip(first[marked].tolist(), last[marked].tolist(), strict=True):
            inside[begin:end] = True
        at = first[~marked] - 1
        held = (at >= 0) & (at < len(used))
        np.add.at(short, at[held], events.busy[own][~marked][held])
        python += float(np.maximum(used - short, 0)[~inside].sum())
        process += float(np.maximum(all_used - short, 0)[~inside].sum()) if number == 0 else 0.0
    return OutsideTime(python * 1e-9, max(process, python) * 1e-9)


def _thread_of(rows: Integers, events: Events) -> int:
    """The thread of the events that made these checkpoints: the one whose events begin at them; -1 for none."""
    found = events.thread[np.isin(events.start, rows[:, 0])]
    return int(np.bincount(found).argmax()) if len(found) else -1
