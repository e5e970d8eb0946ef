"""Records API calls from inside the measured program, with the standard library alone (Python 3.8 to 3.13).

`install` gives the program a builtin, `__energy_probe__(site, function, *args, **kwargs)`, which calls the
function and notes when it began and ended. Times are nanoseconds of the system-wide monotonic clock, which the
sampler in its own process reads as well.

Between two API calls the processor's caches have lost the probe, so each thing it touches costs far more than in
a loop: it notes site, begin, end and whether a graph is being built, and nothing else. Which call is nested in
which follows from the times on each thread, and `events.py` finds it. Only about calls that take `MARKED_NS` or more,
so that it does not show, it also looks at the CPU time of the process and of the thread (`marking`).

What is no call in the source (imports, graphs that are built, callbacks, steps of an iteration: `phase_hooks.py`) is
recorded in the same rows, under numbers from `sites` on that are given out as they come up and are written to
`places-PID.jsonl` at once. So that a program that is killed keeps what it did, rows are written at least every
`FLUSH_NS` of calls, and a call that is the first of its site or may be long is noted when it begins, in a row of
`OPEN` columns.

Each thread keeps its rows in a list of its own and writes them to `events-PID.bin` when there are `CHUNK` of
them. After `EXACT` rows, neighbouring short calls of one site are merged before they are written, so a program
with millions of calls needs neither memory nor disk without bound.

The probe leaves no trace in what the program can see: exceptions pass through without a frame of the probe in
their traceback, and a warning raised with a stack level points at the program's own line.
"""

from __future__ import annotations

import builtins
import functools
import itertools
import json
import os
import sys
import threading
import time
from array import array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType, TracebackType
    from typing import Any, Callable, Dict, Iterable, Iterator, List, NoReturn, Optional, Sequence, Tuple

    Arguments = Tuple[Any, ...]
    Keywords = Dict[str, Any]
    Signature = Tuple[Tuple[str, ...], int, int, int]
    OpenCall = Tuple[int, int]

NAME = "__energy_probe__"
MAGIC = 0x454E4552
ROW = 4
"""Site, start, end, whether a graph was being built."""
MARK = 3
"""A time, and the CPU time of the process and of the thread at it."""
OPEN = 5
"""Site, start, whether a graph is being built, CPU time of the process and of the thread: a call that has begun."""
MERGED_ROW = 8
CHUNK = 4096
LOOK = 256
EXACT = 100_000
MERGED_SPAN_NS = 10_000_000
MERGED_CALL_NS = 1_000_000
MARKED_NS = 500_000
MARKED_NS_OF_MANY = 20_000_000
"""Once there are `EXACT` marks only calls this long get any: then they grow no faster than what a sampler writes."""
SIGNATURES = 8
ELEMENTS = 64
KEPT_BYTES = 64 << 20
KEPT_TOTAL_BYTES = 256 << 20
WRITING_SECONDS = 10.0
FLUSH_NS = 250_000_000
NOTE_NS = 1_000_000_000
NOTE_SHARE = 200
"""Writing what belongs to sites takes at most one part in so many of the time."""
LONG_NS = 50_000_000
"""A site whose last call took so long has the next one noted when it begins."""

# `warnings` skips frames whose file name holds "importlib" and "_bootstrap" when it counts stack levels.
HIDDEN_FILE = "<energy-lsp importlib._bootstrap probe>"

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
            path = os.path.join(self.folder, "places-%d.jsonl" % self.process)
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                os.write(handle, line.encode("utf-8", "backslashreplace"))
            finally:
                os.close(handle)
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
        if self.file is None:
            path = os.path.join(self.folder, "events-%d.bin" % self.process)
            self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.write(self.file, words.tobytes())
        return rows

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
        }
        path = os.path.join(self.folder, "calls-%d.json" % self.process)
        with open(path + ".part", "w", encoding="utf-8") as file:
            json.dump(found, file)
        os.replace(path + ".part", path)


def open_calls(ident: int) -> List[OpenCall]:
    """Start and site of the calls that a thread is in, outermost first: its stack says."""
    found: List[OpenCall] = []
    frame: Optional[FrameType] = sys._current_frames().get(ident)
    while frame is not None:
        if frame.f_code.co_filename == HIDDEN_FILE and "start" in frame.f_locals:
            found.append((frame.f_locals["start"], frame.f_locals["site"]))
        frame = frame.f_back
    return found[::-1]


