"""For machines without sensors: an estimate from the CPU time of a process tree and a power model.

    joules = active_watts × CPU seconds

`active_watts` is what one busy logical CPU draws above idle. Idle power is left out because every figure is
net of the idle baseline; memory is left out because its idle power does not depend on the program, and what
accesses cost cannot be known from CPU time.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from energy_measure.meters import perf_events, sysfs
from energy_measure.meters.cpu_models import SOURCE, published_watts
from energy_measure.meters.interface import Availability, Meter, MeterProblem, Roots, Source

ACTIVE_WATTS = 2.76
"""Mean of server processors between idle (0.74 W) and full load (3.5 W) per logical CPU."""

CLOSE_COMMAND = "sudo sysctl -w kernel.perf_event_paranoid=2"
"""Lets users count the CPU time of their own processes as it passes."""

_CLOCK_MONOTONIC_COARSE = 6


VARIABLE = "ENERGY_LSP_ACTIVE_WATTS"


@dataclass(frozen=True, slots=True)
class PowerModel:
    """The parameters of the estimate, and where they come from."""

    active_watts: float = ACTIVE_WATTS
    source: str = f"the mean of server processors, {SOURCE}"

    @classmethod
    def from_environment(cls, roots: Roots | None = None) -> PowerModel:
        """What somebody set (`active-watts`, or the variable), else what is published of this processor, else the mean."""
        text = os.environ.get(VARIABLE, "")
        if not text:
            known = published_watts(sysfs.text((roots or Roots.from_environment()).procfs / "cpuinfo"))
            return cls() if known is None else cls(known.active_watts, f"{known.architecture}, {SOURCE}")
        try:
            watts = float(text)
        except ValueError:
            watts = -1.0
        if not 0 < watts <= 1000:  # as the setting
            raise MeterProblem(
                f"ENERGY_LSP_ACTIVE_WATTS is {text!r}; give the watts that one busy CPU draws above idle, "
                "such as 4.5."
            )
        return cls(watts, "set by active-watts or ENERGY_LSP_ACTIVE_WATTS")


def set_active_watts(watts: float) -> None:
    """Estimate with these watts from now on, here and in the processes that are started; 0 leaves the choice."""
    if watts:
        os.environ[VARIABLE] = f"{watts:g}"


class CpuTimeMeter(Meter):
    """Estimated energy of the CPU for one process, its threads and everything it starts."""

    name = "cpu-time"
    estimated = True
    period_s = 5e-3
    far_period_s = 40e-3
    """The program's own marks say more, and where all CPUs are busy each reading keeps some thread waiting for another."""

    def __init__(self, roots: Roots | None = None, model: PowerModel | None = None) -> None:
        super().__init__(roots)
        self.model = model or PowerModel.from_environment(self.roots)
        self._clock: TaskClock | TickClock | None = None
        self._before = (0, 0)
        """Nanoseconds of the trees followed so far: the first process of each, and what it started."""

    @classmethod
    def availability(cls, roots: Roots) -> Availability:
        """Always there on Linux; only how closely it can look differs."""
        try:
            model = PowerModel.from_environment(roots)
        except MeterProblem as problem:
            return Availability(cls.name, False, str(problem), estimated=True)
        if not hasattr(time, "clock_gettime_ns") or not (roots.procfs / "self/task").is_dir():
            reason = "the CPU time of processes can be read on Linux alone"
            return Availability(cls.name, False, reason, estimated=True)
        reason, command = f"estimate: {model.active_watts:g} W for each busy CPU", ""
        if not task_clock_works():
            reason += f", in replays seen in steps of {_tick() * 1e3:g} ms because perf events are closed"
            command = CLOSE_COMMAND
        notes = (f"{model.active_watts:g} W: {model.source}",)
        sources = _sources(model, closely=False)
        return Availability(cls.name, True, reason, command, sources, estimated=True, notes=notes)

    def open(self) -> None:
        """Ready at once; `follow` says what to look at."""
        self.close()
        state = self.availability(self.roots)
        if not state.usable:
            raise MeterProblem(state.reason)
        self.sources = _sources(self.model, closely=self.closely and task_clock_works())

    def follow(self, pid: int) -> None:
        """Look at this process and what it starts from now on, in addition to what was counted before."""
        if self._clock is not None:
            self._before = self._counted()
            self._clock.close()
            self._clock = None
        if not _exists(pid):
            self.problems.append(f"Process {pid} is not there; nothing is counted.")
            return
        self._clock = self._close_clock(pid) or TickClock(pid, self.roots)

    def _close_clock(self, pid: int) -> TaskClock | None:
        """The clock for looking closely, where that is wanted and allowed."""
        if not self.closely or not task_clock_works():
            return None
        try:
            return TaskClock(pid, self.roots)
        except OSError as error:
            self.problems.append(
                f"Process {pid} does not let perf events count it ({error.strerror}); "
                f"its CPU time moves in steps of {_tick() * 1e3:g} ms."
            )
            self.sources = _sources(self.model, closely=False)
            return None

    def read(self) -> Sequence[float]:
        """Estimated joules since opening."""
        counted = self._counted()
        apart = counted if len(self.sources) == len(counted) else (sum(counted),)
        return [nanoseconds * 1e-9 * self.model.active_watts for nanoseconds in apart]

    def _counted(self) -> tuple[int, int]:
        own, others = self._clock.read() if self._clock else (0, 0)
        return self._before[0] + own, self._before[1] + others

    def close(self) -> None:
        """Stop following."""
        if self._clock is not None:
            self._clock.close()
            self._clock = None
        self._before = (0, 0)


