"""Who drew what in a run: the energy of its traces shared out among calls and phases."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from energy_data.model import Quantity
from energy_measure.attribution.baseline import Baseline, IdleWindow, fit_baseline, no_baseline
from energy_measure.attribution.cpu_checkpoints import CpuCheckpoints, with_checkpoints
from energy_measure.attribution.events import Events, Integers
from energy_measure.attribution.firsts import among_calls, firsts_and_later, selected
from energy_measure.attribution.observations import TooFewReadingsError
from energy_measure.attribution.phases import Children, Kind, phases_of
from energy_measure.attribution.python_time import OutsideTime, outside_time
from energy_measure.attribution.site_energy import SiteEnergy, site_energies
from energy_measure.attribution.solver import DeviceAttribution, attribute
from energy_measure.inside.looking import InsideRun, Looking, cell_places
from energy_measure.inside.splitting import joined
from energy_measure.machine.stability import Stability
from energy_measure.meters import PowerModel
from energy_measure.program.call_sites import CallSite, relative
from energy_measure.program.found_sites import FoundSites
from energy_measure.program.process import Ended
from energy_measure.run.notes import environment, lost_records, read_calls, signatures
from energy_measure.run.one_run import Key, OneRun, keyed, unkeyed
from energy_measure.sampling.recording import Recording
from energy_measure.sampling.trace import SampledTrace
from energy_measure.statistics import Interval

READINGS = 2.0
WATTS_PER_CPU = 40.0
"""No processor draws more for each of its hardware threads, all of them busy: a bound where its own is not told."""
WATTS_PER_GPU = 1500.0
"""No GPU draws more: the same where the driver tells no limit."""


@dataclass(frozen=True, slots=True, eq=False)
class FinishedRun:
    """What a run left behind: what it recorded, when it ran, and what the meters saw."""

    folder: Path
    """Where the program's processes wrote."""
    cwd: Path
    """Where the program ran."""
    python: Path
    specification: Mapping[str, Any]
    marks: CpuCheckpoints
    span: Ended
    killed: bool
    """It did not come to its end: what had begun counts until then."""
    idle: Sequence[IdleWindow]
    recording: Recording
    stability: Stability


