"""Measures a script, a notebook or a project: finds what to run, runs it repeatedly, keeps the results."""

from __future__ import annotations

import math
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from energy_code.calls import Call
from energy_code.notebook import NotebookProblem
from energy_code.project import Project
from energy_data.model import Machine
from energy_measure.call_sites import Instrumented
from energy_measure.entry_points import find_entry_points, named_entry_points, python_files, reached_files
from energy_measure.environments import (
    Interpreter,
    create_environment,
    find_interpreter,
    inspect_interpreter,
)
from energy_measure.machine import describe
from energy_measure.meters import CpuTimeMeter, Meter, choose
from energy_measure.one_run import QUICK, THOROUGH, OneRun, Runs
from energy_measure.problems import MeasureProblem
from energy_measure.request import MeasureRequest
from energy_measure.results import MeasuredProgram, combine_runs
from energy_measure.runner import ProgramStopped, command_line
from energy_measure.storing import Storing, commit_of, database_path, new_run_id, now_text


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a measurement is."""

    message: str
    fraction: float
    """Of the whole measurement, 0 to 1."""
    seconds_left: float | None
    """None until the first run has shown how long one takes."""


Tell = Callable[[Progress], None]


@dataclass(slots=True)
class Measured:
    """One entry point: what ran, and what is known of it."""

    run_id: str
    command: str
    program: MeasuredProgram | None = None
    """None if no run came to an end that tells anything."""
    failure: str = ""
    """Why the program did not come to a good end; empty if it did."""


@dataclass(slots=True)
class MeasuredRun:
    """Everything a measurement gave."""

    meter: str
    estimated: bool
    machine: Machine
    database: Path
    programs: list[Measured] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """What a reader of the figures should know, one sentence each."""

    @property
    def failures(self) -> list[str]:
        """Why programs did not come to a good end."""
        return [measured.failure for measured in self.programs if measured.failure]

    @property
    def known(self) -> list[MeasuredProgram]:
        """The programs that figures are known of."""
        return [measured.program for measured in self.programs if measured.program is not None]

    def as_json(self) -> dict[str, Any]:
        """As `energy-lsp measure --format json` prints it."""
        known = self.known
        calls = [call for program in known for call in program.calls]
        calls.sort(key=lambda call: -call.run_joules if call.resolved else 0.0)
        stored = [measured.run_id for measured in self.programs if measured.program is not None]
        return _finite_values(
            {
                "run": stored[-1] if stored else None,
                "meter": self.meter,
                "estimated": self.estimated,
                "program": {
                    "seconds": sum(program.seconds for program in known) if known else None,
                    "joules": sum(program.total for program in known) if known else None,
                    "unaccounted": sum(program.unaccounted for program in known) if known else None,
                },
                "calls": [call.as_json() for call in calls],
            }
        )


class Interrupted(Exception):  # noqa: N818
    """The measurement was broken off; `finished` runs are in the database."""

    def __init__(self, measured: MeasuredRun, finished: int) -> None:
        kept = "1 finished run is" if finished == 1 else f"{finished} finished runs are"
        super().__init__(f"{kept} kept")
        self.measured = measured
        self.finished = finished


def measure(
    request: MeasureRequest, tell: Tell, *, announce: Callable[[str], None] = lambda line: None
) -> MeasuredRun:
    """Measure what was asked for; raises `MeasureProblem` or `MeterProblem` before anything runs.

    `announce` is told what will run, before it does.
    """
    options = request.options
    if not request.path.exists():
        raise MeasureProblem(f"There is no {request.path}; give a script, a notebook or a project folder.")
    meters = choose(options.meter)
    folder = request.path if request.path.is_dir() else request.path.absolute().parent
    if request.create_env:
        tell(Progress("making an environment for the project, unless it is there", 0.0, None))
    python = _interpreter(request, folder)
    tell(Progress("reading the program", 0.0, None))
    entries = _entries(request)
    instrumented = _instrumented(request, entries)
    announce(f"Running with Python {'.'.join(map(str, python.version))} at {python.path}:")
    for entry in entries:
        announce(f"  {command_line(entry, options.arguments)}")
    measured = MeasuredRun(
        meter="+".join(meter.name for meter in meters),
        estimated=any(meter.estimated for meter in meters),
        machine=_machine(meters),
        database=database_path(request.database),
    )
    with _outputs(request) as (output, errors):
        work = _Work(request, python, meters, measured, tell, len(entries), output, errors)
        for entry in entries:
            work.measure(entry, instrumented)
    return measured


class _Work:
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
    ) -> None:
        self.request = request
        self.python = python
        self.meters = meters
        self.measured = measured
        self.output = output
        self.errors = errors
        self.repeats = request.options.repeat
        self.clock = _Clock(tell, entries * self.repeats)
        self.gpu = any("gpu" in info.devices for info in measured.machine.meters)
        self.finished = 0

    def measure(self, entry: Path, instrumented: Instrumented) -> None:
        """All runs of one entry point; what each gives is stored at once."""
        options = self.request.options
        result = Measured(new_run_id(), command_line(entry, options.arguments))
        self.measured.programs.append(result)
        self._note(instrumented.problems)
        cwd = self._working_folder(entry)
        runs = Runs(
            self.python.path,
            instrumented.specification(
                self._seen_from(cwd, entry),
                cwd,
                options.arguments,
                gpu=self.gpu,
                marking=any(isinstance(meter, CpuTimeMeter) for meter in self.meters),
            ),
            self.meters,
            cwd=cwd,
            pace=QUICK if options.quick else THOROUGH,
            period_s=options.period_ms / 1e3 if options.period_ms else None,
            timeout=options.timeout or None,
            output=self.output,
            errors=self.errors,
        )
        storing = self._storing(result)
        self.clock.expect(storing.seconds_before())
        done: list[OneRun] = []
        for number in range(self.repeats):
            try:
                run = self._once(runs, entry, number)
            except ProgramStopped as stopped:
                result.failure = f"{result.command}: {stopped} {_kept(len(done))}"
                return
            except KeyboardInterrupt:
                raise Interrupted(self.measured, self.finished) from None
            done.append(run)
            self._note([*run.problems, *_unsteady(run)])
            result.program = combine_runs(done, instrumented.sites)
            storing.store(result.program, done, instrumented.sites)
            self.finished += 1
            if run.status:
                result.failure = f"{result.command} {_ending(run)} {_kept(len(done))}"
                return

    def _once(self, runs: Runs, entry: Path, number: int) -> OneRun:
        name = f"{entry.name}, run {number + 1} of {self.repeats}"
        with tempfile.TemporaryDirectory(prefix="energy-lsp-") as folder:
            self.clock.begin(name)
            run = runs.once(Path(folder), self.clock.stage)
            self.clock.end()
            return run

    def _storing(self, result: Measured) -> Storing:
        measured = self.measured
        return Storing(
            measured.database,
            result.run_id,
            measured.machine,
            result.command,
            now_text(),
            measured.meter,
            measured.estimated,
            commit_of(self.request.project),
            str(self.request.project.resolve()),
        )

    def _working_folder(self, entry: Path) -> Path:
        """Where a person would start it: here for a script, in its folder for a project or a notebook."""
        if self.request.path.is_dir():
            return self.request.path
        return entry.absolute().parent if entry.suffix == ".ipynb" else Path.cwd()

    def _seen_from(self, cwd: Path, entry: Path) -> Path:
        return Path(entry.name) if entry.suffix == ".ipynb" and not self.request.path.is_dir() else entry

    def _note(self, problems: Sequence[str]) -> None:
        self.measured.problems += [problem for problem in problems if problem not in self.measured.problems]


class _Clock:
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
        self.expected = seconds

    def begin(self, name: str) -> None:
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
        self.took.append(time.monotonic() - self.began)


def _interpreter(request: MeasureRequest, folder: Path) -> Interpreter:
    asked_for = request.options.python
    if not request.create_env:
        return find_interpreter(folder.absolute(), request.project.absolute(), asked_for)
    made = inspect_interpreter(create_environment(folder, asked_for))
    if made is None or not made.has_tensorflow:
        raise MeasureProblem(
            f"The requirements of {folder} do not bring TensorFlow along; add it to them, or name an interpreter "
            "that has it with --python."
        )
    return made


def _entries(request: MeasureRequest) -> list[Path]:
    """What to run, as it is named on a command line in the folder where it runs."""
    path = request.path
    if not path.is_dir():
        return [path]
    if request.options.entry:
        found = named_entry_points(path, request.options.entry)
    else:
        project = Project(path)

        def calls_of(file: Path) -> Sequence[Call]:
            analysis = project.analyse(file)
            return analysis.calls if analysis is not None else ()

        found = find_entry_points(path, python_files(path), calls_of)
    return [Path(os.path.relpath(entry, path)) for entry in found]


def _instrumented(request: MeasureRequest, entries: Sequence[Path]) -> Instrumented:
    """The program with probes: all of a folder, else a script or notebook and what it imports."""
    instrumented = Instrumented()
    whole = request.path.is_dir()
    path = request.path.absolute()
    root = path if whole else path.parent
    project = Project(root)
    cells = None
    for notebook in [root / entry for entry in entries] if whole else [path]:
        if notebook.suffix == ".ipynb":
            try:
                cells = instrumented.add_notebook(notebook, project, request.project)
            except NotebookProblem as problem:
                raise MeasureProblem(str(problem)) from problem
    for file in python_files(root) if whole else reached_files(path, cells):
        instrumented.add_file(file, project, request.project)
    if not instrumented.sites:
        for entry in entries if whole else [path]:
            if entry.suffix == ".py":
                instrumented.note_syntax(root / entry, request.project)
        if instrumented.problems:
            raise MeasureProblem(" ".join(instrumented.problems))
        raise MeasureProblem(f"{path} calls no TensorFlow or Keras API that could be measured.")
    return instrumented


def _machine(meters: Sequence[Meter]) -> Machine:
    with ExitStack() as stack:
        return describe([stack.enter_context(meter) for meter in meters])


@contextmanager
def _outputs(request: MeasureRequest) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """What the program prints goes to the file asked for, else to standard error."""
    sys.stderr.flush()
    with ExitStack() as stack:
        errors = stack.enter_context(os.fdopen(os.dup(2), "wb"))
        if request.program_output is None:
            yield errors, errors
        else:
            yield stack.enter_context(request.program_output.open("wb")), errors


def _unsteady(run: OneRun) -> list[str]:
    if run.stability.stable:
        return []
    return [f"The machine was not steady before a run ({'; '.join(run.stability.reasons)})."]


def _ending(run: OneRun) -> str:
    how = f"was killed by signal {-run.status}" if run.status < 0 else f"left with status {run.status}"
    return f"{how} after {run.seconds:.1f} s."


def _kept(runs: int) -> str:
    if runs == 0:
        return "Nothing was measured."
    return f"What {'its run' if runs == 1 else f'its {runs} runs'} gave is kept."


def _finite_values(values: dict[str, Any]) -> dict[str, Any]:
    """JSON has no infinity: an open end of an interval is null."""
    return {key: _finite(value) for key, value in values.items()}


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return _finite_values(value)
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
