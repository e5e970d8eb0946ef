"""Which calibration answers: that of this machine for the TensorFlow and Keras that `measure` would run with."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from energy_data.database.calibrations import calibrations, cost_model
from energy_data.database.database import Database
from energy_data.model import Calibration
from energy_data.paths import absolute, user_database
from energy_data.prediction.cost_model import CostModel

CALIBRATE = "energy-lsp calibrate"
_QUESTION = """
import json, os
from importlib import metadata
def version(*names):
    for name in names:
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            pass
    return ""
def backend():
    home = os.environ.get("KERAS_HOME") or os.path.join(os.path.expanduser("~"), ".keras")
    try:
        with open(os.path.join(home, "keras.json"), encoding="utf-8") as file:
            kept = json.load(file).get("backend")
    except (OSError, ValueError, AttributeError):
        kept = None
    return os.environ.get("KERAS_BACKEND") or kept or "tensorflow"
found = version("tensorflow", "tensorflow-cpu", "tensorflow-intel", "tensorflow-macos")
print(json.dumps([found, version("keras"), backend()]))
"""


class Versions(NamedTuple):
    """What decides which calibration is meant. Empty where it cannot be known."""

    tensorflow: str
    keras: str
    backend: str = "tensorflow"

    def __str__(self) -> str:
        named = f"TensorFlow {self.tensorflow}, Keras {self.keras}"
        return named if self.backend == "tensorflow" else f"{named} on {self.backend}"


@dataclass(frozen=True, slots=True)
class CalibrationChoice:
    """The model that answers, if any, and what there is to say about it."""

    costs: CostModel | None
    note: str = ""
    stale: bool = False
    """There is one, of other versions or of another machine."""


def versions_of(python: Path) -> Versions:
    """TensorFlow's and Keras' versions in an interpreter, and Keras' back end. Imports none of them."""
    try:
        answer = subprocess.run(
            [str(python), "-c", _QUESTION], capture_output=True, text=True, timeout=60, cwd=python.parent
        )
        return Versions(*map(str, json.loads(answer.stdout)))
    except (OSError, ValueError, TypeError, subprocess.TimeoutExpired):
        return Versions("", "")


def versions_for(
    path: Path, root: Path, python: str = "", *, note: Callable[[str], None] = lambda sentence: None
) -> Versions | None:
    """The versions of the interpreter that `measure` would take for a path; None where there is none.

    Raises `MeasureProblem` where one was asked for that cannot be.
    """
    # Asking for an interpreter loads the measuring package, which only predictions need.
    from energy_measure.problems import MeasureProblem
    from energy_measure.program.interpreters import find_interpreter
    from energy_measure.request import read_options

    folder = absolute(path) if path.is_dir() else absolute(path).parent
    try:
        options = read_options(root, note=note, python=python)
        found = find_interpreter(folder, root, options.python, creates=False)
    except MeasureProblem:
        if python:
            raise
        return None
    return versions_of(found.path)


def choose_calibration(database: Path | None, machine: str, versions: Versions | None) -> CalibrationChoice:
    """The calibration for these versions; without `versions`, the newest of this machine."""
    path = database or user_database()
    if not path.exists():
        return CalibrationChoice(None, f"Nothing is calibrated here yet: run `{CALIBRATE}`.")
    with Database.read(path) as opened:
        try:
            known = calibrations(opened.connection)
            return _chosen(opened.connection, known, machine, versions)
        except (ValueError, TypeError, LookupError, OverflowError):
            return CalibrationChoice(
                None, f"The calibration in {path} cannot be read: run `{CALIBRATE}` again."
            )


def _chosen(
    connection: sqlite3.Connection, known: list[Calibration], machine: str, versions: Versions | None
) -> CalibrationChoice:
    here = [each for each in known if each.machine == machine]
    fitting = [each for each in here if versions is None or of_calibration(each) == versions]
    if fitting:
        costs = cost_model(connection, fitting[0])
        return CalibrationChoice(costs, earlier(costs) if costs.outdated else "")
    if not known:
        return CalibrationChoice(None, f"Nothing is calibrated here yet: run `{CALIBRATE}`.")
    old = (here or known)[0]
    where = "" if here else f" on {old.machine}"
    wanted = str(versions) if versions and here else "this machine"
    return CalibrationChoice(
        None,
        f"The calibration of {old.measured[:10]} is stale: it is of {of_calibration(old)}{where}, not of {wanted}. "
        f"Run `{CALIBRATE}` again.",
        stale=True,
    )


def earlier(costs: CostModel) -> str:
    """What there is to say about a calibration that knows less than is predicted now."""
    return (
        f"The calibration of {costs.calibration.measured[:10]} was made by an earlier energy-lsp, which learned less: "
        f"run `{CALIBRATE}` again."
    )


def of_calibration(calibration: Calibration) -> Versions:
    """What a calibration is of."""
    environment = calibration.environment
    return Versions(environment.tensorflow, environment.keras, environment.backend or "tensorflow")