def accounted(ran: FinishedRun, found_sites: FoundSites) -> OneRun:
    """Share the energy of a run out; everything else of it is put in by who knows."""
    span = ran.span
    renumbered = found_sites.read(ran.folder)
    sites = found_sites.sites
    looking = Looking(ran.python, ran.folder, span.end)
    overhead = looking.overhead(
        keyed(Events.read(ran.folder, renumbered, span.end if ran.killed else None, len(sites)))
    )
    devices, problems = _attributed(ran, overhead.events)
    devices = [(trace, overhead.without(part), baseline) for trace, part, baseline in devices]
    parts = [part for _, part, _ in devices]
    every = overhead.corrected()
    recorded = replace(every, site=every.site // 2)
    found = read_calls(ran.folder)
    phases = phases_of(
        recorded,
        [Kind(site.phase, site.api) for site in sites],
        parts,
        (span.end - span.begin) / 1e9 - overhead.seconds,
        outside := outside_time(ran.marks, recorded),
        _children(ran, recorded, parts, outside, found),
        thread_watts([trace for trace, _, _ in devices]),
    )
    events, parts = only_calls(every, parts, sites)
    energies = {unkeyed(number): energy for number, energy in site_energies(events, parts).items()}
    firsts, later = firsts_and_later(events, parts)
    shortest = shortest_readable(ran.recording.traces)
    sharp = {unkeyed(number) for number in set(events.site[ran.marks.hold(events)].tolist())}
    blurred = frozenset(
        key for key, e in energies.items() if e.seconds * e.count < shortest and key not in sharp
    )
    return OneRun(
        seconds=(span.end - span.begin) / 1e9 - overhead.seconds,
        status=span.status,
        whole=True,
        stopped="",
        error=next((process["error"] for process in found if process.get("error")), ""),
        energies=_honest(energies, blurred),
        firsts={unkeyed(number): first for number, first in firsts.items()},
        later=_honest({unkeyed(number): energy for number, energy in later.items()}, blurred),
        phases=phases,
        blurred=blurred,
        replays={},
        joules={part.device: Quantity(part.program_joules, part.program_stderr) for part in parts},
        outside=sum(part.outside_joules for part in parts),
        events=events,
        begin=span.begin,
        traces=[trace.around(span.begin, span.end) for trace in ran.recording.traces],
        signatures=signatures(found),
        environment=environment(found),
        stability=ran.stability,
        problems=(*ran.recording.problems, *problems, *lost_records(found)),
        inside=_inside(ran, looking, every, devices, sites),
    )


def _attributed(
    ran: FinishedRun, events: Events
) -> tuple[list[tuple[SampledTrace, DeviceAttribution, Baseline]], list[str]]:
    """Each device's trace with what the events drew of it; and why devices are missing."""
    devices: list[tuple[SampledTrace, DeviceAttribution, Baseline]] = []
    problems: list[str] = []
    for trace in _traces(ran.recording, ran.marks, events):
        try:
            baseline = _baseline(trace, ran.idle)
            bounds = (ran.span.begin, ran.span.end)
            found = attribute(trace, events, baseline, bounds, most_watts=most_watts(trace))
            devices.append((trace, found, baseline))
        except TooFewReadingsError as problem:
            problems.append(f"{problem}; its energy is left out.".capitalize())
    return devices, problems


def _honest(energies: Mapping[Key, SiteEnergy], blurred: frozenset[Key]) -> dict[Key, SiteEnergy]:
    """The same, with intervals of blurred sites that claim nothing."""
    return {key: unresolved(energy) if key in blurred else energy for key, energy in energies.items()}


def _inside(
    ran: FinishedRun,
    looking: Looking,
    events: Events,
    devices: Sequence[tuple[SampledTrace, DeviceAttribution, Baseline]],
    sites: Sequence[CallSite],
) -> InsideRun:
    """What the calls' energy went into; their own figures stand whatever becomes of it."""
    cells, entry = ran.specification.get("cells", ()), str(ran.specification["entry"])
    project = Path(ran.specification.get("project") or ran.cwd)
    places = cell_places(cells, relative(ran.cwd / entry, project))
    builds = np.array([site.phase == "tracing" for site in sites], np.bool_)[events.site // 2]
    tracing = joined(np.column_stack((events.start[builds], events.end[builds])))
    try:
        return looking.account(events, devices, places, ran.cwd, project, tracing)
    except Exception as problem:
        return InsideRun(
            notes=(f"What is inside calls could not be told ({type(problem).__name__}: {problem}).",)
        )


def _traces(recording: Recording, marks: CpuCheckpoints, events: Events) -> list[SampledTrace]:
    """One trace per device, the estimated one with the marks that the program made."""
    if not marks or not any(trace.estimated for trace in recording.sources):
        return recording.traces
    per_ns = PowerModel.from_environment().active_watts * 1e-9
    estimated = [trace for trace in recording.sources if trace.estimated]
    others = replace(recording, sources=tuple(t for t in recording.sources if not t.estimated)).traces
    return [with_checkpoints(estimated, marks, events, per_ns), *others]


def _children(
    ran: FinishedRun,
    events: Events,
    parts: Sequence[DeviceAttribution],
    outside: OutsideTime,
    found: Sequence[Mapping[str, Any]],
) -> Children:
    """What processes did which the program started, outside of all events."""
    estimated = [trace for trace in ran.recording.sources if trace.estimated]
    if len(estimated) == 2 and len(estimated[1]) > 1:
        between = sum(part.program_joules - float(part.exclusive.sum()) for part in parts)
        others = estimated[1]
        begins, ends = gaps(events, ran.span.begin, ran.span.end)
        counted = np.interp(np.stack((begins, ends)), others.times_ns, others.values)
        joules = float(np.clip((counted[1] - counted[0]).sum(), 0.0, max(between, 0.0)))
        watts = PowerModel.from_environment().active_watts
        return Children(joules / between, joules / watts) if joules > 0 else Children()
    seconds = sum(float(process.get("children_cpu", 0)) for process in found) * 1e-9
    return Children(seconds / (seconds + outside.process), seconds) if seconds > 0 else Children()


def thread_watts(traces: Sequence[SampledTrace]) -> float:
    """The most that a thread which computes has drawn: what the estimate gives it, else all that the machine can."""
    if all(trace.estimated for trace in traces):
        return PowerModel.from_environment().active_watts
    return sum(most_watts(trace) or WATTS_PER_CPU * (os.cpu_count() or 1) for trace in traces)


def _baseline(trace: SampledTrace, idle: Sequence[IdleWindow]) -> Baseline:
    if trace.estimated:
        return no_baseline(int(trace.times_ns[0]))
    return fit_baseline(trace, idle)


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
    """What the device of a trace can draw: what its meter tells, else what no processor and no GPU exceeds."""
    if trace.limit_watts:
        return trace.limit_watts
    if trace.device == "gpu":
        return WATTS_PER_GPU * len(trace.source.split(" + "))
    return WATTS_PER_CPU * (os.cpu_count() or 1) if trace.device == "cpu" else None


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
