"""Runs of a program under the meters: rest, run, replay what was too short."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from energy_measure.attribution.baseline import IdleWindow
from energy_measure.attribution.cpu_checkpoints import CpuCheckpoints
from energy_measure.attribution.replay import Replayed, ReplayPlan, plan_replay, replayed
from energy_measure.attribution.site_energy import SiteEnergy
from energy_measure.machine.stability import Look, Stability, StabilityLimits, check, wait_until_stable
from energy_measure.meters import Meter
from energy_measure.meters.cpu_time import process_time
from energy_measure.program.found_sites import FoundSites
from energy_measure.program.guarded import sentence
from energy_measure.program.process import Ended, ProgramProcess, ProgramStopped
from energy_measure.run.account import FinishedRun, accounted
from energy_measure.run.notes import noted, noted_end
from energy_measure.run.one_run import INTERRUPTED, OneRun
from energy_measure.run.warming import Warming, warmth
from energy_measure.sampling.controller import Sampling
from energy_measure.sampling.gpu_keepalive import gpus_awake

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


class RepeatedRuns:
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
            ProgramProcess(
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
            ran = FinishedRun(
                folder,
                self.cwd,
                self.python,
                self.specification,
                marks,
                span,
                killed,
                [before, after],
                sampling.stop(),
                stability,
            )
            result = accounted(ran, self.found_sites)
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
            or (f"The program {program.outcome()}." if status != 0 and not stopped else ""),
            replays=replays,
            problems=(
                *result.problems,
                *problems,
                *([sentence(program.left_behind)] if program.left_behind else []),
            ),
        )

    def _run(self, program: ProgramProcess, tick: Callable[[float], None]) -> tuple[Ended | None, str]:
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
        program: ProgramProcess,
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


def within(plan: ReplayPlan, sites: Sequence[SiteEnergy], seconds: float) -> tuple[ReplayPlan, int]:
    """The part of a plan that fits into so many seconds, busiest sites first, and how many were left out."""
    busy = {site.site: site.seconds * site.count for site in sites}
    kept: dict[int, float] = {}
    for site in sorted(plan.sites, key=lambda site: -busy.get(site, 0.0)):
        wanted = replace(plan, sites={**kept, site: plan.sites[site]})
        if wanted.seconds <= seconds:
            kept[site] = plan.sites[site]
    return replace(plan, sites=kept), len(plan.sites) - len(kept)
