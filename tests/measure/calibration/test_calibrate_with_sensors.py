"""A calibration on a machine whose simulated RAPL answers the real work: joules by the meter, and said so."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from scene import package
from waveform import Waveform

WATTS = 20.0
"""What a busy CPU draws in the scene."""
CALIBRATE = """
import json, sys
from pathlib import Path
from energy_data.database.calibrations import calibrations, cost_model
from energy_data.database.database import Database
from energy_data.prediction.specs import CallSpec, Tensor
from energy_lsp.predicting.calibration_text import calibration_lines
from energy_measure.calibration.points import all_points
from energy_measure.calibration.session import calibrate
from energy_measure.program.interpreters import Interpreter

python = Interpreter(Path(sys.executable), sys.version_info[:3], has_tensorflow=True)
points = [point for point in all_points(quick=True) if point.name == "tensorflow.linalg.matmul"]
result = calibrate(python, quick=True, database=Path(sys.argv[1]), points=points, models=[])
with Database.read(Path(sys.argv[1])) as database:
    costs = cost_model(database.connection, calibrations(database.connection)[0])
product = costs.call(CallSpec("tensorflow.linalg.matmul", (Tensor("float32", (700, 700)),) * 2))
print(json.dumps({
    "estimated": result.calibration.estimated, "meter": result.calibration.meter, "watts": costs.watts,
    "joules": product.joules, "seconds": product.seconds,
    "lines": calibration_lines(result.calibration, result.points, result.seconds),
}))
"""


@pytest.mark.tensorflow
@pytest.mark.xdist_group("tensorflow")
def test_joules_are_those_of_the_meter(machine_with, tmp_path):
    scene = machine_with(package(0, Waveform.constant(10.0)).answering_work(WATTS))
    folders = {"ENERGY_LSP_LOCK_FOLDER": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", CALIBRATE, str(tmp_path / "energy.db")],
        env={**os.environ, **scene.environment, **folders},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert not found["estimated"]
    assert "rapl" in found["meter"] or "perf" in found["meter"]
    assert WATTS / 2 < found["watts"] < WATTS * 2  # of a CPU second, above the 10 W at rest
    assert found["joules"] > 0
    assert any("measured with" in line for line in found["lines"])
