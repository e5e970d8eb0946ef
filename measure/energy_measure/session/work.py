"""A measurement under way: runs of entry points, one after the other, each stored as soon as it is there."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from energy_data.paths import absolute
from energy_data.project_identity import project_id
from energy_data.project_places import remember_place
from energy_data.untrusted.printable import one_line
from energy_measure.host.lock import HostLock
from energy_measure.inside.parts import inside_note
from energy_measure.meters import Meter, PowerModel
from energy_measure.problems import MeasureProblem
from energy_measure.program.call_sites import Instrumented, relative
from energy_measure.program.found_sites import FoundSites
from energy_measure.program.interpreters import Interpreter
from energy_measure.program.process import ProgramStopped, command_line
from energy_measure.program.repository import repository_of
from energy_measure.request import MeasureRequest
from energy_measure.results import combine_runs
from energy_measure.run.one_run import INTERRUPTED, OneRun
from energy_measure.run.runs import QUICK, THOROUGH, RepeatedRuns
from energy_measure.session.measured import Interrupted, Measured, MeasuredRun, Progress, Tell
from energy_measure.storage import Storing, new_run_id, now_text
from energy_measure.usual_spread import usual_spread

LONGEST_ERROR = 80
"""Characters of an error beyond which its kind alone is shown."""


class Work:
    """A measurement under way: runs of entry points, one after the other."""

    def __init__(
        self,
        request: MeasureRequest,
        python: Interpreter,
        meters: Sequence[Meter],
        measured: MeasuredRun,
        tell: Tell,
        entries: int,
        output: IO[bytes],
        errors: IO[bytes],
        lock: HostLock,
    ) -> None:
        self.lock = lock
        self.request = request
        self.python = python
        self.meters = meters
        self.measured = measured
        self.output = output
        self.errors = errors
        self.repeats = request.options.repeat
        self.clock = Clock(tell, entries * self.repeats)
        self.gpu = any("gpu" in info.devices for info in measured.machine.meters)
        self.finished = 0

    def measure(self, entry: Path, instrumented: Instrumented) -> None:
        """All runs of one entry point; what each gives is stored at once."""
        options = self.request.options
        result = Measured(
            new_run_id(), command_line(entry, options.arguments, keep=self.request.keep_arguments)
        )
        self.measured.programs.append(result)
        self._note([*instrumented.problems, *instrumented.left_out])
        cwd = self._working_folder(entry)
        runs = RepeatedRuns(
            self.python.path,
            {
                **instrumented.specification(
                    self._seen_from(cwd, entry), cwd, options.arguments, gpu=self.gpu, marking=True
                ),
                "inside": options.inside,
                "project": str(self.request.project.resolve()),
            },
            found_sites := FoundSites(instrumented),
            self.meters,
            cwd=cwd,
            pace=QUICK if options.quick else THOROUGH,
            period_s=options.period_ms / 1e3 if options.period_ms else None,
            timeout=options.timeout or None,
            output=self.output,
            errors=self.errors,
            lock=self.lock.descriptor,
        )
        storing = self._storing(result, entry)
        self.clock.expect(storing.seconds_before())
        spread = usual_spread(self.measured.database, self.measured.machine, self.measured.meter)
        done: list[OneRun] = []
        for number in range(self.repeats):
            try:
                run = self._once(runs, entry, number)
            except ProgramStopped as stopped:
                result.failure, result.kept = f"{result.command}: {stopped}", _kept(len(done))
                return
            except KeyboardInterrupt:
                raise Interrupted(self.measured, self.finished) from None
            result.status, result.error = run.ending, run.error or run.stopped
            result.environment = run.environment
            if not run.stopped or not done:  # a part of a run says nothing beside whole ones
                done.append(run)
            self._note([*run.problems, *_unsteady(run)])
            result.program = combine_runs(done, found_sites.sites, spread)
            result.inside_note = inside_note(
                options.inside,
                [one.inside for one in done],
                listed=any(call.inside for call in result.program.calls),
            )
            storing.store(result.program, done, found_sites.sites, result.inside_note)
            if run.stopped == INTERRUPTED:
                result.failure, result.kept = f"{result.command} was interrupted.", _kept(len(done))
                raise Interrupted(self.measured, self.finished)
            self.finished += 1
            if run.stopped:
                result.failure, result.kept = f"{result.command}: {run.stopped}", _kept(len(done))
                return
            if run.status:
                result.killed = run.status < 0
                result.failure, result.kept = f"{result.command} {_ending(run)}", _kept(len(done))
                return

    def _once(self, runs: RepeatedRuns, entry: Path, number: int) -> OneRun:
        name = f"{entry.name}, run {number + 1} of {self.repeats}"
        with tempfile.TemporaryDirectory(prefix="energy-lsp-") as folder:
            self.clock.begin(name)
            try:
                run = runs.once(Path(folder), self.clock.stage)
            except FileNotFoundError as problem:
                if not str(problem.filename).startswith(folder):
                    raise
                raise MeasureProblem(
                    f"{entry.name} deleted the folder that its measurement is recorded in, {folder}: have it leave "
                    "other folders in the temporary folder alone, or set TMPDIR to one that it does not clean."
                ) from problem
            self.clock.end()
            return run

    def _storing(self, result: Measured, entry: Path) -> Storing:
        measured = self.measured
        identity = project_id(self.request.project)
        remember_place(identity, self.request.project)
        return Storing(
            measured.database,
            result.run_id,
            measured.machine,
            self._stored_command(entry),
            now_text(),
            measured.meter,
            measured.estimated,
            repository_of(self.request.project),
            self.request.project.resolve(),
            self._settings(),
            self.request.options.events,
            identity,
            () if self.request.keep_arguments else tuple(self.request.options.arguments),
        )

    def _stored_command(self, entry: Path) -> str:
        """The command line as the database has it: the program by its place in the project, wherever that lies."""
        named = Path(
            relative(self.request.path / entry if self.request.path.is_dir() else entry, self.request.project)
        )
        inside = Path(named.name) if named.is_absolute() else named
        return command_line(inside, self.request.options.arguments, keep=self.request.keep_arguments)

    def _settings(self) -> dict[str, str | float | bool]:
        """What the figures depend on beside the program, for whoever repeats the measurement."""
        options = self.request.options
        pace = QUICK if options.quick else THOROUGH
        # Of an estimate: what it multiplied CPU time by, and who says so.
        model = PowerModel.from_environment() if self.measured.estimated else None
        return {
            **(
                {}
                if model is None
                else {"active_watts": model.active_watts, "active_watts_from": model.source}
            ),
            "quick": options.quick,
            "repeat": options.repeat,
            "period_ms": options.period_ms,
            "timeout": options.timeout,
            "wait_seconds": pace.wait_seconds,
            "replay_seconds": pace.replay_seconds,
            "events": options.events,
        }

    def _working_folder(self, entry: Path) -> Path:
        """Where a person would start it: here for a script, in its folder for a project or a notebook."""
        if self.request.path.is_dir():
            return self.request.path
        return absolute(entry).parent if entry.suffix == ".ipynb" else Path.cwd()

    def _seen_from(self, cwd: Path, entry: Path) -> Path:
        return Path(entry.name) if entry.suffix == ".ipynb" and not self.request.path.is_dir() else entry

    def _note(self, problems: Sequence[str]) -> None:
        self.measured.problems += [problem for problem in problems if problem not in self.measured.problems]


class Clock:
    """Tells how far the measurement is, and how long it will take as soon as that can be known."""

    def __init__(self, tell: Tell, runs: int) -> None:
        self.tell = tell
        self.runs = runs
        self.took: list[float] = []
        self.name = ""
        self.began = 0.0
        self.expected: float | None = None
        """Seconds of a run before the first has told, from an earlier measurement."""

    def expect(self, seconds: float | None) -> None:
        """How long a run took before."""
        self.expected = seconds

    def begin(self, name: str) -> None:
        """A run begins."""
        self.name = name
        self.began = time.monotonic()
        self.stage("starting", 0.0)

    def stage(self, stage: str, seconds: float) -> None:
        """`seconds`: how long this stage has taken, or will take."""
        here = time.monotonic() - self.began
        shown = f"{self.name}: {stage}" + (f" ({seconds:.0f} s)" if seconds >= 1 else "")
        each = sum(self.took) / len(self.took) if self.took else self.expected
        if not each:
            self.tell(Progress(shown, 0.0, None))
            return
        left = max(0.0, each - here) + each * (self.runs - len(self.took) - 1)
        fraction = (len(self.took) + min(0.99, here / each)) / self.runs
        self.tell(Progress(shown, fraction, left))

    def end(self) -> None:
        """It has ended."""
        self.took.append(time.monotonic() - self.began)


def _unsteady(run: OneRun) -> list[str]:
    if run.stability.stable:
        return []
    return [f"The machine was not steady before a run ({'; '.join(run.stability.reasons)})."]


def _ending(run: OneRun) -> str:
    how = f"was killed by signal {-run.status}" if run.status < 0 else f"left with status {run.status}"
    known = run.error.startswith(("The program was killed by ", "The program left with status "))
    said = "" if known else one_line(run.error)
    why = said.partition(":")[0] if len(said) > LONGEST_ERROR else said
    return f"{how} after {run.seconds:.1f} s{f' ({why})' if why else ''}."


def _kept(runs: int) -> str:
    if runs == 0:
        return "Nothing was measured."
    return f"What {'its run' if runs == 1 else f'its {runs} runs'} gave is kept."