class TaskClock:
    """Nanoseconds on a CPU, exact at any moment, from the kernel's task clock: for looking closely.

    The event follows threads and processes that are started later; those that run already get their own. The kernel
    looks at it whenever a thread of the program goes to sleep or wakes up, which slows programs that train by 1% to 2%.
    """

    def __init__(self, pid: int, roots: Roots) -> None:
        self._handles: list[int] = []
        try:
            for process in tree(pid, roots):
                for thread in threads(process, roots):
                    self._open(thread, must=thread == pid)
        except OSError:
            self.close()
            raise

    def _open(self, thread: int, *, must: bool) -> None:
        try:
            handle = perf_events.open_event(
                perf_events.SOFTWARE, perf_events.TASK_CLOCK, pid=thread, inherit=True
            )
        except ProcessLookupError:
            if must:
                raise
            return
        self._handles.append(handle)

    def read(self) -> tuple[int, int]:
        """Nanoseconds since this clock was made; it does not tell a process from what it starts."""
        return sum(map(perf_events.read_count, self._handles)), 0

    def close(self) -> None:
        """Stop counting."""
        for handle in self._handles:
            os.close(handle)
        self._handles.clear()


class TickClock:
    """Nanoseconds on a CPU from the clocks of the processes. Costs the program nothing.

    The clock of a thread that runs moves at the kernel's ticks, and whenever it goes to sleep. What processes used that have
    ended, however short they lived, is known as soon as whoever started them has waited for them.
    """

    SCANNING_SHARE = 0.005
    """Of the time at most goes to looking for processes: thousands of them must not make the sampler the busiest one."""

    def __init__(self, pid: int, roots: Roots) -> None:
        self.pid = pid
        self.roots = roots
        self._youngest = _Youngest(roots)
        self._alive = list(tree(pid, roots))
        self._latest: dict[int, int] = {}
        self._others = 0
        self._next_scan = 0.0
        self._update()
        self._first_own = self._latest.get(self.pid, 0)
        self._first_others = self._others

    def read(self) -> tuple[int, int]:
        """Nanoseconds since this clock was made, of the process and of what it started; a process that ended keeps what
        it was last seen with."""
        now = time.monotonic()
        if now >= self._next_scan and self._youngest.changed():
            self._alive = list(tree(self.pid, self.roots))
            self._next_scan = now + (time.monotonic() - now) / self.SCANNING_SHARE
        self._update()
        return self._latest.get(self.pid, 0) - self._first_own, self._others - self._first_others

    def _update(self) -> None:
        """Read all clocks. Of two sums over what was started neither misses anything in the end: of all processes ever seen,
        also those that nobody waits for; and of those that are there and those that were waited for."""
        reaped = ended_children_time(
            self.pid, self.roots
        )  # first: who ends now is missed once, not counted twice
        alive = 0
        for process in self._alive:
            with contextlib.suppress(OSError):
                self._latest[process] = process_time(process)
                if process != self.pid:
                    alive += self._latest[process] + ended_children_time(process, self.roots)
        seen = sum(self._latest.values()) - self._latest.get(self.pid, 0)
        self._others = max(self._others, seen, reaped + alive)

    def close(self) -> None:
        """Stop counting."""
        self._youngest.close()


