"""Records API calls from inside the measured program, with the standard library alone (Python 3.8 to 3.13).

`install` gives the program a builtin, `__energy_probe__(site, function, *args, **kwargs)`, which calls the
function and notes when it began and ended. One such call costs about a microsecond. Times are nanoseconds of
the system-wide monotonic clock, which the sampler in its own process reads as well.

Each thread keeps its rows in a list of its own and writes them to `events-PID.bin` when there are `CHUNK` of
them (`events.py` reads that file). After `EXACT` rows, neighbouring short calls of one site are merged before
they are written, so a program with millions of calls needs neither memory nor disk without bound.

The probe leaves no trace in what the program can see: exceptions pass through without a frame of the probe in
their traceback, and a warning raised with a stack level points at the program's own line.
"""

from __future__ import annotations

import builtins
import itertools
import json
import os
import sys
import threading
import time
import weakref
from array import array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType, TracebackType
    from typing import Any, Callable, Dict, Iterable, Iterator, List, NoReturn, Optional, Tuple

    Row = Tuple[int, ...]
    Arguments = Tuple[Any, ...]
    Keywords = Dict[str, Any]
    Signature = Tuple[Tuple[str, ...], int, int, int]

NAME = "__energy_probe__"
MAGIC = 0x454E4552
ROW = 7
ROWS, COUNTDOWN = 4, 5
"""Where they stand in the state of a thread."""
CHUNK = 4096
LOOK = 256
EXACT = 100_000
MERGED_SPAN_NS = 10_000_000
MERGED_CALL_NS = 1_000_000
SIGNATURES = 8
ELEMENTS = 64
KEPT_BYTES = 64 << 20
KEPT_TOTAL_BYTES = 256 << 20

# `warnings` skips frames whose file name holds "importlib" and "_bootstrap" when it counts stack levels.
HIDDEN_FILE = "<energy-lsp importlib._bootstrap probe>"

clock = time.monotonic_ns


class Thread:
    """One thread of the program: the call it is in, the rows not yet written, how soon to look at each site.

    `state` is a plain list because the probe reads and writes it on each call: start and site of the innermost
    open call, the nanoseconds nested in it, twice its depth, the rows end to end, and a countdown per site.
    """

    __slots__ = ("__weakref__", "counted", "index", "recorder", "state")

    def __init__(self, recorder: Recorder, index: int) -> None:
        self.recorder = recorder
        self.index = index
        self.counted: Dict[int, int] = {}
        self.state: List[Any] = [0, -1, 0, 0, [], [1] * recorder.sites]

    def __del__(self) -> None:
        # The thread has ended, and its thread-local state goes with it.
        self.recorder.flush(self)

    def look(
        self, site: int, function: Callable[..., Any], args: Arguments, kwargs: Keywords, tracing: bool
    ) -> None:
        """Note the inputs at the first call of a site, the second, the fourth …; write the rows if many."""
        seen = self.counted.get(site, 1)
        if seen & (seen - 1) == 0:
            self.recorder.observe(site, function, args, kwargs, tracing)
        pause = min(seen, LOOK)
        self.counted[site] = seen + pause
        self.state[COUNTDOWN][site] = pause
        if len(self.state[ROWS]) >= CHUNK * ROW:
            self.recorder.flush(self)


class Recorder:
    """Everything recorded in this process."""

    def __init__(self, folder: str, sites: int, pure: Iterable[int] = (), gpu: bool = False) -> None:
        self.folder = folder
        self.sites = sites
        self.pure = frozenset(pure)
        self.gpu = gpu
        self.begin = self.end = clock()
        self._start_process()

    def _start_process(self) -> None:
        self.process = os.getpid()
        self.file: Optional[int] = None
        self.rows = 0
        self.lock = threading.Lock()
        self.local = threading.local()
        self.threads: weakref.WeakSet[Thread] = weakref.WeakSet()
        self.names: Dict[int, str] = {}
        self.signatures: Dict[int, Dict[Signature, int]] = {}
        self.kept: Dict[int, Tuple[Callable[..., Any], Arguments, Keywords]] = {}
        self.kept_bytes = 0

    def after_fork(self) -> None:
        """A forked child records into a file of its own; what its parent had not written is the parent's."""
        for thread in list(self.threads):
            thread.state[ROWS] = []
        self._start_process()

    def enter_thread(self) -> List[Any]:
        """The state of the calling thread, made at its first API call."""
        with self.lock:
            index = len(self.names)
            self.names[index] = threading.current_thread().name
        thread = self.local.thread = Thread(self, index)
        self.threads.add(thread)
        self.local.state = thread.state
        return thread.state

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

    def flush(self, thread: Thread) -> None:
        """Write the rows of one thread."""
        state = thread.state
        flat, state[ROWS] = state[ROWS], []
        if not flat or os.getpid() != self.process:
            return
        with self.lock:
            if self.rows < EXACT:
                rows, columns = len(flat) // ROW, ROW
            else:
                merged = merge(list(zip(*[iter(flat)] * ROW)))  # noqa: B905 (no `strict` before 3.10)
                rows, columns = len(merged), ROW + 2
                flat = list(itertools.chain.from_iterable(merged))
            self.rows += rows
            words = array("q", [MAGIC, thread.index, rows, columns])
            words.fromlist(flat)
            if self.file is None:
                path = os.path.join(self.folder, "events-%d.bin" % self.process)
                self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.write(self.file, words.tobytes())

    def flush_all(self) -> None:
        """Write the rows of all threads."""
        for thread in list(self.threads):
            self.flush(thread)

    def flush_here(self) -> None:
        """Write the rows of the calling thread: others may be in the middle of a call."""
        thread = getattr(self.local, "thread", None)
        if thread is not None:
            self.flush(thread)

    def finish(self) -> None:
        """Write everything."""
        self.flush_all()
        self.write_sites()

    def write_sites(self) -> None:
        """Write what belongs to sites rather than to single calls into `calls-PID.json`."""
        self.end = clock()
        found = {
            "begin": self.begin,
            "end": self.end,
            "threads": self.names,
            "signatures": {
                site: [[*signature, seen] for signature, seen in known.items()]
                for site, known in self.signatures.items()
            },
            "replayable": sorted(self.kept),
            "versions": versions(),
        }
        path = os.path.join(self.folder, "calls-%d.json" % self.process)
        with open(path + ".part", "w", encoding="utf-8") as file:
            json.dump(found, file)
        os.replace(path + ".part", path)


