"""What is recorded in one process: rows of calls, their inputs, and the files that they go to (Python 3.8 to 3.13)."""

from __future__ import annotations

import itertools
import json
import os
import sys
import threading
import time
from array import array

from .inputs import input_signature, repeatable
from .libraries import gpu_synchronisation, versions, waiting
from .ring import DUE, Ring, write
from .rows import BEGUN, CHECKPOINT, MAGIC, MERGED_ROW, RECORD, ROW, merge, open_calls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Set, Tuple

    from .inputs import Arguments, Keywords, Signature
    from .rows import OpenCall

LOOK = 256
EXACT = 100_000
MARKED_NS = 500_000
MARKED_NS_OF_MANY = 20_000_000
"""Once there are `EXACT` marks only calls this long get any: then they grow no faster than what a sampler writes."""
SIGNATURES = 8
KEPT_BYTES = 64 << 20
KEPT_TOTAL_BYTES = 256 << 20
WRITING_SECONDS = 10.0
NOTE_NS = 1_000_000_000
NOTE_SHARE = 200
"""Writing what belongs to sites takes at most one part in so many of the time."""
PER_MARK_NS = 100_000
"""A call long enough for marks has one more call of its site marked for each of these that it took: of the steps of an
iteration one in a hundred may be the long one. Marks take a few hundredths of the time."""
LONG = 500
"""Marks after a call of 50 ms or more; the next call of its site is also noted when it begins."""

clock = time.monotonic_ns
cpu_clock = time.process_time_ns
thread_clock = time.thread_time_ns


class Thread:
    """One thread of the program: how soon to look at each site, and whether the next call of a site gets marks."""

    def __init__(self, recorder: Recorder, index: int) -> None:
        self.recorder = recorder
        self.index = index
        self.ident = threading.get_ident()
        self.ended = False
        self.counted: Dict[int, int] = {}
        self.countdown = [1] * recorder.sites
        self.marked = [int(recorder.marking)] * recorder.sites
        """How many of the next calls of a site get marks; `LONG` where the next may be long."""
        self.marked_later: Dict[int, int] = {}
        """The same for sites that are given out as they come up."""

    def look(
        self, site: int, function: Callable[..., Any], args: Arguments, kwargs: Keywords, tracing: bool
    ) -> None:
        """Note the inputs at the first call of a site, the second, the fourth …"""
        seen = self.counted.get(site, 1)
        if seen & (seen - 1) == 0:
            self.recorder.observe(site, function, args, kwargs, tracing)
        pause = min(seen, LOOK)
        self.counted[site] = seen + pause
        self.countdown[site] = pause

    def begin(self, site: int, tracing: bool) -> None:
        """Note that a call begins: the process may not live to see its end."""
        self.recorder.note_sites()
        now, cpu, thread = self.recorder.clocks()
        self.recorder.write(BEGUN - 2 * site - tracing, now, cpu, thread, self.index)

    def mark(self, moment: int, cpu: int, thread: int) -> None:
        """Note the CPU time of the process and of this thread at a moment."""
        self.recorder.write(CHECKPOINT, moment, cpu, thread, self.index)
        self.recorder.count_mark()


class Leaving:
    """Kept by a thread, and gone with it."""

    def __init__(self, thread: Thread) -> None:
        self.thread = thread

    def __del__(self) -> None:
        # May run anywhere, so that it only says so.
        self.thread.ended = True


