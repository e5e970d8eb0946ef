"""One run of a program under the meters: rest, run, replay what was too short, share out the energy."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np

from energy_data.model import Device, Environment, InputSignature, PhaseName, Quantity
from energy_measure.attribution.baseline import Baseline, IdleWindow, fit_baseline, no_baseline
from energy_measure.attribution.cpu_checkpoints import CpuCheckpoints, with_checkpoints
from energy_measure.attribution.events import Events, Integers
from energy_measure.attribution.firsts import FirstCall, among_calls, firsts_and_later, selected
from energy_measure.attribution.observations import TooFewReadingsError
from energy_measure.attribution.phases import Kind, PhaseShare, phases_of
from energy_measure.attribution.python_time import OutsideTime, outside_time
from energy_measure.attribution.replay import Replayed, ReplayPlan, plan_replay, replayed
from energy_measure.attribution.site_energy import SiteEnergy, site_energies
from energy_measure.attribution.solver import DeviceAttribution, attribute
from energy_measure.inside.looking import InsideRun, Looking, cell_places
from energy_measure.machine.describe import temperatures
from energy_measure.machine.stability import Look, Stability, StabilityLimits, check, wait_until_stable
from energy_measure.meters import Meter, PowerModel
from energy_measure.meters.cpu_time import process_time
from energy_measure.program.call_sites import CallSite, relative
from energy_measure.program.found_sites import FoundSites
from energy_measure.program.process import Ended, Program, ProgramStopped
from energy_measure.sampling.controller import Sampling
from energy_measure.sampling.gpu_keepalive import gpus_awake
from energy_measure.sampling.recording import Recording
from energy_measure.sampling.trace import SampledTrace
from energy_measure.statistics import Interval

READINGS = 2.0
TEMPERATURE_SECONDS = 5.0
"""Between two looks at the temperatures: a driver may take milliseconds to answer."""
INTERRUPTED = "The program was interrupted."
AFTER_SECONDS = 0.5
"""Rest after the program: its tail, and where the baseline has drifted to."""

EXIT_SECONDS = 60.0


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
    stopped: str
    """Why the program was ended before; empty if it was not."""
    error: str
    """The program's last error, in one line."""
    energies: Mapping[Key, SiteEnergy]
    """Of all calls of a site."""
    firsts: Mapping[Key, FirstCall]
    """The first call of each site with several."""
    later: Mapping[Key, SiteEnergy]
    """The others of these."""
    phases: Mapping[PhaseName, PhaseShare]
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
    inside: InsideRun = field(default_factory=InsideRun)
    temperatures: Mapping[str, tuple[tuple[float, float], ...]] = field(default_factory=dict)
    """By device: seconds from the start of the run, degrees Celsius."""

    @property
    def ending(self) -> Literal["finished", "failed", "partial"]:
        """How the program ended."""
        if self.stopped:
            return "partial"
        return "failed" if self.status else "finished"


