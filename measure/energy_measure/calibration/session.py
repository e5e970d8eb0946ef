"""`energy-lsp calibrate`: runs the points in the project's interpreter, fits, and keeps the result for this machine."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import platformdirs

from energy_data.database.calibrations import put_calibration
from energy_data.database.database import Database
from energy_data.model import Calibration, Environment
from energy_data.paths import user_database
from energy_data.rows import content_id
from energy_data.untrusted.writing import private_folder
from energy_measure.attribution.baseline import IdleWindow
from energy_measure.calibration.assembly import assembled
from energy_measure.calibration.energy import net_joules, own_figures
from energy_measure.calibration.points import CalibrationPoint, all_points, parts
from energy_measure.calibration.reference_models import REFERENCE
from energy_measure.calibration.samples import CalibrationRuns
from energy_measure.host.lock import host_lock
from energy_measure.machine.describe import describe
from energy_measure.meters import Meter, PowerModel, choose
from energy_measure.problems import MeasureProblem
from energy_measure.program.guarded import Guarded
from energy_measure.program.interpreters import Interpreter
from energy_measure.sampling.controller import Sampling
from energy_measure.storage import new_run_id, now_text

PROGRAM = Path(__file__).with_name("program.py")
PROCESSES = 4
"""Processes that the points are spread over; intervals then know how much one differs from another."""
FEW_POINTS = 100
"""So few run in one process."""
SECONDS_OF_ROUNDS, ROUNDS = 34.0, 12
QUICK_SECONDS_OF_ROUNDS, QUICK_ROUNDS = 8.0, 4
QUICK_SECONDS = 55.0
"""What a quick calibration takes by the clock, fitting aside: what a busy machine has no time for is left out."""
QUICK_POINTS = 0.55
"""Of that, the part of calls and layers; the rest is for models."""
QUICK_MODELS = ("perceptron", "small cnn", "smallest", "lstm", "deep and narrow", "cnn with normalisation")
"""In the order in which they say most."""
IDLE_SECONDS = 3.0
LONGEST_SECONDS = 1800.0
"""A process that takes longer than this hangs."""
KEPT_SECONDS = 24 * 3600.0
"""How long what a broken-off calibration has finished is taken up again."""

Tell = Callable[[str, float], None]
"""What is under way, and how much of all is done, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a calibration gave."""

    calibration: Calibration
    seconds: float
    points: int
    """Calls, layers and optimizers that ran."""
    failed: tuple[str, ...] = ()
    """APIs that this TensorFlow could not run."""
    left_out: int = 0
    """Points and models that there was no time for."""


@dataclass(slots=True)
class _Part:
    """What one process runs."""

    number: int
    points: Sequence[CalibrationPoint] = ()
    models: Sequence[dict[str, Any]] = ()
    weight: float = field(default=1.0)


def calibrate(
    python: Interpreter,
    *,
    quick: bool = False,
    database: Path | None = None,
    meter: str = "auto",
    tell: Tell = lambda stage, fraction: None,
    announce: Callable[[str], None] = lambda line: None,
    points: Sequence[CalibrationPoint] | None = None,
    models: Sequence[dict[str, Any]] | None = None,
    keep: Path | None = None,
) -> Result:
    """Calibrate this machine for an interpreter; raises `MeasureProblem`. Finished parts outlive an interruption.

    `keep`: a folder to leave in what the processes wrote, for benchmarks.
    """
    meters = choose(meter)
    if (known := database or user_database()).exists():
        Database.open(known).close()  # what is wrong with it is said now, and not after minutes of work
    points = all_points(quick=quick) if points is None else points
    if models is None and quick:
        by_name = {about["name"]: about for about in REFERENCE}
        models = [{**by_name[name], "repeats": 2, "compiled": False} for name in QUICK_MODELS]
    elif models is None:
        models = list(REFERENCE)
    folder = _state_folder(python, quick, len(points))
    processes = 1 if quick or len(points) < FEW_POINTS else PROCESSES
    work = [_Part(number, points=part) for number, part in enumerate(parts(points, processes))]
    work.append(_Part(len(work), models=[{**about, "id": about["name"]} for about in models]))
    ran = CalibrationRuns()
    with host_lock("calibrating", on_wait=announce):
        begun = time.monotonic()  # waiting for others is no part of the minute
        runner = _Runner(python, meters, folder, quick)
        for part in work:
            if runner.finished(part):
                announce(f"Part {part.number + 1} of {len(work)} was finished before.")
            share = 1.0 if part.models else QUICK_POINTS
            until = begun + share * QUICK_SECONDS if quick else 0.0
            runner.run(part, _within(tell, part.number, len(work)), until)
        for part in work:
            runner.read(part, ran)
    if not ran.about or not ran.rows:
        shutil.rmtree(folder, ignore_errors=True)  # what gave nothing is not taken up again
        raise MeasureProblem(
            f"Nothing could be calibrated with {python.path}: {'; '.join(ran.failed[:2]) or 'no point ran'}."
        )
    tell("fitting", 0.99)
    calibration = _described(meters, ran, quick)
    with Database.open(database or user_database()) as opened:
        put_calibration(opened, calibration, assembled(calibration, points, models, ran))
    for part in work if keep is not None else ():
        shutil.copy(runner.results(part), keep or folder)
    shutil.rmtree(folder, ignore_errors=True)
    learned = len(ran.rows) + sum(about["name"] in ran.models for about in models)
    left_out = len(points) + len(models) - learned - len(ran.failed)
    return Result(calibration, time.monotonic() - begun, len(ran.rows), tuple(ran.failed), max(0, left_out))


class _Runner:
    """Runs parts, each in a process of its own, and keeps what they wrote."""

    def __init__(self, python: Interpreter, meters: Sequence[Meter], folder: Path, quick: bool) -> None:
        self.python = python
        self.meters = meters
        self.folder = folder
        self.quick = quick
        self.sensors = not all(meter.estimated for meter in meters)

    def results(self, part: _Part) -> Path:
        """What a part wrote, once it is finished."""
        return self.folder / f"part-{part.number}.jsonl"

    def finished(self, part: _Part) -> bool:
        """Whether an earlier calibration, broken off, has run it."""
        return self.results(part).exists()

    def run(self, part: _Part, tell: Callable[[float], None], until: float = 0.0) -> None:
        """Run a part unless it was run; `until`: when it is to be done by the clock, 0 for whenever."""
        if self.finished(part):
            return
        asked = {
            "points": [point.as_json() for point in part.points],
            "models": list(part.models),
            "seconds": QUICK_SECONDS_OF_ROUNDS if self.quick else SECONDS_OF_ROUNDS,
            "rounds": QUICK_ROUNDS if self.quick else ROUNDS,
            "until": until,
        }
        request = self.folder / f"part-{part.number}.json"
        request.write_text(json.dumps(asked), encoding="utf-8")
        written = self.folder / f"part-{part.number}.new"
        with contextlib.ExitStack() as stack:
            sampling = idle = None
            if self.sensors:
                sampling = stack.enter_context(Sampling(self.meters, self.folder / f"traces-{part.number}"))
                idle = _rest()
            begin = time.monotonic_ns()
            self._process(request, written, tell)
            end = time.monotonic_ns()
            if sampling is not None and idle is not None:
                self._add_energy(sampling, idle, (begin, end), written)
        os.replace(written, self.results(part))  # from now on it counts as finished

    def _process(self, request: Path, written: Path, tell: Callable[[float], None]) -> None:
        errors = request.with_suffix(".stderr")
        command = [str(self.python.path), str(PROGRAM), str(request), str(written)]
        with (
            errors.open("wb") as log,
            Guarded(command, stdout=subprocess.PIPE, stderr=log, cwd=self.folder) as guarded,
        ):
            assert guarded.stdout is not None
            deadline = time.monotonic() + LONGEST_SECONDS
            for line in guarded.stdout:
                word, _, value = line.partition(b" ")
                if word == b"progress":
                    with contextlib.suppress(ValueError):
                        tell(float(value))
                if time.monotonic() > deadline:
                    raise MeasureProblem(
                        f"A part of the calibration took more than {LONGEST_SECONDS / 60:.0f} minutes; it was ended."
                    )
            status = guarded.wait()
        if status or not written.exists():
            said = errors.read_text("utf-8", errors="replace").strip().splitlines()
            why = said[-1][:300] if said else f"status {status}"
            raise MeasureProblem(f"The calibration did not run with {self.python.path}: {why}")

    def _add_energy(self, sampling: Sampling, idle: IdleWindow, span: tuple[int, int], written: Path) -> None:
        """Add to what the process wrote what the sensors saw meanwhile."""
        traces = sampling.stop().traces
        seen = CalibrationRuns()
        seen.read(written)
        used = seen.about.get("cpu", 0) * 1e-9
        joules = net_joules(traces, [idle], [span])
        figures = {
            "id": -3,
            "joules": joules,
            "cpu": used,
            "own": own_figures(traces, [idle], seen.rows),
        }
        with written.open("a", encoding="utf-8") as file:
            file.write(json.dumps(figures) + "\n")

    def read(self, part: _Part, ran: CalibrationRuns) -> None:
        """Add a part's results."""
        ran.read(self.results(part))
        if not self.sensors:
            ran.watts = PowerModel.from_environment().active_watts


