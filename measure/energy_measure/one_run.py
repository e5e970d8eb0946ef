"""One run of a program under the meters: rest, run, replay what was too short, share out the energy."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from energy_data.model import Device, Environment, InputSignature, Quantity
from energy_measure.attribution import DeviceAttribution, attribute
from energy_measure.baseline import Baseline, IdleWindow, fit_baseline, no_baseline
from energy_measure.events import Events
from energy_measure.gpu_context import gpus_awake
from energy_measure.machine import temperatures
from energy_measure.marks import Marks, with_marks
from energy_measure.meters import Meter, PowerModel
from energy_measure.meters.cpu_time import process_time
from energy_measure.observations import TooFewReadingsError
from energy_measure.recording import Recording
from energy_measure.replay import Replayed, ReplayPlan, plan_replay, replayed
from energy_measure.runner import Ended, Program
from energy_measure.sampling import Sampling
from energy_measure.sites import SiteEnergy, site_energies
from energy_measure.stability import Look, Stability, StabilityLimits, check, wait_until_stable
from energy_measure.statistics import Interval
from energy_measure.traces import SampledTrace

READINGS = 2.0
AFTER_SECONDS = 0.5
"""Rest after the program: its tail, and where the baseline has drifted to."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How much time a run may take beside the program's own."""

    quick: bool
    wait_seconds: float
    """Longest wait for a stable machine."""
    replay_seconds: float
    """At most, for all replays of one run together."""


THOROUGH = Pace(quick=False, wait_seconds=60.0, replay_seconds=120.0)
QUICK = Pace(quick=True, wait_seconds=5.0, replay_seconds=20.0)


@dataclass(frozen=True, slots=True)
class Key:
    """What energy is told for: a call site, apart when a graph was being built."""

    site: int
    tracing: bool


@dataclass(frozen=True, slots=True, eq=False)
class OneRun:
    """What one run gave."""

    seconds: float
    status: int
    """Exit status of the program; negative for the signal that ended it."""
    whole: bool
    """The program came to its end, rather than being ended or leaving in its midst."""
    energies: Mapping[Key, SiteEnergy]
    blurred: frozenset[Key]
    """Sites that ran for less than a few readings altogether: not to be told from their neighbours."""
    replays: Mapping[int, Replayed]
    """Calls too short for the meter, repeated after the program's end."""
    joules: Mapping[Device, Quantity]
    """Net, whole program."""
    outside: float
    """The part of it that no call accounts for."""
    events: Events
    begin: int
    traces: Sequence[SampledTrace]
    signatures: Mapping[int, InputSignature]
    environment: Environment
    stability: Stability
    problems: tuple[str, ...]


