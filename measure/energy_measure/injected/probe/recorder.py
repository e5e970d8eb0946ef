"""What is recorded in one process: rows of calls, their inputs, and the files that they go to (Python 3.8 to 3.13)."""

from __future__ import annotations

import itertools
import json
import os
import threading
import time
from array import array

from .inputs import input_signature, repeatable
from .libraries import gpu_synchronisation, versions, waiting
from .rows import MAGIC, MARK, MERGED_ROW, OPEN, ROW, merge, open_calls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple

    from .inputs import Arguments, Keywords, Signature

CHUNK = 4096
LOOK = 256
EXACT = 100_000
MARKED_NS = 500_000
MARKED_NS_OF_MANY = 20_000_000
"""Once there are `EXACT` marks only calls this long get any: then they grow no faster than what a sampler writes."""
SIGNATURES = 8
KEPT_BYTES = 64 << 20
KEPT_TOTAL_BYTES = 256 << 20
WRITING_SECONDS = 10.0
FLUSH_NS = 250_000_000
NOTE_NS = 1_000_000_000
NOTE_SHARE = 200
"""Writing what belongs to sites takes at most one part in so many of the time."""
LONG_NS = 50_000_000
"""A site whose last call took so long has the next one noted when it begins."""

clock = time.monotonic_ns
cpu_clock = time.process_time_ns
thread_clock = time.thread_time_ns


class Thread:
    """One thread of the program: its rows not yet written, end to end, how soon to look at each site, and whether the
    next call of a site gets marks."""

    def __init__(self, recorder: Recorder, index: int) -> None:
        self.recorder = recorder
        self.index = index
        self.ident = threading.get_ident()
        self.ended = False
        self.counted: Dict[int, int] = {}
        self.rows: List[int] = []
        self.marks: List[int] = []
        self.countdown = [1] * recorder.sites
        self.marked = [int(recorder.marking)] * recorder.sites
        """Whether the next call of a site gets marks: 1, and 2 where it may be long."""
        self.lasted: Dict[int, int] = {}
        """Nanoseconds of the last call of the sites that are given out as they come up."""
        self.written = clock()

    def look(
        self, site: int, function: Callable[..., Any], args: Arguments, kwargs: Keywords, tracing: bool
    ) -> None:
        """Note the inputs at the first call of a site, the second, the fourth …; write the rows if many."""
        seen = self.counted.get(site, 1)
        if seen & (seen - 1) == 0:
            self.recorder.observe(site, function, args, kwargs, tracing)
        pause = min(seen, LOOK)
        self.counted[site] = seen + pause
        self.countdown[site] = pause
        if len(self.rows) >= CHUNK * ROW or clock() - self.written > FLUSH_NS:
            self.recorder.flush([self])

    def open(self, site: int, tracing: bool) -> None:
        """Note that a call begins, and write everything before it: the process may not live to see its end."""
        self.recorder.flush([self])
        self.recorder.note_sites()
        now, cpu, thread = self.recorder.clocks()
        self.recorder.write_open(self, [site, now, tracing, cpu, thread])


class Leaving:
    """Kept by a thread, and gone with it."""

    def __init__(self, thread: Thread) -> None:
        self.thread = thread

    def __del__(self) -> None:
        # May run anywhere, so that it only says so; the next to write will write these rows too.
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
        self._start_process()

    def _start_process(self) -> None:
        self.process = os.getpid()
        self.file: Optional[int] = None
        self.opened: Any = None
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
            thread.marks.extend(begin + end)
        thread.rows.extend((site, begin[0], end[0], 0))
        if end[0] - thread.written > FLUSH_NS:
            self.flush([thread])

    def checkpoint(self) -> None:
        """Note the CPU time of the process and of the calling thread as of now."""
        if self.marking:
            self.thread().marks.extend((clock(), cpu_clock(), thread_clock()))

    def write_open(self, thread: Thread, row: List[int]) -> None:
        """Write that a call has begun; not while somebody writes, who may be who we have interrupted."""
        if self.lock.acquire(blocking=False):
            try:
                if os.getpid() == self.process:
                    self._append(thread, row, OPEN)
            finally:
                self.lock.release()

    def after_fork(self) -> None:
        """A forked child records into a file of its own; what its parent had not written is the parent's."""
        self._start_process()

    def enter_thread(self) -> Tuple[Any, ...]:
        """What the probe needs in the calling thread, made at its first API call."""
        self.flush([thread for thread in list(self.threads.values()) if thread.ended])
        # No lock: a signal handler might find it held by what it interrupted.
        index = next(self.numbers)
        self.names[index] = threading.current_thread().name
        thread = self.threads[index] = self.local.thread = Thread(self, index)
        self.local.leaving = Leaving(thread)
        state = thread.rows.extend, thread.countdown, thread.marked, thread.marks.extend
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

    def flush(self, threads: Sequence[Thread], seconds: float = 0.0) -> None:
        """Write the rows of some threads, unless somebody writes for longer than so many seconds.

        Who writes may be interrupted by a signal or a finaliser that calls an API itself: it must not wait.
        """
        if not threads or not self.lock.acquire(timeout=seconds):
            return
        try:
            if os.getpid() == self.process:
                for thread in threads:
                    self._write(thread)
        finally:
            self.lock.release()

    def _write(self, thread: Thread) -> None:
        ended = thread.ended
        thread.written = clock()
        around = open_calls(thread.ident) if self.merged_since is not None and not ended else []
        count = len(thread.rows)
        flat = thread.rows[:count]
        # Whoever is in a call holds on to this very list, and may have added to it by now.
        del thread.rows[:count]
        self._write_checkpoints(thread)
        if ended:
            self.threads.pop(thread.index, None)
        if self.merged_since is not None:
            flat, merged = merge(flat, around, self.merged_since)
            self.rows += self._append(thread, merged, MERGED_ROW)
        self.rows += self._append(thread, flat, ROW)
        if self.rows >= EXACT and self.merged_since is None:
            self.merged_since = clock()

    def _write_checkpoints(self, thread: Thread) -> None:
        count = len(thread.marks)
        flat = thread.marks[:count]
        del thread.marks[:count]
        self.marks += self._append(thread, flat, MARK)
        if self.marks >= EXACT:
            self.marked_ns = MARKED_NS_OF_MANY

    def _append(self, thread: Thread, flat: List[int], columns: int) -> int:
        """Write rows of so many columns; gives how many."""
        if not flat:
            return 0
        rows = len(flat) // columns
        words = array("q", [MAGIC, thread.index, rows, columns])
        words.fromlist(flat)
        try:
            os.write(self._events(), words.tobytes())
        except OSError:  # no disk, no folder, no descriptors left: the program goes on, and is told nothing
            self.lost += rows
            return 0
        return rows

    def _events(self) -> int:
        """The file of rows. Programs close descriptors that they do not know: its number may be another file's by now."""
        try:
            if self.file is not None and os.path.samestat(os.fstat(self.file), self.opened):
                return self.file
        except OSError:
            pass
        self.file = self._open("events-%d.bin")
        self.opened = os.fstat(self.file)
        return self.file

    def _open(self, name: str) -> int:
        path = os.path.join(self.folder, name % self.process)
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def flush_here(self, seconds: float = WRITING_SECONDS) -> None:
        """Write the rows of the calling thread."""
        thread = getattr(self.local, "thread", None)
        if thread is not None:
            self.flush([thread], seconds)

    def finish(self) -> None:
        """Write everything."""
        self.flush(list(self.threads.values()), WRITING_SECONDS)
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