def merge(rows: List[Row]) -> List[List[int]]:
    """Join neighbouring short calls of one site in the same surroundings; rows are in order of their ends."""
    joined: List[List[int]] = []
    groups: Dict[Any, List[int]] = {}
    surroundings: Dict[Tuple[int, int], Tuple[int, int]] = {}
    for site, start, end, nested, outer_start, outer_site, flags in reversed(rows):
        outer = (outer_site, outer_start)
        if flags > 1:
            outer = surroundings.get(outer, outer)
        took = end - start
        if took > MERGED_CALL_NS:
            joined.append([site, start, end, nested, outer_start, outer_site, flags, took, 1])
            continue
        if nested:
            # This call itself will be merged, so what it holds belongs to the nearest call that is not.
            surroundings[(site, start)] = outer
        key = (site, flags, outer_site, outer)
        group = groups.get(key)
        if group is None or group[2] - start > MERGED_SPAN_NS:
            groups[key] = group = [site, start, end, nested, outer_start, outer_site, flags, took, 1]
            joined.append(group)
        else:
            group[1] = start
            group[3] += nested
            group[4] = outer_start
            group[7] += took
            group[8] += 1
    return joined


def make_probe(recorder: Recorder) -> Callable[..., Any]:
    """The function that takes the place of each instrumented call."""
    now = clock
    local = recorder.local
    enter_thread = recorder.enter_thread
    modules = sys.modules
    strip_here = sys.version_info >= (3, 11)
    synchronise: Optional[Callable[[], object]] = None
    look_for_gpu = recorder.gpu

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
        nonlocal synchronise, look_for_gpu
        try:
            state = local.state
        except AttributeError:
            state = enter_thread()
        outer_start, outer_site, outer_nested, depth, _, countdown = state
        left = countdown[site] = countdown[site] - 1
        if not left:
            local.thread.look(site, function, args, kwargs, not eager())
        if look_for_gpu and eager():
            synchronise, look_for_gpu = gpu_synchronisation()
        if synchronise is not None and eager():
            synchronise()
        state[1] = site
        state[2] = 0
        state[3] = depth + 2
        result = None
        start = state[0] = now()
        try:
            result = function(*args, **kwargs)
            if synchronise is not None and eager():
                synchronise()
            return result
        except BaseException as error:
            if strip_here and error.__traceback__ is not None:
                error.__traceback__ = error.__traceback__.tb_next
            raise
        finally:
            end = now()
            # To ask TensorFlow takes as long as all the rest, and who gets a tensor with values need not ask.
            tracing = type(result) is not eager_tensor and not eager()
            # The list may have changed since: calls nested in this one write the rows and begin a new list.
            state[4].extend((site, start, end, state[2], outer_start, outer_site, depth + tracing))
            state[0] = outer_start
            state[1] = outer_site
            state[2] = outer_nested + end - start
            state[3] = depth

    probe.__code__ = probe.__code__.replace(co_filename=HIDDEN_FILE)
    probe.autograph_info__ = None  # type: ignore[attr-defined]  # AutoGraph then calls it as it is
    return probe


def install(folder: str, sites: int, pure: Iterable[int] = (), gpu: bool = False) -> Recorder:
    """Start recording `sites` call sites into `folder`, and make the probe a builtin of the program."""
    recorder = Recorder(folder, sites, pure, gpu)
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


def versions() -> Dict[str, str]:
    """Versions that decide what a call does."""
    found = {"python": sys.version.split()[0]}
    for name in ("tensorflow", "keras"):
        found[name] = str(getattr(sys.modules.get(name), "__version__", ""))
    return found
