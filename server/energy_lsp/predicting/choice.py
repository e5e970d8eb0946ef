"""Which calibration answers: that of this machine for the TensorFlow and Keras that `measure` would run with."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from dataclasses import dataclass
from pathlib import Path

from energy_data.database.calibrations import calibrations, cost_model
from energy_data.database.database import Database
from energy_data.model import Calibration
from energy_data.paths import user_database
from energy_data.prediction.cost_model import CostModel

CALIBRATE = "energy-lsp calibrate"
_QUESTION = """
import json
from importlib import metadata
def version(*names):
    for name in names:
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            pass
    return ""
print(json.dumps([version("tensorflow", "tensorflow-cpu", "tensorflow-intel", "tensorflow-macos"), version("keras")]))
"""


@dataclass(frozen=True, slots=True)
class Choice:
    """The model that answers, if any, and what there is to say about it."""

    costs: CostModel | None
    note: str = ""


def versions_of(python: Path) -> tuple[str, str]:
    """TensorFlow's and Keras' versions in an interpreter; empty where they cannot be told. Imports neither."""
    try:
        answer = subprocess.run(
            [str(python), "-c", _QUESTION], capture_output=True, text=True, timeout=60, cwd=python.parent
        )
        tensorflow, keras = json.loads(answer.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return "", ""
    return str(tensorflow), str(keras)


def choose_calibration(database: Path | None, machine: str, versions: tuple[str, str] | None) -> Choice:
    """The calibration for these versions; without `versions`, the newest of this machine."""
    path = database or user_database()
    if not path.exists():
        return Choice(None, f"Nothing is calibrated here yet: run `{CALIBRATE}`.")
    with Database.read(path) as opened:
        try:
            known = calibrations(opened.connection)
            return _chosen(opened.connection, known, machine, versions)
        except (ValueError, TypeError, LookupError, OverflowError):
            return Choice(None, f"The calibration in {path} cannot be read: run `{CALIBRATE}` again.")


def _chosen(
    connection: sqlite3.Connection, known: list[Calibration], machine: str, versions: tuple[str, str] | None
) -> Choice:
    here = [each for each in known if each.machine == machine]
    fitting = [each for each in here if versions is None or _versions(each) == versions]
    if fitting:
        return Choice(cost_model(connection, fitting[0]))
    if not known:
        return Choice(None, f"Nothing is calibrated here yet: run `{CALIBRATE}`.")
    old = (here or known)[0]
    whose = f"TensorFlow {old.environment.tensorflow}, Keras {old.environment.keras}"
    where = "" if here else f" on {old.machine}"
    wanted = f"TensorFlow {versions[0]}, Keras {versions[1]}" if versions and here else "this machine"
    return Choice(
        None,
        f"The calibration of {old.measured[:10]} is stale: it is of {whose}{where}, not of {wanted}. "
        f"Run `{CALIBRATE}` again.",
    )


def _versions(calibration: Calibration) -> tuple[str, str]:
    return calibration.environment.tensorflow, calibration.environment.keras
