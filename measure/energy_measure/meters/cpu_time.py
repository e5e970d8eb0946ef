"""For machines without sensors: an estimate from the CPU time of a process tree and a power model.

    joules = active_watts × CPU seconds

`active_watts` is what one busy logical CPU draws above idle. Idle power is left out because every figure is
net of the idle baseline; memory is left out because its idle power does not depend on the program, and what
accesses cost cannot be told from CPU time.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from energy_measure.meters import perf_events, sysfs
from energy_measure.meters.interface import Availability, Meter, MeterProblem, Roots, Source

ACTIVE_WATTS = 2.76
"""Mean of current server processors between idle (0.74 W) and full load (3.5 W) per logical CPU."""

FINE_COMMAND = "sudo sysctl -w kernel.perf_event_paranoid=2"
"""Lets users count the CPU time of their own processes as it passes."""

_CLOCK_MONOTONIC_COARSE = 6


@dataclass(frozen=True, slots=True)
class PowerModel:
    """The parameters of the estimate; set `ENERGY_LSP_ACTIVE_WATTS` to what fits your processor."""

    active_watts: float = ACTIVE_WATTS

    @classmethod
    def from_environment(cls) -> PowerModel:
        """The model that the environment asks for, else the default."""
        text = os.environ.get("ENERGY_LSP_ACTIVE_WATTS", "")
        if not text:
            return cls()
        try:
            watts = float(text)
        except ValueError:
            watts = -1.0
        if not 0 < watts < 1000:
            raise MeterProblem(
                f"ENERGY_LSP_ACTIVE_WATTS is {text!r}; give the watts that one busy CPU draws above idle, "
                "such as 4.5."
            )
        return cls(watts)


class CpuTimeMeter(Meter):
    """Estimated energy of the CPU for one process, its threads and everything it starts."""

    name = "cpu-time"
    estimated = True
    period_s = 5e-3

    def __init__(self, roots: Roots | None = None, model: PowerModel | None = None) -> None:
        super().__init__(roots)
        self.model = model or PowerModel.from_environment()
        self._clock: TaskClock | TickClock | None = None
        self._before = 0
        """Nanoseconds of the trees followed so far."""

    @classmethod
    def availability(cls, roots: Roots) -> Availability:
        """Always there on Linux; only the fineness differs."""
        try:
            model = PowerModel.from_environment()
        except MeterProblem as problem:
            return Availability(cls.name, False, str(problem), estimated=True)
        if not hasattr(time, "clock_gettime_ns") or not (roots.procfs / "self/task").is_dir():
            reason = "the CPU time of processes can be read on Linux alone"
            return Availability(cls.name, False, reason, estimated=True)
        fine = task_clock_works()
        reason = f"estimate: {model.active_watts:g} W for each busy CPU" + (
            "" if fine else f", seen in steps of {_tick() * 1e3:g} ms because perf events are closed"
        )
        command = "" if fine else FINE_COMMAND
        return Availability(cls.name, True, reason, command, (_source(model, fine),), estimated=True)

    def open(self) -> None:
        """Ready at once; `follow` says what to look at."""
        self.close()
        state = self.availability(self.roots)
        if not state.usable:
            raise MeterProblem(state.reason)
        self.sources = state.sources

    def follow(self, pid: int) -> None:
        """Look at this process and what it starts from now on, in addition to what was counted before."""
        if self._clock is not None:
            self._before += self._clock.read()
            self._clock.close()
        try:
            self._clock = TaskClock(pid, self.roots)
        except OSError as error:
            if not _exists(pid):
                self._clock = None
                self.problems.append(f"Process {pid} is not there; nothing is counted.")
                return
            self._clock = TickClock(pid, self.roots)
            if task_clock_works():
                self.problems.append(
                    f"Process {pid} does not let perf events count it ({error.strerror}); "
                    f"its CPU time moves in steps of {_tick() * 1e3:g} ms."
                )
                self.sources = (_source(self.model, fine=False),)

    def read(self) -> Sequence[float]:
        """Estimated joules since opening."""
        now = self._clock.read() if self._clock else 0
        return ((self._before + now) * 1e-9 * self.model.active_watts,)

    def close(self) -> None:
        """Stop following."""
        if self._clock is not None:
            self._clock.close()
            self._clock = None
        self._before = 0


class TaskClock:
    """Nanoseconds on a CPU, exact at any moment, from the kernel's task clock.

    The event follows threads and processes that are started later; those that run already get their own.
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

    def read(self) -> int:
        """Nanoseconds since this clock was made."""
        return sum(map(perf_events.read_count, self._handles))

    def close(self) -> None:
        """Stop counting."""
        for handle in self._handles:
            os.close(handle)
        self._handles.clear()


class TickClock:
    """Nanoseconds on a CPU from the clocks of the processes, which move at the kernel's ticks.

    For systems that refuse perf events. A process that lives for less than `SCAN_SECONDS` may be missed.
    """

    SCAN_SECONDS = 0.05

    def __init__(self, pid: int, roots: Roots) -> None:
        self.pid = pid
        self.roots = roots
        self._first: dict[int, int] = {}
        self._latest: dict[int, int] = {}
        self._alive: list[int] = []
        self._next_scan = 0.0
        self._scan(starting=True)

    def read(self) -> int:
        """Nanoseconds since this clock was made; a process that ended keeps what it was last seen with."""
        if time.monotonic() >= self._next_scan:
            self._scan()
        for process in self._alive:
            with contextlib.suppress(OSError):
                self._latest[process] = _process_time(process)
        return sum(self._latest.values()) - sum(self._first.values())

    def _scan(self, *, starting: bool = False) -> None:
        started = time.monotonic()
        self._alive = list(tree(self.pid, self.roots))
        for process in self._alive:
            if starting:
                with contextlib.suppress(OSError):
                    self._first[process] = self._latest[process] = _process_time(process)
        # A tree of thousands of processes must not make the sampler the busiest of them.
        now = time.monotonic()
        self._next_scan = now + max(self.SCAN_SECONDS, 50 * (now - started))

    def close(self) -> None:
        """Nothing is held."""


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


def _source(model: PowerModel, fine: bool) -> Source:
    period = 1e-6 if fine else _tick()
    return Source("process tree", "cpu", "energy", period, period * model.active_watts)


def _tick() -> float:
    """Seconds between two ticks of the kernel."""
    return time.clock_getres(_CLOCK_MONOTONIC_COARSE)


def _process_time(pid: int) -> int:
    """CPU nanoseconds of a process and its threads, ended ones included."""
    return time.clock_gettime_ns((~pid << 3) | 2)


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
