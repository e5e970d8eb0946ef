"""What the probe recorded of a run, as arrays: when each call began and ended, where, inside which other.

A run folder holds one `events-PID.bin` for each process of the program (see `probe.py` for who writes them).
A file is a row of chunks of int64: a header (`MAGIC`, thread, rows, columns), then the rows. Columns are
`COLUMNS`; chunks with only the first seven of them hold single calls. In a program with a very great number
of calls, neighbouring short calls of one site are merged into one row: `count` calls, `busy` nanoseconds
spent in them between `start` and `end`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

MAGIC = 0x454E4552
HEADER = 4
COLUMNS = ("site", "start", "end", "nested", "parent_start", "parent_site", "flags", "busy", "count")
PLAIN = 7

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Events:
    """Calls sorted by their start; times are nanoseconds of the system-wide monotonic clock."""

    site: Integers
    """Index into the list of instrumented call sites."""
    thread: Integers
    """Dense number of the thread, different for threads of different processes."""
    start: Integers
    end: Integers
    busy: Integers
    """Nanoseconds inside the call: `end - start` unless calls were merged."""
    nested: Integers
    """Nanoseconds of `busy` that went to API calls directly inside this one, on the same thread."""
    count: Integers
    """How many calls the row stands for: 1 unless merged."""
    depth: Integers
    """How many API calls it stands in on its thread."""
    tracing: npt.NDArray[np.bool_]
    """The call ran while a graph was being built: its energy is that of tracing."""
    parent: Integers
    """Index of the event it is nested in, -1 at the top (or where the enclosing call never ended)."""

    def __len__(self) -> int:
        return len(self.site)

    @classmethod
    def empty(cls) -> Events:
        """No calls at all."""
        return _events(np.zeros((0, len(COLUMNS) + 1), dtype=np.int64))

    @classmethod
    def of(
        cls,
        site: Sequence[int],
        start: Sequence[int],
        end: Sequence[int],
        *,
        thread: Sequence[int] | None = None,
        tracing: Sequence[bool] | None = None,
    ) -> Events:
        """Events from plain lists of single calls; nesting follows from the times on each thread."""
        rows = np.zeros((len(site), len(COLUMNS) + 1), dtype=np.int64)
        rows[:, 0], rows[:, 1], rows[:, 2] = site, start, end
        rows[:, 6] = 0 if tracing is None else np.asarray(tracing, dtype=np.int64)
        rows[:, 7] = rows[:, 2] - rows[:, 1]
        rows[:, 8] = 1
        rows[:, 9] = 0 if thread is None else thread
        _nest(rows)
        return _events(rows)

    @classmethod
    def read(cls, folder: Path) -> Events:
        """All events of a run folder; a chunk cut off by a killed process is left out."""
        parts: list[Integers] = []
        threads: dict[tuple[str, int], int] = {}
        for path in sorted(folder.glob("events-*.bin")):
            for thread, rows in _chunks(path):
                number = threads.setdefault((path.name, thread), len(threads))
                parts.append(_complete(rows, number))
        if not parts:
            return cls.empty()
        return _events(np.concatenate(parts))


def _chunks(path: Path) -> list[tuple[int, Integers]]:
    data = path.read_bytes()
    words = np.frombuffer(data, dtype="<i8", count=len(data) // 8).astype(np.int64, copy=False)
    found: list[tuple[int, Integers]] = []
    at = 0
    while at + HEADER <= len(words) and words[at] == MAGIC:
        thread, rows, columns = (int(word) for word in words[at + 1 : at + HEADER])
        begin = at + HEADER
        at = begin + rows * columns
        if at > len(words):
            break
        found.append((thread, words[begin:at].reshape(rows, columns)))
    return found


def _complete(rows: Integers, thread: int) -> Integers:
    full = np.empty((len(rows), len(COLUMNS) + 1), dtype=np.int64)
    full[:, : rows.shape[1]] = rows
    if rows.shape[1] == PLAIN:
        full[:, 7] = rows[:, 2] - rows[:, 1]
        full[:, 8] = 1
    full[:, 9] = thread
    return full


def _events(rows: Integers) -> Events:
    depth = rows[:, 6] >> 1
    order = np.lexsort((depth, rows[:, 1]))
    rows, depth = rows[order], depth[order]
    site, start, end, nested, parent_start, parent_site, flags, busy, count, thread = (
        np.ascontiguousarray(column) for column in rows.T
    )
    parent = _parents(site, thread, depth, start, end, parent_start, parent_site)
    tracing = (flags & 1).astype(np.bool_)
    return Events(site, thread, start, end, busy, nested, count, depth, tracing, parent)


def _parents(
    site: Integers,
    thread: Integers,
    depth: Integers,
    start: Integers,
    end: Integers,
    parent_start: Integers,
    parent_site: Integers,
) -> Integers:
    """For each call the call around it: same thread, one level up, right site, covering the parent's start.

    Rows of one (thread, depth, site) never overlap, merged or not, so the last one that began in time is it.
    """
    parent = np.full(len(site), -1, dtype=np.int64)
    inner = np.flatnonzero(depth > 0)
    if not len(inner):
        return parent
    sites, depths = int(max(site.max(), parent_site.max())) + 1, int(depth.max()) + 1
    own = (thread * depths + depth) * sites + site
    wanted = (thread[inner] * depths + depth[inner] - 1) * sites + parent_site[inner]
    groups = np.unique(own)
    group, wanted_group = np.searchsorted(groups, own), np.searchsorted(groups, wanted)
    # One number per row, group first and time second: 10,000 groups over a day still fit into 63 bits.
    origin, span = int(start.min()), int(end.max() - start.min()) + 1
    keys = group * span + (start - origin)
    order = np.argsort(keys, kind="stable")
    sought = wanted_group * span + np.clip(parent_start[inner] - origin, 0, span - 1)
    at = np.searchsorted(keys[order], sought, side="right") - 1
    candidate = order[np.maximum(at, 0)]
    fits = (at >= 0) & (own[candidate] == wanted) & (parent_start[inner] <= end[candidate])
    parent[inner[fits]] = candidate[fits]
    return parent


def _nest(rows: Integers) -> None:
    """Fill depth, parent and nested time of single calls from their times."""
    order = np.lexsort((-rows[:, 2], rows[:, 1], rows[:, 9]))
    stack: list[int] = []
    for index in order:
        row = rows[index]
        while stack and (rows[stack[-1], 9] != row[9] or rows[stack[-1], 2] <= row[1]):
            stack.pop()
        if stack:
            outer = rows[stack[-1]]
            row[4], row[5] = outer[1], outer[0]
            outer[3] += row[7]
        else:
            row[4], row[5] = 0, -1
        row[6] |= len(stack) << 1
        stack.append(index)