class Runs:
    """Runs of one instrumented entry point, one after the other."""

    def __init__(
        self,
        python: Path,
        specification: Mapping[str, Any],
        meters: Sequence[Meter],
        *,
        cwd: Path,
        pace: Pace,
        period_s: float | None,
        timeout: float | None,
        output: IO[bytes] | int,
        errors: IO[bytes] | int,
    ) -> None:
        self.python = python
        self.specification = specification
        self.meters = meters
        self.cwd = cwd
        self.pace = pace
        self.period_s = period_s
        self.timeout = timeout
        self.output = output
        self.errors = errors
        self.counts_program_alone = all(meter.estimated for meter in meters)
        """There is no baseline to take off."""
        self._replayed: set[int] = set()
        """Sites whose replay has given a figure in an earlier run."""

    def once(self, folder: Path, say: Callable[[str, float], None]) -> OneRun:
        """Run the program once; `say(stage, seconds in it)` is told how it goes."""
        with (
            gpus_awake(bool(self.specification["gpu"])),
            Sampling(self.meters, folder, period_s=self.period_s) as sampling,
            Program(
                self.python, self.specification, folder, cwd=self.cwd, output=self.output, errors=self.errors
            ) as program,
        ):
            program.wait_until_ready()
            sampling.follow(program.pid)
            counted_from = process_time(program.pid)  # it is asleep until it is told to go
            say("resting", 0.0)
            before, stability = self._rest(sampling)
            begin = time.monotonic_ns()
            ended = program.run(self.timeout, lambda seconds: say("running", seconds))
            span = ended or noted_end(folder, program.pid) or Ended(begin, time.monotonic_ns(), 1)
            after = self._after()
            say("attributing", 0.0)
            marks = Marks.read(folder, program.pid, counted_from)
            result = self._result(folder, marks, span, [before, after], sampling.stop(), stability)
            replays: Mapping[int, Replayed] = {}
            problems: list[str] = []
            if ended is not None and ended.status == 0:
                replays, problems = self._replay(program, folder, result, say)
            status = program.finish()
        return replace(
            result,
            whole=ended is not None,
            status=status,
            replays=replays,
            problems=(*result.problems, *problems),
        )

    def _rest(self, sampling: Sampling) -> tuple[IdleWindow, Stability]:
        """Let the meters see the idle machine until it is steady, or long enough."""
        begin = time.monotonic_ns()
        limits = StabilityLimits(wait_seconds=self.pace.wait_seconds)
        if self.counts_program_alone:
            stability = check(Look(sampling.recording().traces, warmth()), limits)
        else:
            stability = wait_until_stable(lambda: Look(sampling.recording().traces, warmth()), limits)
        return IdleWindow(begin, time.monotonic_ns()), stability

    def _after(self) -> IdleWindow:
        begin = time.monotonic_ns()
        time.sleep(0.05 if self.counts_program_alone else AFTER_SECONDS)
        return IdleWindow(begin, time.monotonic_ns())

    def _replay(
        self,
        program: Program,
        folder: Path,
        result: OneRun,
        say: Callable[[str, float], None],
    ) -> tuple[Mapping[int, Replayed], list[str]]:
        """Have the calls that the meter could not resolve repeated in the program's own process.

        They are looked at as closely as can be: the program's own run is over and cannot be slowed any more.
        """
        in_place = [replace(e, site=key.site) for key, e in result.energies.items() if not key.tracing]
        replayable = set(
            noted(folder, program.pid).get("replayable", ())
        )  # not those of its children, which are gone
        plan = plan_replay(in_place, replayable - self._replayed, result.traces, quick=self.pace.quick)
        plan, left_out = within(plan, in_place, self.pace.replay_seconds)
        if not plan.sites:
            return {}, []
        say(f"replaying {len(plan.sites)} call{'s' if len(plan.sites) > 1 else ''}", plan.seconds)
        with Sampling(
            self.meters, folder / "replays", period_s=self.period_s, pid=program.pid, closely=True
        ) as sampling:
            windows = program.replay(plan.as_request(), timeout=60.0 + 20.0 * plan.seconds)
            recording = sampling.stop()
        if not windows:
            return {}, ["The program's process ended before its short calls could be replayed."]
        replays, failures = replayed(windows, recording.traces)
        self._replayed |= {site for site, replay in replays.items() if replay.resolved}
        problems = [f"A call could not be replayed ({reason})." for reason in sorted(set(failures.values()))]
        if left_out:
            seconds = self.pace.replay_seconds
            problems.append(f"{left_out} short calls were not replayed: there are {seconds:g} s for it.")
        return replays, problems

    def _result(
        self,
        folder: Path,
        marks: Marks,
        span: Ended,
        idle: Sequence[IdleWindow],
        recording: Recording,
        stability: Stability,
    ) -> OneRun:
        events = keyed(Events.read(folder))
        problems = list(recording.problems)
        parts: list[DeviceAttribution] = []
        for trace in self._traces(recording, marks, events):
            try:
                parts.append(attribute(trace, events, self._baseline(trace, idle), (span.begin, span.end)))
            except TooFewReadingsError as problem:
                problems.append(f"{problem}; its energy is left out.".capitalize())
        energies = {unkeyed(number): energy for number, energy in site_energies(events, parts).items()}
        shortest = shortest_readable(recording.traces)
        sharp = {unkeyed(number) for number in set(events.site[marks.hold(events)].tolist())}
        blurred = frozenset(
            key for key, e in energies.items() if e.seconds * e.count < shortest and key not in sharp
        )
        found = read_calls(folder)
        return OneRun(
            seconds=(span.end - span.begin) / 1e9,
            status=span.status,
            whole=True,
            energies={
                key: energy if key not in blurred else unresolved(energy) for key, energy in energies.items()
            },
            blurred=blurred,
            replays={},
            joules={part.device: Quantity(part.program_joules, part.program_stderr) for part in parts},
            outside=sum(part.outside_joules for part in parts),
            events=events,
            begin=span.begin,
            traces=[trace.around(span.begin, span.end) for trace in recording.traces],
            signatures=signatures(found),
            environment=environment(found),
            stability=stability,
            problems=tuple(problems),
        )

    def _traces(self, recording: Recording, marks: Marks, events: Events) -> list[SampledTrace]:
        """One trace per device, the estimated one with the marks that the program made."""
        if not marks:
            return recording.traces
        per_ns = PowerModel.from_environment().active_watts * 1e-9
        estimated = [trace for trace in recording.sources if trace.estimated]
        others = replace(recording, sources=tuple(t for t in recording.sources if not t.estimated)).traces
        return [with_marks(estimated, marks, events, per_ns), *others]

    def _baseline(self, trace: SampledTrace, idle: Sequence[IdleWindow]) -> Baseline:
        if trace.estimated:
            return no_baseline(int(trace.times_ns[0]))
        return fit_baseline(trace, idle)