def merge(flat: List[int], around: List[OpenCall], since: int) -> Tuple[List[int], List[int]]:
    """Join neighbouring short calls of one site in the same surroundings; rows are in order of their ends.

    Gives the rows of calls that began before `since`, as they are, and the joined ones. `around`: the calls that
    have not ended yet.
    """
    plain: List[int] = []
    joined: List[List[int]] = []
    groups: Dict[Any, List[int]] = {}
    # From the last call back to the first: the calls that the next one may be in, each with the nearest call about
    # it that is not merged itself.
    inside: List[Tuple[int, int, OpenCall]] = [(start, site, (start, site)) for start, site in around]
    for site, start, end, tracing in reversed(list(zip(*[iter(flat)] * ROW))):  # noqa: B905 (not before 3.10)
        while inside and inside[-1][0] >= start:
            inside.pop()
        outer_start, outer_site, surroundings = inside[-1] if inside else (0, -1, (0, -1))
        flags = 2 * len(inside) + tracing
        took = end - start
        if start < since:
            plain += (site, start, end, tracing)
            inside.append((start, site, (start, site)))
            continue
        row = [site, start, end, outer_start, outer_site, flags, took, 1]
        if took > MERGED_CALL_NS:
            joined.append(row)
            inside.append((start, site, (start, site)))
            continue
        inside.append((start, site, surroundings))
        key = (site, flags, outer_site, surroundings)
        group = groups.get(key)
        if group is None or group[2] - start > MERGED_SPAN_NS:
            groups[key] = row
            joined.append(row)
        else:
            group[1] = start
            group[3] = outer_start
            group[6] += took
            group[7] += 1
    return plain, list(itertools.chain.from_iterable(joined))


