"""Windows of steps that TensorFlow's profiler looks at, one session after the other.

A step is the execution of a compiled function, or the outermost call of a layer outside of one. Sessions begin and
end between steps. Beginning and exporting them is noted with its time: it is no part of what the program does.
Everything that a session costs is kept within a budget, so that a long run is hardly slowed.
"""

from __future__ import annotations

import os
import threading
import time

from .hiding import hide
from .layers import MARK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any, Dict, List, Optional, Set

    from .journal import Journal

SESSION_NS = 500_000_000
"""A session ends after the step in which it gets so old, unless it has seen fewer than `STEPS`."""
LONGEST_NS = 10_000_000_000
"""It ends in the midst of a step if nothing else ends it, and the next one follows: memory stays bounded."""
FOLLOWING, CHEAP = 6, 0.03
"""So many follow each other in one step, as long as writing a profile takes no more than this part of what it looked at."""
STEPS = 3
FUNCTIONS = 12
"""Of so many functions the first `STEPS` executions are looked at whatever that costs: else nothing is known of them."""
FIRST_NS = 1_000_000_000
"""A function is looked at for this long from its first execution on, within the budget."""
BUDGET_NS, BUDGET = 150_000_000, 0.003
"""CPU time that looking may cost: so much, and this part of the time since the first step."""
COST = 0.04
"""A profiled step takes this much longer: 1% to 14% were measured, 3% for BERT."""
EXPORT = 0.25
"""Writing a profile takes this part of the CPU time that was looked at (BERT)."""
PAUSE = 100
"""The next window comes after this many times what the last one cost."""
EXACT_STEPS = 100_000

clock = time.monotonic_ns


