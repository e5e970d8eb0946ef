"""Measures a script, a notebook or a project: finds what to run, runs it repeatedly, keeps the results."""

from __future__ import annotations

import math
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any, Literal

from energy_code.model import Call
from energy_code.workspace.notebook import NotebookProblem
from energy_code.workspace.project import Project
from energy_data.model import PHASES, Environment, Machine
from energy_data.project_identity import project_id
from energy_data.untrusted.reading import real
from energy_data.untrusted.writing import stream_into
from energy_measure.host.lock import HostLock, host_lock
from energy_measure.inside.parts import inside_note
from energy_measure.machine.describe import describe
from energy_measure.meters import Meter, choose
from energy_measure.problems import MeasureProblem
from energy_measure.program.call_sites import Instrumented
from energy_measure.program.entry_points import (
    find_entry_points,
    named_entry_points,
    python_files,
    reached_files,
)
from energy_measure.program.found_sites import FoundSites
from energy_measure.program.interpreters import (
    Interpreter,
    create_environment,
    find_interpreter,
    inspect_interpreter,
)
from energy_measure.program.process import ProgramStopped, command_line
from energy_measure.program.repository import repository_of
from energy_measure.request import MeasureRequest
from energy_measure.results import MeasuredCall, MeasuredProgram, combine_runs
from energy_measure.run import INTERRUPTED, QUICK, THOROUGH, OneRun, Runs
from energy_measure.storage import Storing, database_path, new_run_id, now_text
from energy_measure.usual_spread import usual_spread


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
    inside_note: str = ""
    """How its calls were looked into, or why not."""
    failure: str = ""
    """Why the program did not come to a good end; empty if it did."""
    killed: bool = False
    """A signal ended it."""
    status: Literal["finished", "failed", "partial"] = "finished"
    error: str = ""
    """The program's last error, in one line, or why it was stopped."""
    environment: Environment | None = None


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
                **self._ending(),
                "meter": self.meter,
                "estimated": self.estimated,
                "environment": self._environment(),
                "program": {
                    "seconds": sum(program.seconds for program in known) if known else None,
                    "joules": sum(program.total for program in known) if known else None,
                    "unaccounted": sum(program.unaccounted for program in known) if known else None,
                    "phases": _phases(known),
                },
                "calls": [call.as_json() for call in calls],
                "inside": [part for call in calls for part in _parts_json(call)],
                "inside_note": " ".join(
                    dict.fromkeys(one.inside_note for one in self.programs if one.inside_note)
                ),
            }
        )

    def _ending(self) -> dict[str, Any]:
        """How the programs ended: the worst of them, and its error."""
        for status in ("partial", "failed"):
            for measured in self.programs:
                if measured.status == status:
                    return {"status": status, "error": measured.error}
        return {"status": "finished", "error": ""}

    def _environment(self) -> dict[str, str]:
        known = [measured.environment for measured in self.programs if measured.environment is not None]
        return asdict(known[-1] if known else Environment("", "", ""))


def _phases(known: Sequence[MeasuredProgram]) -> list[dict[str, Any]]:
    """The phases of all programs together."""
    found = []
    for name in PHASES:
        shares = [program.phases[name] for program in known]
        detail: dict[str, float] = {}
        for share in shares:
            for part, value in share.detail.items():
                detail[part] = detail.get(part, 0.0) + value
        found.append(
            {
                "name": name,
                "joules": sum(share.joules for share in shares),
                "seconds": sum(share.seconds for share in shares),
                "detail": detail,
            }
        )
    return found if known else []


def _parts_json(call: MeasuredCall) -> list[dict[str, Any]]:
    place = {"file": call.site.file, "line": call.site.line, "column": call.site.column}
    return [{"call": place, **part.as_json()} for part in call.inside]


class Interrupted(Exception):  # noqa: N818
    """The measurement was broken off; `finished` runs are in the database."""

    def __init__(self, measured: MeasuredRun, finished: int) -> None:
        kept = "1 finished run is kept" if finished == 1 else f"{finished} finished runs are kept"
        if finished == 0 and measured.known:
            kept = "what it had done until then is kept"
        super().__init__(kept)
        self.measured = measured
        self.finished = finished