def warmth() -> dict[str, float]:
    """The warmest processor and the warmest GPU, in degrees Celsius."""
    found: dict[str, float] = {}
    for name, degrees in temperatures().items():
        device = name.split()[0].lower()
        found[device] = max(degrees, found.get(device, degrees))
    return found


def within(plan: ReplayPlan, sites: Sequence[SiteEnergy], seconds: float) -> tuple[ReplayPlan, int]:
    """The part of a plan that fits into so many seconds, busiest sites first, and how many were left out."""
    busy = {site.site: site.seconds * site.count for site in sites}
    kept: dict[int, float] = {}
    for site in sorted(plan.sites, key=lambda site: -busy.get(site, 0.0)):
        wanted = replace(plan, sites={**kept, site: plan.sites[site]})
        if wanted.seconds <= seconds:
            kept[site] = plan.sites[site]
    return replace(plan, sites=kept), len(plan.sites) - len(kept)


def shortest_readable(traces: Sequence[SampledTrace]) -> float:
    """Seconds that a call site has to run, all its calls together, to be told from what runs beside it.

    Below that the model of attribution may give it any power.
    """
    steps = [float(np.median(np.diff(trace.times_ns))) * 1e-9 for trace in traces if len(trace) > 1]
    return READINGS * max([*steps, *(trace.update_period_s for trace in traces)], default=0.0)


def unresolved(energy: SiteEnergy) -> SiteEnergy:
    """The same, with an interval that does not claim more than is known."""
    return replace(energy, interval=Interval(min(energy.interval.low, 0.0), max(energy.interval.high, 0.0)))


def keyed(events: Events) -> Events:
    """The same events with calls at trace time told apart from the others of their site."""
    return replace(events, site=events.site * 2 + events.tracing)


def unkeyed(number: int) -> Key:
    """The key behind a number of `keyed`."""
    return Key(number // 2, bool(number % 2))


def read_calls(folder: Path) -> list[dict[str, Any]]:
    """What each process of the program noted at its end."""
    return [json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("calls-*.json"))]


def noted(folder: Path, process: int) -> dict[str, Any]:
    """What one process noted at its end; nothing if it did not come to that."""
    path = folder / f"calls-{process}.json"
    found: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return found


def noted_end(folder: Path, process: int) -> Ended | None:
    """When a program began and ended that left by `os._exit`."""
    found = noted(folder, process)
    return Ended(int(found["begin"]), int(found["end"]), 1) if found else None


def signatures(found: Sequence[Mapping[str, Any]]) -> dict[int, InputSignature]:
    """The input signature seen most often at each site."""
    most: dict[int, tuple[int, InputSignature]] = {}
    for process in found:
        for site, known in process["signatures"].items():
            for texts, in_args, in_kwargs, in_object, seen in known:
                if seen > most.get(int(site), (0, None))[0]:
                    signature = InputSignature(tuple(texts), in_args, in_kwargs, in_object)
                    most[int(site)] = (seen, signature)
    return {site: signature for site, (_, signature) in most.items()}


def environment(found: Sequence[Mapping[str, Any]]) -> Environment:
    """The versions that the program ran with."""
    versions: dict[str, str] = {}
    for process in found:
        for name, version in process["versions"].items():
            versions[name] = versions.get(name) or version
    return Environment(versions.get("python", ""), versions.get("tensorflow", ""), versions.get("keras", ""))