class Windows:
    """Sessions of the profiler in this process."""

    def __init__(self, journal: Journal, everything: bool) -> None:
        self.journal = journal
        self.everything = everything
        self.ready = False
        self.sees_steps = False
        """Executions of compiled functions can be seen in this version of TensorFlow."""
        self.context: Any = None
        self.session: Any = None
        self.opened = 0
        self.steps_seen = 0
        self.number = 0
        self.given_way = False
        self.beside = False
        """The program's own profiler runs."""
        self.first: Dict[Any, int] = {}
        self.functions: Dict[Any, int] = {}
        self.looked: Dict[Any, int] = {}
        """How many executions of a function were looked at."""
        self.began = 0
        self.cost = 0
        self.rate = COST + EXPORT
        """What a session costs as a part of its CPU time; more where sessions of this program did."""
        self.writing = 0.0
        """CPU time of writing the last profile, as a part of what it looked at."""
        self.in_step = False
        """A step is under way that a session looks at."""
        self.followed = 0
        """Sessions that began in the midst of it."""
        self.next_at = 0
        self.idle_until = 0
        """Until then no window is due with a function that is known well enough (`known_well`)."""
        self.known_well: Set[Any] = set()
        self.steps: List[List[int]] = []
        self.kept = 0
        self.lock = threading.Lock()
        self.watchdog: Optional[threading.Timer] = None
        self.traceme: Any = None

    # Steps

    def begin(self, name: Any) -> int:
        """A step begins; gives the moment at which it really does. Whatever goes wrong, the program goes on."""
        now = clock()
        if now < self.idle_until and self.session is None and name in self.known_well:
            return now
        try:
            return self.begun(name, now)
        except Exception as problem:
            self.fail(problem)
            return clock()

    def end(self, name: Any, began: int) -> None:
        """A step has ended."""
        try:
            if name in self.functions:
                self.ended(name, began)
        except Exception as problem:
            self.fail(problem)

    def fail(self, problem: Exception) -> None:
        """Looking is over."""
        session, self.session, self.given_way, self.ready = self.session, None, True, False
        try:
            if session is not None:
                session.stop()
        except Exception:  # it may have ended already
            pass
        self.journal.note("Looking inside ended with an error (%s)." % type(problem).__name__)

    def begun(self, name: Any, now: int) -> int:
        """Note that a step begins, and open a window if one is due."""
        if not self.began:
            self.began = now
        if name not in self.first:
            self.first[name] = now
            self.functions[name] = len(self.functions)
            shown = name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name)
            self.journal.add("function", [self.functions[name], shown])
        if self.session is None and self.due(name, now) and self.lock.acquire(False):
            try:
                self.open()
            finally:
                self.lock.release()
        if self.session is not None:
            self.in_step, self.followed = True, 0
            self.steps_seen += 1
            self.looked[name] = self.looked.get(name, 0) + 1
        return clock()

    def ended(self, name: Any, began: int) -> None:
        """Note a step, and close a window that is old enough."""
        now = clock()
        self.in_step = False
        self.log(self.functions[name], began, now)
        if self.session is None:
            return
        seen_enough = self.steps_seen >= STEPS or now - self.opened > 4 * SESSION_NS
        if seen_enough and (now - self.opened > SESSION_NS or self.dear(now)) and self.lock.acquire(False):
            try:
                self.close()
            finally:
                self.lock.release()

    def dear(self, now: int) -> bool:
        """Whether the session under way uses the budget up."""
        if self.everything:
            return False
        looked = time.process_time_ns() - self.started[3]
        return self.cost + self.rate * looked > self.budget(now)

    def budget(self, now: int) -> float:
        """What looking may have cost by now."""
        return BUDGET_NS + BUDGET * (now - self.began)

    def log(self, function: int, began: int, ended: int) -> None:
        """Keep when a step ran; in a very long run neighbouring steps of a function become one row."""
        thread = threading.get_ident()
        if self.kept >= EXACT_STEPS and self.steps:
            last = self.steps[-1]
            if last[0] == function and last[3] == thread:
                last[2] = ended
                last[4] += 1
                return
        self.steps.append([function, began, ended, thread, 1])
        self.kept += 1
        if len(self.steps) >= 4096 and self.kept < EXACT_STEPS:
            self.flush()

    def flush(self) -> None:
        """Hand the steps over to the journal."""
        steps, self.steps = self.steps, []
        if steps:
            self.journal.add("steps", steps)

    def due(self, name: Any, now: int) -> bool:
        """Whether a window should begin with this step."""
        if self.given_way or self.beside:
            return False
        if self.everything:
            return True
        if self.looked.get(name, 0) < STEPS and self.functions[name] < FUNCTIONS:
            return True
        first = now - self.first[name] < FIRST_NS
        if not first:
            self.known_well.add(name)
        if self.cost > self.budget(now):
            self.idle_until = now + int((self.cost - self.budget(now)) / BUDGET)
            return False
        self.idle_until = self.next_at
        return first or now >= self.next_at

    # Sessions

    def open(self) -> None:
        """Begin a session."""
        from tensorflow.python.profiler.internal import _pywrap_profiler

        begin = clock()
        self.number += 1
        folder = os.path.join(self.journal.folder, "profile-%d-%d" % (self.journal.process, self.number))
        session = _pywrap_profiler.ProfilerSession()
        try:
            with quiet(self.journal.folder):
                session.start(folder, {})
        except Exception as problem:
            self.given_way = True
            self.leave_alone("Another profiler was running (%s)" % type(problem).__name__)
            return
        self.session, self.steps_seen = session, 0
        self.folder = folder
        offset = min(abs_offset() for _ in range(3))
        if self.traceme is not None:
            # Profilers up to TensorFlow 2.16 do not say when they began: this event has the moment in its name.
            self.traceme(MARK + "at:%d" % clock()).Stop()
        self.opened = clock()
        self.started = [begin, self.opened, offset, time.process_time_ns()]
        self.cost += self.opened - begin
        self.watchdog = threading.Timer(LONGEST_NS / 1e9, self.cut_off, (self.number,))
        self.watchdog.daemon = True
        self.watchdog.start()

    def close(self) -> None:
        """End the session and have its profile written."""
        session, self.session = self.session, None
        if session is None:
            return
        if self.watchdog is not None:
            self.watchdog.cancel()
        closing, cpu = clock(), time.process_time_ns()
        try:
            with quiet(self.journal.folder):
                session.export_to_tb()
        except Exception as problem:
            self.journal.note("A profile could not be written (%s)." % type(problem).__name__)
            return
        finally:
            closed = clock()
            looked = cpu - self.started[3]
            written = time.process_time_ns() - cpu
            self.writing = written / max(looked, 1)
            cost = written + int(COST * looked)
            self.cost += cost
            self.rate = max(COST + EXPORT, min(1.0, cost / max(looked, 1)))
            self.next_at = closed + PAUSE * cost
        begin, opened, offset, cpu_before = self.started
        # Its folder, from when to when it looked, the clocks' distance, what it took before and after, and CPU time.
        name = os.path.basename(self.folder)
        self.journal.add("session", [name, opened, closing, offset, begin, closed, cpu - cpu_before])
        self.flush()
        self.journal.write()

    def cut_off(self, number: int) -> None:
        """End a session that nothing else has ended; in the midst of a step the next one sees what it does then."""
        if self.session is not None and self.number == number and self.lock.acquire(False):
            try:
                self.close()
                if not self.in_step:
                    return  # the program builds a graph, or waits: the next step opens a window
                if self.everything or (self.followed < FOLLOWING and self.writing < CHEAP):
                    self.followed += 1
                    self.open()
                    self.steps_seen = 1
                else:
                    seconds = LONGEST_NS // 10**9 * (1 + self.followed)
                    self.journal.note("Of a step longer than %d s the rest was not looked at." % seconds)
            except Exception as problem:
                self.fail(problem)
            finally:
                self.lock.release()

    def finish(self) -> None:
        """The program's end."""
        if self.context is not None and not self.sees_steps:
            self.journal.note(
                "This version of TensorFlow does not show its steps: compiled functions are not looked into."
            )
        if self.lock.acquire(True, 10.0):
            try:
                self.close()
                self.given_way = True
            finally:
                self.lock.release()
        self.flush()

    def abandon(self) -> None:
        """In a forked child: nothing of this is its own."""
        self.session = None
        self.given_way = True
        self.steps = []
        self.lock = threading.Lock()

    def leave_alone(self, why: str) -> None:
        """Somebody else profiles: say so."""
        self.journal.note(why + ": it was left alone, and what ran beside it was not looked into.")

    def eager(self) -> bool:
        """Whether operations run as they are called."""
        return self.context is None or bool(self.context.executing_eagerly())

    # Extending what others have written

    def extend_context(self, module: ModuleType) -> None:
        """See each execution of a compiled function."""
        kind = getattr(module, "Context", None)
        plain = getattr(kind, "call_function", None)
        self.context = module
        try:
            from tensorflow.python.profiler.internal import _pywrap_traceme

            self.traceme = _pywrap_traceme.TraceMe
            self.ready = True
        except ImportError:
            self.ready = False
        if kind is None or plain is None:
            return
        windows = self

        def call_function(self: Any, name: Any, *args: Any, **kwargs: Any) -> Any:
            began = windows.begin(name)
            try:
                return plain(self, name, *args, **kwargs)
            finally:
                windows.end(name, began)

        hide(call_function, plain)
        kind.call_function = call_function
        self.sees_steps = True

    def extend_old_functions(self, module: ModuleType) -> None:
        """The same up to TensorFlow 2.12."""
        kind: Any = getattr(module, "_EagerDefinedFunction", None)
        plain = getattr(kind, "call", None)
        if plain is None:
            return
        windows = self

        def call(self: Any, ctx: Any, *args: Any, **kwargs: Any) -> Any:
            if not ctx.executing_eagerly():
                return plain(self, ctx, *args, **kwargs)
            began = windows.begin(self.name)
            try:
                return plain(self, ctx, *args, **kwargs)
            finally:
                windows.end(self.name, began)

        hide(call, plain)
        kind.call = call
        self.sees_steps = True

    def extend_profiler(self, module: ModuleType) -> None:
        """The program's own profiler comes first: until it stops there is no session of ours."""
        plain_start, plain_stop = getattr(module, "start", None), getattr(module, "stop", None)
        if plain_start is None or plain_stop is None:
            return
        windows = self

        def start(*args: Any, **kwargs: Any) -> Any:
            with windows.lock:
                windows.close()
                windows.beside = True
                windows.leave_alone("The program uses TensorFlow's profiler itself")
            return plain_start(*args, **kwargs)

        def stop(*args: Any, **kwargs: Any) -> Any:
            try:
                return plain_stop(*args, **kwargs)
            finally:
                windows.beside = False

        hide(start, plain_start)
        hide(stop, plain_stop)
        module.start, module.stop = start, stop  # type: ignore[attr-defined]


class quiet:  # noqa: N801 - used as a verb
    """Keeps what the profiler says of itself out of the program's standard error; all else gets there."""

    OWN = (b"profiler_session.cc", b"save_profile.cc", b"profiler_lock.cc", b"host_tracer", b"rpc/client/")

    def __init__(self, folder: str) -> None:
        self.path = os.path.join(folder, "stderr-%d" % os.getpid())
        self.real = self.kept = -1

    def __enter__(self) -> None:
        try:
            self.kept = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
            self.real = os.dup(2)
            os.dup2(self.kept, 2)
        except OSError:
            return  # no standard error, or no file to be had: the lines are shown

    def __exit__(self, *problem: Any) -> None:
        if self.real < 0:
            return
        os.dup2(self.real, 2)
        size = os.lseek(self.kept, 0, os.SEEK_END)
        os.lseek(self.kept, 0, os.SEEK_SET)
        for line in os.read(self.kept, size).splitlines(True):
            if not any(name in line for name in self.OWN):
                os.write(2, line)
        os.close(self.real)
        os.close(self.kept)


def abs_offset() -> int:
    """Nanoseconds from the monotonic clock to that of the calendar; the least of several readings is nearest."""
    before = clock()
    now = time.time_ns()
    return now - before