def _rest() -> IdleWindow:
    begin = time.monotonic_ns()
    time.sleep(IDLE_SECONDS)
    return IdleWindow(begin, time.monotonic_ns())


def _within(tell: Tell, number: int, count: int) -> Callable[[float], None]:
    stage = "models" if number == count - 1 else f"calls and layers, part {number + 1} of {count - 1}"
    tell(stage, 0.98 * number / count)
    return lambda fraction: tell(stage, 0.98 * (number + fraction) / count)


def _state_folder(python: Interpreter, quick: bool, points: int) -> Path:
    """Where finished parts lie until the calibration is complete; what is too old is thrown away."""
    key = hashlib.sha256(json.dumps([str(python.path), quick, points]).encode()).hexdigest()[:16]
    folder = Path(platformdirs.user_cache_dir("energy-lsp", appauthor=False)) / "calibrations" / key
    with contextlib.suppress(OSError):
        if time.time() - folder.stat().st_mtime > KEPT_SECONDS:
            shutil.rmtree(folder, ignore_errors=True)
    private_folder(folder)
    return folder


def _described(meters: Sequence[Meter], ran: CalibrationRuns, quick: bool) -> Calibration:
    with contextlib.ExitStack() as stack:
        machine = describe([stack.enter_context(meter) for meter in meters])
    versions = ran.about["versions"]
    environment = Environment(
        python=versions["python"],
        tensorflow=versions["tensorflow"],
        keras=versions["keras"],
        backend=ran.about["backend"],
        device=ran.about["device"],
    )
    return Calibration(
        id=new_run_id(),
        machine_id=content_id(machine),
        machine=machine.label,
        environment=environment,
        meter="+".join(meter.name for meter in meters),
        estimated=any(meter.estimated for meter in meters),
        measured=now_text(),
        quick=quick,
        repeatability=ran.repeatability,
    )
