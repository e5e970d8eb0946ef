"""Puts measured runs into the database: each finished run at once, with what its repeats say together."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from energy_code.text.lines import Lines
from energy_code.workspace.notebook import Notebook, NotebookProblem
from energy_data.database.database import Database
from energy_data.exchange.sharing import shared_text
from energy_data.model import CallSpan, Inside, Machine, Measurement, Part, Phase, Run, Trace
from energy_data.paths import user_database
from energy_data.untrusted.reading import read_source
from energy_measure.attribution.observations import TooFewReadingsError, observe
from energy_measure.inside.parts import MeasuredPart
from energy_measure.program.call_sites import CallSite
from energy_measure.program.process import without_values
from energy_measure.program.repository import Repository
from energy_measure.results import MeasuredCall, MeasuredProgram
from energy_measure.run.one_run import OneRun, unkeyed
from energy_measure.sampling.trace import SampledTrace

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
    repository: Repository
    project: Path
    settings: Mapping[str, str | float | bool]
    """What the run is measured with."""
    events: bool = False
    """Keep the start and end of every call, not of the longest alone."""
    project_id: str = ""
    arguments: tuple[str, ...] = ()
    """Of the program, whose values are not kept: neither in what it says when it fails."""

    def store(
        self,
        program: MeasuredProgram,
        runs: Sequence[OneRun],
        sites: Sequence[CallSite],
        inside_note: str = "",
    ) -> None:
        """Keep what the runs up to now say, in place of what fewer of them said, in one transaction."""
        with Database.open(self.database) as database:
            database.replace_run(
                self._run(program, runs),
                [self._measurement(number, call) for number, call in enumerate(program.calls)],
                self._traces(runs[-1]),
                self._spans(runs[-1], sites),
                [
                    Phase(self.run_id, name, share.joules, share.seconds, share.detail)
                    for name, share in program.phases.items()
                ],
                parts=[
                    part for number, call in enumerate(program.calls) for part in self._parts(number, call)
                ],
                inside=self._inside(program, runs, inside_note),
            )

    def seconds_before(self) -> float | None:
        """How long the same command took when it was last measured."""
        if not self.database.exists():
            return None
        with Database.read(self.database) as database:
            same = [
                run.seconds
                for run in database.runs()
                if run.command == self.command and run.project_id == self.project_id
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
            commit=self.repository.commit,
            repository=self.repository.url,
            owner=self.repository.owner,
            branch=self.repository.branch,
            commit_date=self.repository.commit_date,
            settings=self.settings,
            temperature_series=last.temperatures,
            stability_seconds=sum(run.stability.waited for run in runs),
            project=self.project.name,
            temperatures=last.stability.temperatures,
            seconds=program.seconds,
            joules=program.joules,
            unaccounted_joules=program.unaccounted,
            project_id=self.project_id,
            status=last.ending,
            error=shared_text(without_values(last.error or last.stopped, self.arguments), str(self.project)),
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
            column=call.site.column,
            function=call.site.function,
            text=call.site.text,
            kind=call.site.kind,
            first_joules=call.first_joules,
            first_seconds=call.first_seconds,
            covers=call.interval_covers,
        )

    def _parts(self, number: int, call: MeasuredCall) -> list[Part]:
        return [self._part(f"{self.run_id}-{number}", part) for part in call.inside]

    def _part(self, measurement: str, part: MeasuredPart) -> Part:
        called = part.called[0] if part.called else None
        return Part(
            self.run_id,
            measurement,
            part.origin.path,
            part.origin.kind,
            part.stage,
            part.origin.file,
            part.origin.line,
            part.joules,
            part.seconds,
            part.count,
            part.observed,
            part.interval.low,
            part.interval.high,
            called.file if called is not None else "",
            called.line if called is not None else 0,
            part.operations,
            part.repeats,
            tuple((one.path, one.file, one.line) for one in part.fused),
        )

    def _inside(self, program: MeasuredProgram, runs: Sequence[OneRun], note: str) -> Inside | None:
        if not note:
            return None
        looked = sum(run.inside.looked_at for run in runs) / len(runs)
        flows = sorted({flow for run in runs for flow in run.inside.flows})
        known = [run.inside.sparse for run in runs if run.inside.sparse]
        sparse = {
            factor: sum(one.get(factor, 1.0) for one in known) / len(known)
            for factor in (known[0] if known else ())
        }
        return Inside(self.run_id, note, looked, tuple(flows), sparse, self._lines(program))

    def _lines(self, program: MeasuredProgram) -> dict[str, dict[int, str]]:
        """The text of the lines that calls and their parts stand in; those of a notebook count through its cells."""
        wanted: dict[str, set[int]] = {}
        for call in program.calls:
            if call.inside:
                wanted.setdefault(call.site.file, set()).add(call.site.line)
            for part in call.inside:
                if part.origin.line:
                    wanted.setdefault(part.origin.file, set()).add(part.origin.line)
                for place in part.called:
                    wanted.setdefault(place.file, set()).add(place.line)
                for other in part.fused:
                    wanted.setdefault(other.file, set()).add(other.line)
        found: dict[str, dict[int, str]] = {}
        for file, lines in wanted.items():
            try:
                text = _texts(self.project / file)
            except (OSError, UnicodeError, NotebookProblem):
                continue
            found[file] = {line: text[line - 1].strip() for line in sorted(lines) if 0 < line <= len(text)}
        return found

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
        """When the longest calls ran, or all, with steps and layers inside of them."""
        events = run.events
        longest = np.sort(
            np.argsort(events.start - events.end, kind="stable")[: None if self.events else SPANS]
        )
        found = []
        for index in longest:
            site = sites[unkeyed(int(events.site[index])).site]
            start, end = (int(times[index]) - run.begin for times in (events.start, events.end))
            thread = int(events.thread[index])
            found.append(
                CallSpan(self.run_id, site.api, site.file, site.line, thread, start / 1e9, end / 1e9)
            )
        for one in run.inside.spans:
            start, end = one.start - run.begin, one.end - run.begin
            found.append(
                CallSpan(self.run_id, one.name, one.file, one.line, one.thread, start / 1e9, end / 1e9)
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


def _texts(path: Path) -> list[str]:
    """The lines of a Python file, or of all code cells of a notebook; none of what is neither."""
    if path.suffix == ".py":
        return Lines(read_source(path)).texts()
    if path.suffix == ".ipynb":
        return Notebook.read(read_source(path)).document.lines().texts()
    return []