class Runs:
    """Runs of one instrumented entry point, one after the other."""

    def __init__(
        self,
        python: Path,
        specification: Mapping[str, Any],
        found_sites: FoundSites,
        meters: Sequence[Meter],
        *,
        cwd: Path,
        pace: Pace,
        period_s: float | None,
        timeout: float | None,
        output: IO[bytes] | int,
        errors: IO[bytes] | int,
        lock: int | None = None,
    ) -> None:
        self.python = python
        self.specification = specification
        self.found_sites = found_sites
        self.meters = meters
        self.cwd = cwd
        self.pace = pace
        self.period_s = period_s
        self.timeout = timeout
        self.output = output
        self.errors = errors
        self.lock = lock
        """The host's measurement lock, for who cleans up after this process."""
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
                self.python,
                self.specification,
                folder,
                cwd=self.cwd,
                output=self.output,
                errors=self.errors,
                lock=self.lock,
            ) as program,
        ):
            program.wait_until_ready()
            sampling.follow(program.pid)
            counted_from = process_time(program.pid)  # it is asleep until it is told to go
            say("resting", 0.0)
            before, stability = self._rest(sampling)
            begin = time.monotonic_ns()
            warming = Warming(stability.temperatures)

            def tick(seconds: float) -> None:
                warming.look(seconds)
                say("running", seconds)

            ended, stopped = self._run(program, tick)
            span = ended or noted_end(folder, program.pid) or Ended(begin, time.monotonic_ns(), 1)
            after = self._after()
            say("attributing", 0.0)
            killed = ended is None and not noted(folder, program.pid).get("finished")
            marks = CpuCheckpoints.read(folder, program.pid, counted_from, killed)
            recording = sampling.stop()
            result = self._result(folder, marks, span, [before, after], recording, stability, killed)
            replays: Mapping[int, Replayed] = {}
            problems: list[str] = []
            if ended is not None and ended.status == 0:
                replays, problems = self._replay(program, folder, result, say)
            status = program.finish(self._seconds_to_exit((span.end - span.begin) * 1e-9))
        return replace(
            result,
            whole=ended is not None,
            temperatures=warming.series,
            status=status,
            stopped=stopped,
            error=result.error
            or (f"The program was {program.outcome()}." if status < 0 and not stopped else ""),
            replays=replays,
            problems=(*result.problems, *problems),
        )

    def _run(self, program: Program, tick: Callable[[float], None]) -> tuple[Ended | None, str]:
        """Let the program run; gives its end, or why it was ended before. What it did until then is kept."""
        try:
            return program.run(self.timeout, tick), ""
        except ProgramStopped as stopped:
            return None, str(stopped)
        except KeyboardInterrupt:
            program.end()
            return None, INTERRUPTED

    def _seconds_to_exit(self, ran: float) -> float:
        """How long exit handlers may take: what `--timeout` leaves of it, as they are part of the program."""
        return EXIT_SECONDS if self.timeout is None else max(1.0, min(EXIT_SECONDS, self.timeout - ran))

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
        in_place = [
            replace(result.later.get(key, energy), site=key.site)
            for key, energy in result.energies.items()
            if not key.tracing
        ]
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
        marks: CpuCheckpoints,
        span: Ended,
        idle: Sequence[IdleWindow],
        recording: Recording,
        stability: Stability,
        killed: bool,
    ) -> OneRun:
        renumbered = self.found_sites.read(folder)
        sites = self.found_sites.sites
        looking = Looking(self.python, folder, span.end)
        overhead = looking.overhead(keyed(Events.read(folder, renumbered, span.end if killed else None)))
        problems = list(recording.problems)
        parts: list[DeviceAttribution] = []
        devices: list[tuple[SampledTrace, DeviceAttribution, Baseline]] = []
        for trace in self._traces(recording, marks, overhead.events):
            try:
                baseline = self._baseline(trace, idle)
                found_joules = attribute(
                    trace,
                    overhead.events,
                    baseline,
                    (span.begin, span.end),
                    most_watts=most_watts(trace),
                )
                parts.append(overhead.without(found_joules))
                devices.append((trace, parts[-1], baseline))
            except TooFewReadingsError as problem:
                problems.append(f"{problem}; its energy is left out.".capitalize())
        every = overhead.corrected()
        recorded = replace(every, site=every.site // 2)
        found = read_calls(folder)
        phases = phases_of(
            recorded,
            [Kind(site.phase, site.api) for site in sites],
            parts,
            (span.end - span.begin) / 1e9 - overhead.seconds,
            outside := outside_time(marks, recorded),
            self._children(recording, recorded, span, parts, outside, found),
        )
        events, parts = only_calls(every, parts, sites)
        energies = {unkeyed(number): energy for number, energy in site_energies(events, parts).items()}
        firsts, later = firsts_and_later(events, parts)
        shortest = shortest_readable(recording.traces)
        sharp = {unkeyed(number) for number in set(events.site[marks.hold(events)].tolist())}
        blurred = frozenset(
            key for key, e in energies.items() if e.seconds * e.count < shortest and key not in sharp
        )
        return OneRun(
            seconds=(span.end - span.begin) / 1e9 - overhead.seconds,
            status=span.status,
            whole=True,
            stopped="",
            error=next((process["error"] for process in found if process.get("error")), ""),
            energies={
                key: energy if key not in blurred else unresolved(energy) for key, energy in energies.items()
            },
            firsts={unkeyed(number): first for number, first in firsts.items()},
            later={
                key: energy if key not in blurred else unresolved(energy)
                for key, energy in ((unkeyed(number), energy) for number, energy in later.items())
            },
            phases=phases,
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
            inside=self._inside(looking, every, devices),
        )

    def _inside(
        self,
        looking: Looking,
        events: Events,
        devices: Sequence[tuple[SampledTrace, DeviceAttribution, Baseline]],
    ) -> InsideRun:
        """What the calls' energy went into; their own figures stand whatever becomes of it."""
        cells, entry = self.specification.get("cells", ()), str(self.specification["entry"])
        project = Path(self.specification.get("project") or self.cwd)
        places = cell_places(cells, relative(self.cwd / entry, project))
        try:
            return looking.account(events, devices, places, self.cwd, project)
        except Exception as problem:
            return InsideRun(
                notes=(f"What is inside calls could not be told ({type(problem).__name__}: {problem}).",)
            )

    def _traces(self, recording: Recording, marks: CpuCheckpoints, events: Events) -> list[SampledTrace]:
        """One trace per device, the estimated one with the marks that the program made."""
        if not marks or not any(trace.estimated for trace in recording.sources):
            return recording.traces
        per_ns = PowerModel.from_environment().active_watts * 1e-9
        estimated = [trace for trace in recording.sources if trace.estimated]
        others = replace(recording, sources=tuple(t for t in recording.sources if not t.estimated)).traces
        return [with_checkpoints(estimated, marks, events, per_ns), *others]

    def _children(
        self,
        recording: Recording,
        events: Events,
        span: Ended,
        parts: Sequence[DeviceAttribution],
        outside: OutsideTime,
        found: Sequence[Mapping[str, Any]],
    ) -> float:
        """Part of the energy outside of all events that processes drew which the program started."""
        estimated = [trace for trace in recording.sources if trace.estimated]
        if len(estimated) == 2 and len(estimated[1]) > 1:
            between = sum(part.program_joules - float(part.exclusive.sum()) for part in parts)
            others = estimated[1]
            begins, ends = gaps(events, span.begin, span.end)
            counted = np.interp(np.stack((begins, ends)), others.times_ns, others.values)
            return float(np.clip((counted[1] - counted[0]).sum() / between, 0.0, 1.0)) if between > 0 else 0.0
        seconds = sum(float(process.get("children_cpu", 0)) for process in found) * 1e-9
        return seconds / (seconds + outside.process) if seconds > 0 else 0.0

    def _baseline(self, trace: SampledTrace, idle: Sequence[IdleWindow]) -> Baseline:
        if trace.estimated:
            return no_baseline(int(trace.times_ns[0]))
        return fit_baseline(trace, idle)


class Warming:
    """How warm the machine gets during a run, looked up now and then; not at all where nothing tells it."""

    def __init__(self, before: Mapping[str, float]) -> None:
        self.series = {device: ((0.0, degrees),) for device, degrees in before.items()}
        self._next = TEMPERATURE_SECONDS

    def look(self, seconds: float) -> None:
        """Note the temperatures if it is time to."""
        if not self.series or seconds < self._next:
            return
        self._next = seconds + TEMPERATURE_SECONDS
        for device, degrees in warmth().items():
            self.series[device] = (*self.series.get(device, ()), (round(seconds, 3), degrees))


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


def most_watts(trace: SampledTrace) -> float | None:
    """What the device of a trace can draw above idle, where that is known: all CPUs busy, for the estimate."""
    if not trace.estimated:
        return None
    return PowerModel.from_environment().active_watts * (os.cpu_count() or 1)


def gaps(events: Events, begin: int, end: int) -> tuple[Integers, Integers]:
    """When nothing recorded ran: beginnings and ends."""
    covered = np.maximum.accumulate(np.concatenate(([begin], np.minimum(events.end, end))))
    following = np.concatenate((np.minimum(events.start, end), [end]))
    empty = following > covered
    return covered[empty], following[empty]


def only_calls(
    events: Events, parts: Sequence[DeviceAttribution], sites: Sequence[CallSite]
) -> tuple[Events, list[DeviceAttribution]]:
    """The calls alone, with what each draws without the calls in it; the rest of what was recorded is in the phases."""
    if not len(events):
        return events, list(parts)
    number = events.site // 2
    counted = np.array([site.is_call for site in sites], dtype=np.bool_)[number]
    parts = [among_calls(events, part, counted) for part in parts]
    return selected(events, parts, np.array([site.listed for site in sites], dtype=np.bool_)[number])


def keyed(events: Events) -> Events:
    """The same events with calls at trace time told apart from the others of their site."""
    return replace(events, site=events.site * 2 + events.tracing)


def numbered(key: Key) -> int:
    """The number of `keyed` for a key."""
    return key.site * 2 + key.tracing


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
    return Ended(int(found["begin"]), int(found["end"]), 1) if found.get("finished") else None


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
    names = [field.name for field in fields(Environment)]
    return Environment(**{name: versions.get(name, "") for name in names})