def make_probe(recorder: Recorder) -> Callable[..., Any]:
    """The function that takes the place of each instrumented call."""
    now = clock
    cpu_now = cpu_clock
    thread_now = thread_clock
    marking = recorder.marking
    local = recorder.local
    enter_thread = recorder.enter_thread
    modules = sys.modules
    strip_here = sys.version_info >= (3, 11)
    synchronise: Optional[Callable[[], object]] = None
    look_for_gpu = recorder.gpu
    wait_for: Optional[Callable[[Any], object]] = None

    eager: Callable[[], bool]
    eager_tensor: Optional[type] = None

    def ask_later() -> bool:
        nonlocal eager, eager_tensor
        tensorflow = modules.get("tensorflow")
        found = getattr(tensorflow, "executing_eagerly", None)
        if found is None:
            return True
        eager_tensor = getattr(getattr(tensorflow, "__internal__", None), "EagerTensor", None)
        eager = found
        return eager()

    eager = ask_later

    def probe(site: int, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        nonlocal synchronise, look_for_gpu, wait_for
        try:
            add, countdown, marked, mark = local.state
        except AttributeError:
            add, countdown, marked, mark = enter_thread()
        left = countdown[site] = countdown[site] - 1
        announced = not left or marked[site] > 1
        if not left:
            local.thread.look(site, function, args, kwargs, not eager())
            wait_for = wait_for or waiting()
        if look_for_gpu and eager():
            synchronise, look_for_gpu = gpu_synchronisation()
        if synchronise is not None and eager():
            synchronise()
        result = None
        if announced:
            local.thread.open(site, not eager())
        cpu_start, thread_start = (cpu_now(), thread_now()) if marked[site] else (0, 0)
        start = now()
        try:
            result = function(*args, **kwargs)
            if synchronise is not None and eager():
                synchronise()
            if wait_for is not None:
                wait_for(result)
            return result
        except BaseException as error:
            if strip_here and error.__traceback__ is not None:
                error.__traceback__ = error.__traceback__.tb_next
            raise
        finally:
            end = now()
            if marking:
                if cpu_start:
                    mark((start, cpu_start, thread_start, end, cpu_now(), thread_now()))
                took = end - start
                marked[site] = (took >= recorder.marked_ns) + (took >= LONG_NS)
            # To ask TensorFlow takes long, and who gets a tensor with values need not ask.
            traced = type(result) is not eager_tensor and (not eager() or is_tracer(result))
            add((site, start, end, traced))
            if announced:
                recorder.flush_here(0.0)

    probe.__code__ = probe.__code__.replace(co_filename=HIDDEN_FILE)
    probe.autograph_info__ = None  # type: ignore[attr-defined]  # AutoGraph then calls it as it is
    return probe


def wrapped(
    recorder: Recorder, plain: Callable[..., Any], choose: Callable[[Arguments, FrameType], Tuple[int, int]]
) -> Callable[..., Any]:
    """A function in place of another one of the libraries, whose calls are recorded under a number of `Recorder.place`.

    `choose(arguments, caller)` gives the number, below zero for calls that are not recorded, and the number for a
    call that ends an iteration, which is none of its steps.
    """
    now = clock
    strip_here = sys.version_info >= (3, 11)

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        site, ending = choose(args, sys._getframe(1))
        marked, lasted, cpu_start, thread_start = False, 0, 0, 0
        if site >= 0:
            thread = recorder.thread()
            lasted = thread.lasted.get(site, LONG_NS)
            if lasted >= LONG_NS:
                thread.open(site, False)
            marked = recorder.marking and lasted >= recorder.marked_ns
            if marked:
                cpu_start, thread_start = cpu_clock(), thread_clock()
        start = now()
        try:
            return plain(*args, **kwargs)
        except BaseException as error:
            if ending >= 0 and isinstance(error, StopIteration):
                site = ending
            if strip_here and error.__traceback__ is not None:
                error.__traceback__ = error.__traceback__.tb_next
            raise
        finally:
            if site >= 0:
                end = now()
                if marked:
                    thread.marks.extend((start, cpu_start, thread_start, end, cpu_clock(), thread_clock()))
                thread.lasted[site] = end - start
                thread.rows.extend((site, start, end, 0))
                if lasted >= LONG_NS or len(thread.rows) >= CHUNK * ROW or end - thread.written > FLUSH_NS:
                    recorder.flush([thread])

    functools.update_wrapper(wrapper, plain)
    wrapper.__code__ = wrapper.__code__.replace(co_filename=HIDDEN_FILE)
    wrapper.autograph_info__ = None  # type: ignore[attr-defined]
    return wrapper


def install(
    folder: str, sites: int, pure: Iterable[int] = (), gpu: bool = False, marking: bool = False
) -> Recorder:
    """Start recording `sites` call sites into `folder`, and make the probe a builtin of the program."""
    recorder = Recorder(folder, sites, pure, gpu, marking)
    setattr(builtins, NAME, make_probe(recorder))
    if hasattr(os, "register_at_fork"):

        def after_fork() -> None:
            recorder.after_fork()
            setattr(builtins, NAME, make_probe(recorder))

        os.register_at_fork(after_in_child=after_fork)
    if sys.version_info < (3, 11):
        hide_probe_frames()
    leave = os._exit

    def leave_with_everything_written(status: int) -> NoReturn:
        try:
            recorder.finish()
        finally:
            leave(status)

    # Programs that leave this way, and forked children of multiprocessing, which all do, run no exit
    # handlers.
    os._exit = leave_with_everything_written
    return recorder


def gpu_synchronisation() -> Tuple[Optional[Callable[[], object]], bool]:
    """TensorFlow's own way to wait for the GPU where it sees one, and whether to look again next time."""
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow is None:
        return None, True
    try:
        if tensorflow.config.list_physical_devices("GPU"):
            return tensorflow.test.experimental.sync_devices, False
    except Exception:
        return None, False  # too old for it, or not TensorFlow at all
    return None, False


def waiting() -> Optional[Callable[[Any], object]]:
    """What waits until a result is there, for libraries whose calls return before their work is done."""
    jax = sys.modules.get("jax")
    if hasattr(jax, "block_until_ready"):
        block = jax.block_until_ready  # type: ignore[union-attr]

        def wait_for(result: Any) -> None:
            try:
                block(result)
            except Exception:
                return  # a value that stands for others while a function is traced; or one that was given away

        return wait_for
    torch = sys.modules.get("torch")
    try:
        if torch is not None and torch.cuda.is_available():
            return lambda result: torch.cuda.synchronize()
    except Exception:
        return None  # half loaded
    return None


def is_tracer(result: Any) -> bool:
    """Whether a result stands for others while JAX traces a function."""
    return type(result).__name__.endswith("Tracer") and "jax" in sys.modules


def hide_probe_frames() -> None:
    """Before Python 3.11 a re-raised exception keeps the probe's frame: leave it out where one is printed."""
    import traceback

    plain_walk = traceback.walk_tb

    def walk_tb(tb: Optional[TracebackType]) -> Iterator[Tuple[FrameType, int]]:
        return (item for item in plain_walk(tb) if item[0].f_code.co_filename != HIDDEN_FILE)

    def excepthook(kind: type, error: BaseException, tb: Optional[TracebackType]) -> None:
        sys.stderr.write("".join(traceback.format_exception(kind, error, tb)))

    traceback.walk_tb = walk_tb
    sys.excepthook = excepthook


def repeatable(args: Arguments, kwargs: Keywords) -> bool:
    """Whether the same inputs mean the same twice: an iterator is used up by the first call."""
    return not any(hasattr(type(value), "__next__") for value in (*args, *kwargs.values()))


def input_signature(function: Callable[..., Any], args: Arguments, kwargs: Keywords) -> Signature:
    """Shapes and dtypes of tensor-like inputs; bytes of arguments, keywords and object; nothing is copied."""
    texts: List[str] = []
    in_args = sum([described(value, texts, "") for value in args])
    in_kwargs = sum([described(value, texts, name + "=") for name, value in kwargs.items()])
    owner = getattr(function, "__self__", function)
    return tuple(texts[:ELEMENTS]), in_args, in_kwargs, object_bytes(owner)


def described(value: Any, texts: List[str], label: str, level: int = 0) -> int:
    """Bytes of a value; each tensor in it is named in `texts`."""
    kind = type(value)
    try:
        if hasattr(kind, "shape") and hasattr(kind, "dtype"):
            text, size = tensor(value)
            texts.append(label + text)
            return size
        if kind in (str, bytes, bytearray):
            return len(value)
        if kind in (int, float, bool, complex):
            return 8
        if level < 3 and kind in (list, tuple) and value:
            shown = value[:ELEMENTS]
            size = sum([described(item, texts, label, level + 1) for item in shown])
            return size if len(shown) == len(value) else size * len(value) // len(shown)
        if level < 3 and kind is dict:
            some = list(itertools.islice(value.values(), ELEMENTS))
            return sum([described(item, texts, label, level + 1) for item in some])
        return int(value.nbytes) if hasattr(kind, "nbytes") else 0
    except Exception:
        return 0  # an object that only looks like a tensor


def tensor(value: Any) -> Tuple[str, int]:
    """`float32[128,784]` and its bytes."""
    shape = [None if side is None else int(side) for side in value.shape]
    dtype = value.dtype
    sides = ",".join(["?" if side is None else str(side) for side in shape])
    size = int(getattr(dtype, "itemsize", None) or getattr(dtype, "size", None) or 4)
    for side in shape:
        size *= 1 if side is None else side
    return "%s[%s]" % (getattr(dtype, "name", dtype), sides), size


def object_bytes(value: Any) -> int:
    """Bytes of the object a method belongs to: a tensor's own, or those of a model's or layer's weights."""
    kind = type(value)
    try:
        if hasattr(kind, "shape") and hasattr(kind, "dtype"):
            return tensor(value)[1]
        if hasattr(kind, "weights"):
            return sum([tensor(weight)[1] for weight in value.weights])
    except Exception:
        return 0  # weights that are not there yet
    return 0


def children_cpu() -> int:
    """CPU nanoseconds of the processes that were started and have ended."""
    times = os.times()
    return int((times.children_user + times.children_system) * 1e9)


def versions(with_device: bool = False) -> Dict[str, str]:
    """Versions and settings that decide what a call does; `with_device`: at the end, as asking may set a library up."""
    found = {"python": sys.version.split()[0]}
    for name in ("tensorflow", "keras"):
        found[name] = version(name)
    keras: Any = sys.modules.get("keras") or sys.modules.get("tf_keras")
    found["backend"] = backend = told(lambda: keras.backend.backend()) or (
        "tensorflow" if found["tensorflow"] else ""
    )
    if backend:
        found["backend_version"] = version(backend)
        found["precision"] = told(lambda: keras.config.dtype_policy().name) or told(
            lambda: keras.mixed_precision.global_policy().name
        )
    if backend and with_device:
        library: Any = sys.modules.get(backend)
        found["device"] = {
            "tensorflow": lambda: (
                told(lambda: library.config.list_physical_devices("GPU") and "gpu") or "cpu"
            ),
            "jax": lambda: told(lambda: library.default_backend()),
            "torch": lambda: told(lambda: library.cuda.is_available() and "gpu") or "cpu",
        }.get(backend, str)()
    return found


def version(name: str) -> str:
    """Of a library that the program has loaded."""
    return str(getattr(sys.modules.get(name), "__version__", ""))


def told(ask: Callable[[], Any]) -> str:
    """What a library says, where it has the function that is asked."""
    try:
        return str(ask() or "")
    except Exception:
        return ""