def measure(
    request: MeasureRequest,
    tell: Tell,
    *,
    announce: Callable[[str], None] = lambda line: None,
    wait: bool = True,
    lock: HostLock | None = None,
) -> MeasuredRun:
    """Measure what was asked for; raises `MeasureProblem` or `MeterProblem` before anything runs.

    `announce` is told what will run, before it does, and whom it waits for. Without `wait`, a host where somebody
    measures already is a `MeasureProblem`. `lock`: the host's lock, where the caller holds it.
    """
    options = request.options
    if not request.path.exists():
        raise MeasureProblem(f"There is no {request.path}; give a script, a notebook or a project folder.")
    if not request.path.is_dir() and not request.path.is_file():
        raise MeasureProblem(
            f"{request.path} is not a regular file; give a script, a notebook or a project folder."
        )
    meters = choose(options.meter)
    folder = request.path if request.path.is_dir() else request.path.absolute().parent
    if request.create_env:
        tell(Progress("making an environment for the project, unless it is there", 0.0, None))
    with _nobody_measuring(request, lock, announce):
        python = _interpreter(request, folder)
    tell(Progress("reading the program", 0.0, None))
    entries = _entries(request)
    instrumented = _instrumented(request, entries)
    announce(f"Running with Python {'.'.join(map(str, python.version))} at {python.path}:")
    for entry in entries:
        announce(f"  {command_line(entry, options.arguments, keep=request.keep_arguments)}")
    with ExitStack() as stack:
        if lock is None:
            work = f"measuring {request.path.name}"
            lock = stack.enter_context(host_lock(work, wait=wait, on_wait=announce))
        return _measured(request, tell, python, meters, entries, instrumented, lock)


@contextmanager
def _nobody_measuring(
    request: MeasureRequest, lock: HostLock | None, announce: Callable[[str], None]
) -> Iterator[None]:
    """Building an environment would disturb who measures on this host: the lock is shared while that lasts."""
    if lock is not None or not request.create_env:
        yield
    else:
        with host_lock("building an environment", shared=True, on_wait=announce):
            yield


def _measured(
    request: MeasureRequest,
    tell: Tell,
    python: Interpreter,
    meters: Sequence[Meter],
    entries: Sequence[Path],
    instrumented: Instrumented,
    lock: HostLock,
) -> MeasuredRun:
    measured = MeasuredRun(
        meter="+".join(meter.name for meter in meters),
        estimated=any(meter.estimated for meter in meters),
        machine=_machine(meters),
        database=database_path(request.database),
    )
    with _outputs(request) as (output, errors):
        work = _Work(request, python, meters, measured, tell, len(entries), output, errors, lock)
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
        self.clock = _Clock(tell, entries * self.repeats)
        self.gpu = any("gpu" in info.devices for info in measured.machine.meters)
        self.finished = 0

    def measure(self, entry: Path, instrumented: Instrumented) -> None:
        """All runs of one entry point; what each gives is stored at once."""
        options = self.request.options
        result = Measured(
            new_run_id(), command_line(entry, options.arguments, keep=self.request.keep_arguments)
        )
        self.measured.programs.append(result)
        self._note(instrumented.problems)
        cwd = self._working_folder(entry)
        runs = Runs(
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
        storing = self._storing(result)
        self.clock.expect(storing.seconds_before())
        spread = usual_spread(self.measured.database, self.measured.machine, self.measured.meter)
        done: list[OneRun] = []
        for number in range(self.repeats):
            try:
                run = self._once(runs, entry, number)
            except ProgramStopped as stopped:
                result.failure = f"{result.command}: {stopped} {_kept(len(done))}"
                return
            except KeyboardInterrupt:
                raise Interrupted(self.measured, self.finished) from None
            result.status, result.error = run.ending, run.error or run.stopped
            result.environment = run.environment
            if not run.stopped or not done:  # a part of a run says nothing beside whole ones
                done.append(run)
            self._note([*run.problems, *_unsteady(run)])
            result.program = combine_runs(done, found_sites.sites, spread)
            result.inside_note = inside_note(options.inside, [one.inside for one in done])
            storing.store(result.program, done, found_sites.sites, result.inside_note)
            if run.stopped == INTERRUPTED:
                result.failure = f"{result.command} was interrupted. {_kept(len(done))}"
                raise Interrupted(self.measured, self.finished)
            self.finished += 1
            if run.stopped:
                result.failure = f"{result.command}: {run.stopped} {_kept(len(done))}"
                return
            if run.status:
                result.killed = run.status < 0
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
            repository_of(self.request.project),
            str(self.request.project.resolve()),
            self._settings(),
            self.request.options.events,
            project_id(self.request.project),
            () if self.request.keep_arguments else tuple(self.request.options.arguments),
        )

    def _settings(self) -> dict[str, str | float | bool]:
        """What the figures depend on beside the program, for whoever repeats the measurement."""
        options = self.request.options
        pace = QUICK if options.quick else THOROUGH
        return {
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
    if made is None or not made.can_measure:
        raise MeasureProblem(
            f"The requirements of {folder} bring neither TensorFlow nor Keras along; add one to them, or name "
            "an interpreter that has it with --python."
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
    project.named.add(real(path))
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
            try:
                output = stream_into(request.program_output)
            except OSError as problem:
                raise MeasureProblem(
                    f"{request.program_output} cannot be written ({problem.strerror}): name another file with "
                    "--program-output."
                ) from problem
            yield stack.enter_context(output), errors


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
