"""A real, small calibration: some calls, layers and models in a process with TensorFlow, fitted and kept."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from energy_data.database.calibrations import calibrations, cost_model
from energy_data.database.database import Database
from energy_data.prediction.specs import CallSpec, ModelUse, Tensor
from energy_data.prediction.whole_models import predict_job
from energy_measure.calibration.points import all_points
from energy_measure.calibration.reference_models import dense, model, spec_of
from energy_measure.calibration.session import calibrate
from energy_measure.problems import MeasureProblem
from energy_measure.program.interpreters import Interpreter

PYTHON = Interpreter(Path(sys.executable), sys.version_info[:3], has_tensorflow=True)
NAMES = {"tensorflow.linalg.matmul", "Dense", "Adam"}
MODELS = [
    model(f"{units} units", (units,), [dense(units, None)], loss="mse", steps=8)
    for units in (4, 64, 256, 512)
]


@pytest.fixture(autouse=True)
def _apart(tmp_path, monkeypatch):
    monkeypatch.setenv("ENERGY_LSP_LOCK_FOLDER", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.mark.tensorflow
def test_a_calibration_is_kept_and_predicts_what_never_ran(tmp_path):
    known = [point for point in all_points(quick=True) if point.name in NAMES or point.kind == "empty"]
    points = [point for point in known if point.kind != "layer" or len(point.inputs[0].shape) == 2]
    models = [{**about, "repeats": 1} for about in MODELS]
    file, told = tmp_path / "energy.db", []
    result = calibrate(
        PYTHON,
        quick=True,
        database=file,
        points=points,
        models=models,
        tell=lambda stage, done: told.append(done),
    )
    assert result.failed == ()
    assert result.points == len(points)
    assert told == sorted(told)
    assert result.calibration.estimated == (result.calibration.meter == "cpu-time")
    with Database.read(file) as database:
        assert [known.id for known in calibrations(database.connection)] == [result.calibration.id]
        assert database.counts()["measurements"] == 0  # a calibration is no measurement
        costs = cost_model(database.connection, calibrations(database.connection)[0])
    small, large = (
        costs.call(CallSpec("tensorflow.linalg.matmul", (Tensor("float32", (n, n)),) * 2)) for n in (64, 700)
    )
    assert 0 < small.joules < large.joules
    assert large.low < large.joules < large.high
    trained = spec_of(MODELS[1])
    short, long = (predict_job(costs, trained, ModelUse("fit", steps)) for steps in (10, 1000))
    assert short.first_joules == long.first_joules > 0
    assert long.joules > short.joules
    # On a machine that is very busy a small layer may not be told from nothing.
    assert sum(share.share for share in long.layers) == pytest.approx(
        1.0 if any(share.joules for share in long.layers) else 0.0
    )


def test_an_interpreter_that_cannot_run_it_is_one_sentence(tmp_path):
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho no such module >&2\nexit 3\n")
    broken.chmod(0o755)
    with pytest.raises(MeasureProblem, match=r"did not run with .*python: no such module"):
        calibrate(Interpreter(broken, (3, 11, 0), True), database=tmp_path / "energy.db")
    assert not (tmp_path / "energy.db").exists()
