"""What the probe recorded of a run, as arrays: when each call began and ended, where, inside which other.

A run folder holds one `events-PID.bin` for each process of the program (see `injected/probe` for who writes them).
A file is a row of chunks of int64: a header (`MAGIC`, thread, rows, columns), then the rows. Those with the columns
`RECORD` are of all threads: single calls, of which what is nested in what follows from their times; CPU times (`MARK`, see
`cpu_checkpoints.py`); calls that have begun (`OPEN`): of a process that was killed some never ended. In a program with a
very great number of calls, neighbouring short calls of one site are merged into one row with the columns `COLUMNS`:
`count` calls, `busy` nanoseconds spent in them between `start` and `end`. What a process had not written when it was
killed is in its `ring-PID-….bin`, in rows like `RECORD`; those without a start are empty.

Numbers of sites from the number of instrumented calls on are given out by each process as it meets something else
to record; `renumbered` makes them the same for all processes and runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

MAGIC = 0x454E4552
HEADER = 4
PLAIN = ("site", "start", "end", "tracing")
RECORD = (*PLAIN, "thread")
MARK = ("time", "cpu", "thread cpu")
OPEN = ("site", "start", "tracing", "cpu", "thread cpu")
CHECKPOINT, BEGUN = -1, -2
"""In place of a site: what else a row is (`injected/probe/rows.py`)."""
COLUMNS = ("site", "start", "end", "parent_start", "parent_site", "flags", "busy", "count")

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

    @property
    def nested(self) -> Integers:
        """Nanoseconds that went to API calls directly inside each one, on the same thread."""
        total = np.zeros(len(self), dtype=np.int64)
        inner = self.parent >= 0
        np.add.at(total, self.parent[inner], self.busy[inner])
        return total

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
        marks = np.zeros(len(site)) if tracing is None else tracing
        rows = np.array([site, start, end, marks], dtype=np.int64).T
        return _events(
            _completed(rows, np.zeros(len(site), np.int64) if thread is None else np.array(thread))
        )

    @classmethod
    def read(
        cls,
        folder: Path,
        renumbered: Mapping[str, Mapping[int, int]] | None = None,
        killed_at: int | None = None,
        known: int | None = None,
    ) -> Events:
        """All events of a run folder; a chunk cut off by a killed process is left out.

        `renumbered`: for each file the numbers of sites to be replaced. `killed_at`: when the program was ended: calls
        that it was in end there. `known`: how many sites there are; what a number stands for may not have been written.
        """
        plain: list[Integers] = [np.zeros((0, len(PLAIN)), dtype=np.int64)]
        plain_threads: list[Integers] = [np.zeros(0, dtype=np.int64)]
        merged: list[Integers] = []
        threads: dict[tuple[str, int], int] = {}
        for path in files(folder):
            numbers = (renumbered or {}).get(path.name, {})
            found = [(thread, _known(_with_numbers(rows, numbers), known)) for thread, rows in chunks(path)]
            if killed_at is not None:
                found += _never_ended(found, killed_at)
            for thread, rows in found:
                if rows.shape[1] in (len(MARK), len(OPEN)):
                    continue
                number = np.full(len(rows), threads.setdefault((path.name, thread), len(threads)))
                if rows.shape[1] == len(PLAIN):
                    plain.append(rows)
                    plain_threads.append(number)
                else:
                    merged.append(np.column_stack((rows, number)))
        single = _completed(np.concatenate(plain), np.concatenate(plain_threads))
        return _events(np.concatenate([single, *merged]))


def _with_numbers(rows: Integers, numbers: Mapping[int, int]) -> Integers:
    """Rows with other numbers of sites, where they are to be replaced."""
    columns = {len(PLAIN): (0,), len(OPEN): (0,), len(COLUMNS): (0, 4)}.get(rows.shape[1], ())
    if not numbers or not columns:
        return rows
    rows = rows.copy()
    for column in columns:
        rows[:, column] = [numbers.get(site, site) for site in rows[:, column].tolist()]
    return rows


def _known(rows: Integers, sites: int | None) -> Integers:
    """Rows of sites that there are."""
    if sites is None or rows.shape[1] == len(MARK):
        return rows
    return rows[rows[:, 0] < sites]


def _never_ended(found: Sequence[tuple[int, Integers]], killed_at: int) -> list[tuple[int, Integers]]:
    """The calls that each thread of a process was in when it was killed, as rows that end there."""
    began: dict[int, dict[int, tuple[int, int]]] = {}
    ended: dict[int, dict[int, int]] = {}
    for thread, rows in found:
        if rows.shape[1] == len(OPEN):
            began.setdefault(thread, {}).update((row[0], (row[1], row[2])) for row in rows.tolist())
        elif rows.shape[1] != len(MARK):
            last = ended.setdefault(thread, {})
            for site, _, end in rows[:, :3].tolist():
                last[site] = max(end, last.get(site, 0))
    lost: list[tuple[int, Integers]] = []
    for thread, calls in began.items():
        last = ended.get(thread, {})
        open_calls = [
            (site, start, killed_at, tracing)
            for site, (start, tracing) in calls.items()
            if last.get(site, 0) < start < killed_at
        ]
        if open_calls:
            lost.append((thread, np.array(open_calls, dtype=np.int64)))
    return lost


def files(folder: Path) -> list[Path]:
    """The file of each process, whether or not it came to write anything to it before it was killed."""
    rings = (folder / f"events-{path.stem.split('-')[1]}.bin" for path in folder.glob("ring-*-*.bin"))
    return sorted({*folder.glob("events-*.bin"), *rings})


def chunks(path: Path) -> list[tuple[int, Integers]]:
    """The thread and the rows of each chunk of a process's file; one cut off by a killed process is left out."""
    words = _words(path)
    found: list[tuple[int, Integers]] = []
    written = np.zeros((0, len(RECORD)), dtype=np.int64)
    at = 0
    while at + HEADER <= len(words) and words[at] == MAGIC:
        thread, rows, columns = (int(word) for word in words[at + 1 : at + HEADER])
        begin = at + HEADER
        at = begin + rows * columns
        if at > len(words):
            break
        chunk = words[begin:at].reshape(rows, columns)
        if columns == len(RECORD):
            written = chunk
            found += _by_thread(chunk)
        else:
            found.append((thread, chunk))
    return found + _by_thread(_not_written(path, written))


