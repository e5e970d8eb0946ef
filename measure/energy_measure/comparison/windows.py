"""Stretches of work under the meters: this process (and what it starts) marks them, the samplers see the
power."""

from __future__ import annotations

import itertools
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType

import numpy as np

from energy_data.model import Device, Machine
from energy_measure.attribution.baseline import IdleWindow, baseline_of, no_baseline
from energy_measure.attribution.events import Events
from energy_measure.attribution.observations import TooFewReadingsError, observe
from energy_measure.attribution.replay import UPDATES_PER_WINDOW
from energy_measure.attribution.solver import attribute
from energy_measure.attribution.spans import Floats
from energy_measure.host.lock import host_lock
from energy_measure.machine import describe as machine
from energy_measure.meters import choose
from energy_measure.sampling.controller import Sampling, suitable_period
from energy_measure.sampling.trace import SampledTrace

FIRST_REST = 1.0
SHORTEST_REST = 0.02
SHORTEST_WINDOW = 0.05


@dataclass(frozen=True, slots=True)
class MeteredWindow:
    """Some work that was done, on the monotonic clock."""

    start_ns: int
    end_ns: int
    times: int = 1
    """How often the work was repeated in it."""


class MeteredProcess:
    """Meters around this process. Use as a context manager; `work` and `rest` in turns, then ask for
    `joules`."""

    def __init__(
        self,
        meter: str = "auto",
        *,
        wait: bool = True,
        on_wait: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        """`wait` for who measures on this host already, and tell `on_wait` so; without it, that is a problem."""
        self._lock = ExitStack()
        self._take_lock = partial(host_lock, "a comparison", wait=wait, on_wait=on_wait)
        self._meters = choose(meter)
        self._folder = tempfile.TemporaryDirectory(prefix="energy-lsp-")
        self._sampling = Sampling(self._meters, Path(self._folder.name), pid=os.getpid(), closely=True)
        self._rests: list[IdleWindow] = []
        self.estimated = any(meter.estimated for meter in self._meters)
        self.meter = "+".join(meter.name for meter in self._meters)
        sources = [source for meter in self._meters for source in meter.sources]
        slowest = max((max(s.update_period_s, s.window_s) for s in sources), default=0.0)
        self.window_seconds = max(SHORTEST_WINDOW, UPDATES_PER_WINDOW * slowest)
        """How long a window of work has to be for these meters."""
        self._slowest = max(slowest, *(suitable_period(meter, closely=True) for meter in self._meters))

    def __enter__(self) -> MeteredProcess:
        try:
            self._lock.enter_context(self._take_lock())
            self._sampling.start()
            self.rest(FIRST_REST)
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def _close(self) -> None:
        self._sampling.__exit__(None, None, None)
        self._folder.cleanup()
        self._lock.close()

    def machine(self) -> Machine:
        """The machine with its meters, as a run records it."""
        return machine.describe(self._meters)

    def rest(self, seconds: float = 0.0) -> None:
        """Do nothing for a while, so that the meters see the baseline: at least three of their updates."""
        start = time.monotonic_ns()
        time.sleep(max(seconds, SHORTEST_REST, 3.0 * self._slowest))
        self._rests.append(IdleWindow(start, time.monotonic_ns()))

    def work(self, function: Callable[[], object], times: int = 1) -> MeteredWindow:
        """Do something so many times."""
        start = time.monotonic_ns()
        for _ in itertools.repeat(None, times):
            function()
        return MeteredWindow(start, time.monotonic_ns(), times)

    def joules(self, windows: Sequence[MeteredWindow]) -> Floats:
        """Net joules of each window, all devices together. Rest once more before asking."""
        total = np.zeros(len(windows))
        for joules in self.joules_by_device(windows).values():
            total += joules
        return total

    def joules_by_device(self, windows: Sequence[MeteredWindow]) -> dict[Device, Floats]:
        """Net joules of each window, by device."""
        first = min(window.start_ns for window in windows)
        last = max(window.end_ns for window in windows)
        rests = _around(self._rests, first, last)
        begin, finish = min(rest.start_ns for rest in rests), max(rest.end_ns for rest in rests)
        events = Events.of(
            range(len(windows)),
            [window.start_ns for window in windows],
            [window.end_ns for window in windows],
        )
        order = np.argsort([window.start_ns for window in windows], kind="stable")
        found: dict[Device, Floats] = {}
        for source in self._sampling.recording().sources:
            joules = found.setdefault(source.device, np.zeros(len(windows)))
            joules[order] += _net(source.between(begin, finish), events, rests)
        return found


def _around(rests: Sequence[IdleWindow], first: int, last: int) -> list[IdleWindow]:
    """The rests between two moments, and one on either side."""
    before = [rest for rest in rests if rest.end_ns <= first][-1:]
    between = [rest for rest in rests if first < rest.end_ns and rest.start_ns < last]
    after = [rest for rest in rests if rest.start_ns >= last][:1]
    return before + between + after


def _net(trace: SampledTrace, events: Events, rests: Sequence[IdleWindow]) -> Floats:
    try:
        observations = observe(trace)
        baseline = (
            no_baseline(observations.origin_ns) if trace.estimated else baseline_of(observations, rests)
        )
        return attribute(trace, events, baseline).joules
    except TooFewReadingsError:
        return np.zeros(len(events))