class Recorder:
    """Everything recorded in this process."""

    def __init__(
        self, folder: str, sites: int, pure: Iterable[int] = (), gpu: bool = False, marking: bool = False
    ) -> None:
        self.folder = folder
        self.sites = sites
        self.pure = frozenset(pure)
        self.gpu = gpu
        self.marking = marking
        self.begin = self.end = clock()
        self.error = ""
        """What the program ended with, in one line."""
        self.compiling: Optional[Callable[[], bool]] = None
        """Says that a library compiles what runs, and sees through the probe then."""
        self.look_through: Callable[[Callable[[], bool]], None]
        """Tells the probe of this process who says so."""
        self._start_process()

    def _start_process(self) -> None:
        self.process = os.getpid()
        self.rings: Dict[str, Ring] = {}
        self.lost = 0
        """Records that could not be written."""
        self.rows = self.marks = 0
        self.marked_ns = MARKED_NS
        self.merged_since: Optional[int] = None
        self.lock = threading.Lock()
        self.local = threading.local()
        self.threads: Dict[int, Thread] = {}
        self.numbers = itertools.count()
        self.names: Dict[int, str] = {}
        self.signatures: Dict[int, Dict[Signature, int]] = {}
        self.kept: Dict[int, Tuple[Callable[..., Any], Arguments, Keywords]] = {}
        self.kept_bytes = 0
        self.finished = False
        self.next_note = clock() + NOTE_NS
        self.places: Dict[Any, int] = {}
        self.place_numbers = itertools.count(self.sites)

    def place(self, key: Any, described: Callable[[], Dict[str, Any]]) -> int:
        """The number of something that is recorded beside the known sites; what it is is written at once."""
        number = self.places.get(key)
        if number is None:
            number = self.places.setdefault(key, next(self.place_numbers))
            line = json.dumps({"number": number, **described()}) + "\n"
            try:
                handle = self._open("places-%d.jsonl")
                try:
                    os.write(handle, line.encode("utf-8", "backslashreplace"))
                finally:
                    os.close(handle)
            except OSError:
                self.lost += 1
        return number

    def ring(self) -> Ring:
        """Where the rows of this process go; of two that make it at once, as a signal's handler may, the first is it."""
        if not self.rings:
            made = Ring(os.path.join(self.folder, "ring-%d-%d.bin" % (self.process, clock())))
            if self.rings.setdefault("ring", made) is not made:
                made.remove()
        return self.rings["ring"]

    def thread(self) -> Thread:
        """The calling thread."""
        thread: Optional[Thread] = getattr(self.local, "thread", None)
        if thread is None:
            self.enter_thread()
            thread = self.local.thread
        assert thread is not None
        return thread

    def clocks(self) -> Tuple[int, int, int]:
        """Now, and the CPU time of the process and of the calling thread."""
        return (clock(), cpu_clock(), thread_clock()) if self.marking else (clock(), 0, 0)

    def add(self, site: int, begin: Tuple[int, int, int], end: Tuple[int, int, int]) -> None:
        """Record what ran between two readings of `clocks`."""
        thread = self.thread()
        if self.marking and end[0] - begin[0] >= self.marked_ns:
            thread.mark(*begin)
            thread.mark(*end)
        self.write(site, begin[0], end[0], 0, thread.index)

    def checkpoint(self) -> None:
        """Note the CPU time of the process and of the calling thread as of now."""
        if self.marking:
            self.thread().mark(clock(), cpu_clock(), thread_clock())

    def count_mark(self) -> None:
        """After very many marks only long calls get any."""
        self.marks += 1
        if self.marks >= EXACT:
            self.marked_ns = MARKED_NS_OF_MANY

    def write(self, site: int, start: int, end: int, tracing: int, thread: int) -> None:
        """Record a row of one of the kinds in `rows.py`."""
        ring = self.ring()
        place = ring.place()
        if place in DUE:
            self.flush()
        write(ring.memory, place, site, start, end, tracing, thread)

    def after_fork(self) -> None:
        """A forked child records into a file of its own; what its parent had not written is the parent's."""
        self._start_process()

    def enter_thread(self) -> Tuple[Any, ...]:
        """What the probe needs in the calling thread, made at its first API call."""
        ring = self.ring()
        # No lock: a signal handler might find it held by what it interrupted.
        index = next(self.numbers)
        self.names[index] = threading.current_thread().name
        thread = self.threads[index] = self.local.thread = Thread(self, index)
        self.local.leaving = Leaving(thread)
        state = ring.memory, ring.place, index, thread.countdown, thread.marked, thread.mark
        self.local.state = state
        return state

    def observe(
        self, site: int, function: Callable[..., Any], args: Arguments, kwargs: Keywords, tracing: bool
    ) -> None:
        """Note the input signature, and what a replay of this site would need."""
        known = self.signatures.setdefault(site, {})
        signature = input_signature(function, args, kwargs)
        if signature in known or len(known) < SIGNATURES:
            known[signature] = known.get(signature, 0) + 1
        if site in self.pure and site not in self.kept and not tracing and repeatable(args, kwargs):
            size = signature[1] + signature[2]
            if size <= KEPT_BYTES and self.kept_bytes + size <= KEPT_TOTAL_BYTES:
                self.kept_bytes += size
                self.kept[site] = (function, args, kwargs)

    def synchronisation(self) -> Optional[Callable[[], object]]:
        """What waits for the GPU, where one is measured and used."""
        return gpu_synchronisation()[0] if self.gpu else None

    def result_waiting(self) -> Optional[Callable[[Any], object]]:
        """What waits for results of calls that return before their work is done; None where calls do not."""
        return waiting()

    def flush(self, seconds: float = 0.0) -> None:
        """Write what is in the ring to the file, unless somebody does so for longer than so many seconds.

        Who does may be interrupted by a signal or a finaliser that calls an API itself: it must not wait.
        """
        ring = self.rings.get("ring")
        if ring is None or not self.lock.acquire(timeout=seconds):
            return
        try:
            if os.getpid() == self.process:
                before = self.open_calls()
                parts = ring.rows()
                if self.merged_since is None:
                    for rows, _ in parts:
                        self.rows += self._append(-1, rows, RECORD)
                    if self.rows >= EXACT:
                        self.merged_since = clock()
                else:
                    self._write_merged([rows for rows, _ in parts], before)
                # Only now: who is killed in between has them twice, which can be told, and not lost.
                for rows, places in parts:
                    ring.clear(rows, places)
        finally:
            self.lock.release()

    def open_calls(self) -> Dict[int, Set[OpenCall]]:
        """The calls that each thread is in, by its number; while neighbouring calls are merged."""
        if self.merged_since is None:
            return {}
        frames = sys._current_frames()
        living = [thread for thread in list(self.threads.values()) if not thread.ended]
        return {thread.index: set(open_calls(frames.get(thread.ident))) for thread in living}

    def _write_merged(self, parts: Sequence[array[int]], before: Dict[int, Set[OpenCall]]) -> None:
        """Write rows with neighbouring short calls as one; `before`: what was open before they were read."""
        after = self.open_calls()
        threads: Dict[int, List[Tuple[int, ...]]] = {}
        for part in parts:
            rows = part.tolist()
            other = array("q")
            for at in range(0, len(rows), RECORD):
                if rows[at] < 0:
                    other.extend(rows[at : at + RECORD])
                else:
                    threads.setdefault(rows[at + ROW], []).append(tuple(rows[at : at + ROW]))
            self._append(-1, other, RECORD)
        for index, calls in threads.items():
            calls.sort(key=lambda row: row[2])
            around = sorted(before.get(index, set()) | after.get(index, set()))
            assert self.merged_since is not None
            plain, merged = merge(list(itertools.chain.from_iterable(calls)), around, self.merged_since)
            self.rows += self._append(index, array("q", merged), MERGED_ROW)
            self.rows += self._append(index, array("q", plain), ROW)
        for ended in [thread for thread in list(self.threads.values()) if thread.ended]:
            self.threads.pop(ended.index, None)

    def _append(self, thread: int, rows: array[int], columns: int) -> int:
        """Write rows of so many columns; gives how many."""
        count = len(rows) // columns
        if not count:
            return 0
        try:
            # Programs close descriptors that they do not know: none is kept whose number may be another file's by now.
            handle = self._open("events-%d.bin")
            try:
                os.write(handle, array("q", [MAGIC, thread, count, columns]).tobytes() + rows.tobytes())
            finally:
                os.close(handle)
        except OSError:  # no disk, no folder, no descriptors left: the program goes on, and is told nothing
            self.lost += count
            return 0
        return count

    def _open(self, name: str) -> int:
        path = os.path.join(self.folder, name % self.process)
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def finish(self) -> None:
        """Write everything."""
        self.flush(WRITING_SECONDS)
        for ring in self.rings.values():
            ring.remove()
        self.finished = True
        self.write_sites()

    def note_sites(self) -> None:
        """Write what belongs to sites now and then, for a process that is killed."""
        now = clock()
        if now >= self.next_note:
            self.next_note = now + (1 << 63)  # who interrupts us does not write as well
            self.write_sites()
            self.next_note = clock() + max(NOTE_NS, NOTE_SHARE * (clock() - now))

    def write_sites(self) -> None:
        """Write what belongs to sites rather than to single calls into `calls-PID.json`."""
        self.end = clock()
        found = {
            "finished": self.finished,
            "begin": self.begin,
            "end": self.end,
            "threads": self.names,
            "signatures": {
                site: [[*signature, seen] for signature, seen in known.items()]
                for site, known in self.signatures.items()
            },
            "replayable": sorted(self.kept),
            "versions": versions(self.finished),
            "error": self.error,
            "children_cpu": children_cpu(),
            "lost": self.lost,
        }
        path = os.path.join(self.folder, "calls-%d.json" % self.process)
        try:
            with open(path + ".part", "w", encoding="utf-8") as file:
                json.dump(found, file)
            os.replace(path + ".part", path)
        except OSError:
            self.lost += 1


def children_cpu() -> int:
    """CPU nanoseconds of the processes that were started and have ended."""
    times = os.times()
    return int((times.children_user + times.children_system) * 1e9)