def _not_written(path: Path, written: Integers) -> Integers:
    """What is left in a process's ring; `written`: what it wrote last, and may have had no time to take away from there."""
    known = {tuple(row) for row in written.tolist()}
    left: list[list[int]] = []
    for ring in sorted(path.parent.glob(path.stem.replace("events-", "ring-", 1) + "-*.bin")):
        words = _words(ring)
        rows = words[: len(words) // len(RECORD) * len(RECORD)].reshape(-1, len(RECORD))
        left += [row for row in rows[rows[:, 1] != 0].tolist() if tuple(row) not in known]
    return np.array(left, dtype=np.int64).reshape(-1, len(RECORD))


def _words(path: Path) -> Integers:
    data = path.read_bytes() if path.exists() else b""
    return np.frombuffer(data, dtype="<i8", count=len(data) // 8).astype(np.int64, copy=False)


def _by_thread(records: Integers) -> list[tuple[int, Integers]]:
    """Records of all threads as rows of each: calls, marks, calls that have begun."""
    found: list[tuple[int, Integers]] = []
    for thread in np.unique(records[:, 4]).tolist():
        rows = records[records[:, 4] == thread]
        kind = rows[:, 0]
        begun = rows[kind <= BEGUN]
        site, tracing = np.divmod(BEGUN - begun[:, 0], 2)
        opened = np.column_stack((site, begun[:, 1], tracing, begun[:, 2:4]))
        parts = (rows[kind >= 0, :4], rows[kind == CHECKPOINT, 1:4], opened)
        found += [(thread, part) for part in parts if len(part)]
    return found


def _completed(plain: Integers, thread: Integers) -> Integers:
    """Single calls with all columns and their thread, in order of their starts.

    What began earlier on a thread and has not ended holds a call: so many calls deep it is, and the last of them that
    is one level up holds it directly.
    """
    order = np.lexsort((-plain[:, 2], plain[:, 1], thread))
    (site, start, end, tracing), thread = plain[order].T, thread[order]
    rows = np.zeros((len(plain), len(COLUMNS) + 1), dtype=np.int64)
    if len(rows):
        origin, span = int(start.min()), int(end.max() - start.min()) + 1
        ended = np.searchsorted(
            np.sort(thread * span + end - origin), thread * span + start - origin, "right"
        )
        depth = np.maximum(np.arange(len(rows)) - ended, 0)
        parent = _one_level_up(thread * (int(depth.max()) + 1) + depth, depth)
        held = (parent >= 0) & (end[parent] >= end)
        rows[:, 3] = np.where(held, start[parent], 0)
        rows[:, 4] = np.where(held, site[parent], -1)
        rows[:, 5] = np.where(held, depth, 0) << 1 | tracing
    rows[:, 0], rows[:, 1], rows[:, 2] = site, start, end
    rows[:, 6], rows[:, 7], rows[:, 8] = end - start, 1, thread
    return rows


def _one_level_up(level: Integers, depth: Integers) -> Integers:
    """For each row the last one before it whose level is one less; -1 at the top."""
    place = np.arange(len(level))
    keys = np.sort(level * len(level) + place)
    at = np.searchsorted(keys, (level - 1) * len(level) + place) - 1
    found = np.where(at >= 0, keys[at] % len(level), -1)
    return np.where((depth > 0) & (at >= 0), found, -1)


def _events(rows: Integers) -> Events:
    depth = rows[:, 5] >> 1
    order = np.lexsort((depth, rows[:, 1]))
    rows, depth = rows[order], depth[order]
    site, start, end, parent_start, parent_site, flags, busy, count, thread = (
        np.ascontiguousarray(column) for column in rows.T
    )
    parent = _parents(site, thread, depth, start, end, parent_start, parent_site)
    tracing = (flags & 1).astype(np.bool_)
    return Events(site, thread, start, end, busy, count, depth, tracing, parent)


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
