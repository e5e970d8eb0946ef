"""Puts measured runs into the database: each finished run at once, with what its repeats say together."""

from __future__ import annotations

import datetime
import subprocess
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from energy_data.database import Database
from energy_data.model import CallSpan, Machine, Measurement, Run, Trace
from energy_data.paths import user_database
from energy_measure.call_sites import CallSite
from energy_measure.observations import TooFewReadingsError, observe
from energy_measure.one_run import OneRun, unkeyed
from energy_measure.results import MeasuredCall, MeasuredProgram
from energy_measure.traces import SampledTrace

TRACE_POINTS = 2000
SPANS = 2000


@dataclass(frozen=True, slots=True)
class Storing:
    """Where and under which heading the runs of one entry point are kept."""

    database: Path
    run_id: str
    machine: Machine
    command: str
    started: str
    meter: str
    estimated: bool
    commit: str
    project: str

    def store(self, program: MeasuredProgram, runs: Sequence[OneRun], sites: Sequence[CallSite]) -> None:
        """Keep what the runs up to now say, in place of what fewer of them said, in one transaction."""
        with Database.open(self.database) as database:
            database.replace_run(
                self._run(program, runs),
                [self._measurement(number, call) for number, call in enumerate(program.calls)],
                self._traces(runs[-1]),
                self._spans(runs[-1], sites),
            )

    def seconds_before(self) -> float | None:
        """How long the same command took when it was last measured."""
        if not self.database.exists():
            return None
        with Database.read(self.database) as database:
            same = [
                run.seconds
                for run in database.runs()
                if run.command == self.command and run.project == self.project
            ]
        return same[-1] if same else None

    def _run(self, program: MeasuredProgram, runs: Sequence[OneRun]) -> Run:
        last = runs[-1]
        return Run(
            id=self.run_id,
            machine=self.machine,
            environment=last.environment,
            command=self.command,
            started=self.started,
            meter=self.meter,
            estimated=self.estimated,
            stable=None if self.estimated else all(run.stability.stable for run in runs),
            commit=self.commit,
            project=self.project,
            temperatures=last.stability.temperatures,
            seconds=program.seconds,
            joules=program.joules,
            unaccounted_joules=program.unaccounted,
        )

    def _measurement(self, number: int, call: MeasuredCall) -> Measurement:
        return Measurement(
            id=f"{self.run_id}-{number}",
            run_id=self.run_id,
            api=call.site.api,
            file=call.site.file,
            line=call.site.line,
            signature=call.signature,
            seconds=call.seconds,
            joules=call.joules,
            count=call.count,
            repeats=call.repeats,
            resolved=call.resolved,
            method=call.method,
            at_trace_time=call.tracing,
            tail_joules=call.tail,
            low=call.interval.low,
            high=call.interval.high,
            exclusive_joules=call.exclusive,
        )

    def _traces(self, run: OneRun) -> list[Trace]:
        found = (self._trace(trace, run.begin) for trace in run.traces)
        return [trace for trace in found if trace is not None]

    def _trace(self, trace: SampledTrace, begin: int) -> Trace | None:
        """Power over the run, in at most so many points, by the seconds since it began, as those of its calls."""
        try:
            seen = observe(trace)
        except TooFewReadingsError:
            return None
        ends = seen.ends + (seen.origin_ns - begin) * 1e-9
        step = -(-len(seen) // TRACE_POINTS)
        first = np.arange(0, len(seen), step)
        joules = np.add.reduceat(seen.joules, first)
        lengths = np.add.reduceat(seen.ends - seen.starts, first)
        return Trace(
            self.run_id,
            trace.device,
            tuple(float(second) for second in ends[np.minimum(first + step, len(seen)) - 1]),
            tuple(float(watts) for watts in joules / np.maximum(lengths, 1e-9)),
        )

    def _spans(self, run: OneRun, sites: Sequence[CallSite]) -> list[CallSpan]:
        """When the longest calls ran."""
        events = run.events
        longest = np.sort(np.argsort(events.start - events.end, kind="stable")[:SPANS])
        found = []
        for index in longest:
            site = sites[unkeyed(int(events.site[index])).site]
            start, end = (int(times[index]) - run.begin for times in (events.start, events.end))
            thread = int(events.thread[index])
            found.append(
                CallSpan(self.run_id, site.api, site.file, site.line, thread, start / 1e9, end / 1e9)
            )
        return found


def new_run_id() -> str:
    """A name for a run that sorts by time."""
    now = datetime.datetime.now(datetime.timezone.utc)
    return f"{now:%Y%m%d-%H%M%S}-{uuid.uuid4().hex[:8]}"


def now_text() -> str:
    """The present moment as the database writes it."""
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")


def database_path(asked_for: Path | None) -> Path:
    """The database to write to."""
    return asked_for or user_database()


def commit_of(project: Path) -> str:
    """The commit that the project is at; empty where there is no repository."""
    try:
        done = subprocess.run(
            ["git", "-C", str(project), "rev-parse", "HEAD"], capture_output=True, text=True, timeout=10
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