class _Youngest:
    """Tells when the system has started a process or a thread: its number is in `loadavg`, which is quickly read."""

    def __init__(self, roots: Roots) -> None:
        self._number = b""
        try:
            self._file = os.open(roots.procfs / "loadavg", os.O_RDONLY)
        except OSError:
            self._file = -1
        self.changed()

    def changed(self) -> bool:
        """Whether there may be new ones since the last time this was asked."""
        if self._file < 0:
            return True
        before, self._number = self._number, sysfs.again(self._file, 128).rpartition(b" ")[2]
        return self._number != before

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def tree(pid: int, roots: Roots) -> Iterator[int]:
    """A process and its descendants."""
    waiting = [pid]
    while waiting:
        process = waiting.pop()
        yield process
        for thread in threads(process, roots):
            children = sysfs.text(roots.procfs / str(process) / "task" / str(thread) / "children")
            waiting.extend(int(child) for child in children.split())


def threads(pid: int, roots: Roots) -> list[int]:
    """The threads of a process, the first one first; at least the process itself."""
    try:
        found = sorted(int(name) for name in os.listdir(roots.procfs / str(pid) / "task"))
    except OSError:
        found = []
    return found or [pid]


def _sources(model: PowerModel, *, closely: bool) -> tuple[Source, ...]:
    """What is read: nanoseconds, which move all the time or at ticks."""
    quantum, limit = 1e-9 * model.active_watts, model.active_watts * (os.cpu_count() or 1)
    if closely:
        return (Source("process tree", "cpu", "energy", 1e-6, quantum, limit_watts=limit),)
    return tuple(
        Source(name, "cpu", "energy", _tick(), quantum, limit_watts=limit)
        for name in ("program", "processes it started")
    )


def _tick() -> float:
    """Seconds between two ticks of the kernel."""
    if sys.platform != "win32":
        return time.clock_getres(_CLOCK_MONOTONIC_COARSE)
    raise NotImplementedError("the clocks of other processes are POSIX's")


def process_time(pid: int) -> int:
    """CPU nanoseconds of a process and its threads, ended ones included."""
    if sys.platform != "win32":
        return time.clock_gettime_ns((~pid << 3) | 2)
    raise NotImplementedError("the clocks of other processes are POSIX's")


def ended_children_time(pid: int, roots: Roots) -> int:
    """CPU nanoseconds of the processes that a process has started and waited for, and of theirs, to a hundredth of a
    second."""
    _, _, fields = sysfs.text(roots.procfs / str(pid) / "stat").rpartition(")")
    user, system = fields.split()[13:15] or (0, 0)
    if sys.platform != "win32":
        return (int(user) + int(system)) * (1_000_000_000 // os.sysconf("SC_CLK_TCK"))
    raise NotImplementedError("/proc is Linux's")


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def task_clock_works() -> bool:
    """Whether the kernel lets us count the CPU time of our own processes as it passes."""
    try:
        handle = perf_events.open_event(
            perf_events.SOFTWARE, perf_events.TASK_CLOCK, pid=os.getpid(), inherit=True
        )
    except OSError:
        return False
    os.close(handle)
    return True
