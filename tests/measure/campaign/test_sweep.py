"""Energy against size: what is varied, which curve the points speak for, and a sweep that runs."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from energy_measure.problems import MeasureProblem
from energy_measure.request import MeasureRequest, read_options
from energy_measure.sweep.fits import best, correlate, fits
from energy_measure.sweep.plan import points_of, read_shrink, read_vary
from energy_measure.sweep.run import sweep

STUB = """
import time
__version__ = "2.0"
def ones(n):
    end = time.process_time() + n * 0.02
    while time.process_time() < end:
        pass
    return n
"""
PROGRAM = """
import argparse, os
import tensorflow as tf
parser = argparse.ArgumentParser()
parser.add_argument("--units", type=int, default=1)
for _ in range(3):
    tf.ones(parser.parse_args().units + int(os.environ.get("MORE", "0")))
"""


def noisy(values: list[float], seed: int = 1) -> list[float]:
    chance = random.Random(seed)
    return [value * chance.uniform(0.98, 1.02) for value in values]


def test_options_variables_and_doublings_are_varied() -> None:
    points = points_of([read_vary("units=1,2"), read_vary("BATCH=8..32")], ["--units", "7", "--fast"])
    assert len(points) == 6
    assert points[0].arguments == ("--units", "1", "--fast")
    assert [point.env["BATCH"] for point in points[:3]] == ["8", "16", "32"]
    assert points[-1].size == 64
    assert read_vary("$lower=a,b").kind == "variable"
    assert points_of([read_vary("n=1,2")], ["--n=5"])[1].arguments == ("--n=2",)


@pytest.mark.parametrize("text", ["units", "units=1", "units=", "=1,2", "units=8..4"])
def test_what_varies_nothing_is_told(text: str) -> None:
    with pytest.raises(MeasureProblem):
        read_vary(text)


def test_too_many_or_double_names_are_told() -> None:
    with pytest.raises(MeasureProblem, match="too many"):
        points_of([read_vary(f"{name}=" + ",".join(map(str, range(30)))) for name in "ab"])
    with pytest.raises(MeasureProblem, match="twice"):
        points_of([read_vary("a=1,2"), read_vary("a=3,4")])


def test_parts_of_the_data_are_read_as_people_write_them() -> None:
    assert read_shrink("data").values == ("0.125", "0.25", "0.5", "1")
    points = points_of([read_shrink("data=12.5%, 1/4,1.0")])
    assert [point.env for point in points] == [{"ENERGY_LSP_SHRINK": part} for part in ("0.125", "0.25", "1")]
    assert [point.size for point in points] == [0.125, 0.25, 1.0]


@pytest.mark.parametrize(
    "text", ["dat", "data=1", "data=0,1", "data=1/0,1", "data=2,1", "data=x,1", "data=-1/2,1"]
)
def test_what_is_no_part_of_the_data_is_told(text: str) -> None:
    with pytest.raises(MeasureProblem):
        read_shrink(text)


SHRUNK = """
import sys
sys.path[:0] = sys.argv[1:2]
import numpy as np, shrink
class Model:
    def fit(self, x, y=None, validation_data=None, epochs=1):
        print("fit", len(x[0] if isinstance(x, list) else x), len(y), validation_data and len(validation_data[0]), epochs)
        return self.evaluate(x[0] if isinstance(x, list) else x, y)
    def evaluate(self, x, y):
        print("evaluate", len(x))
    def predict(self, x):
        print("predict", len(x))
class DatasetV2:
    @staticmethod
    def from_tensor_slices(tensors, name=None):
        print("slices", [len(one) for one in tensors])
hooks = shrink.from_environment("0.25").extensions()
class keras: pass
keras.Model = Model
hooks["keras"](keras)
class ops: pass
ops.DatasetV2 = DatasetV2
hooks["tensorflow.python.data.ops.dataset_ops"](ops)
a = np.zeros((10, 3))
Model().fit(a, a[:, 0], epochs=2, validation_data=(a, a))
Model().fit([a, a], y=a)
Model().predict(x=a)
Model().predict("a generator")
DatasetV2.from_tensor_slices((a, a))
print(shrink.from_environment("2"), shrink.from_environment("nan"), shrink.from_environment(""))
"""


def test_data_is_cut_once_where_it_enters(tmp_path: Path) -> None:
    """The rules of cutting, on classes of the same form; the test below measures a real program."""
    import energy_measure.injected.shrink as shrink

    program = tmp_path / "program.py"
    program.write_text(SHRUNK)
    done = subprocess.run(
        [sys.executable, str(program), str(Path(shrink.__file__).parent)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "fit 3 3 3 2",
        "evaluate 3",
        "fit 3 3 None 1",
        "evaluate 3",
        "predict 3",
        "predict 11",
        "slices [3, 3]",
        "None None None",
    ]


TRAINS = """
import keras, numpy as np
model = keras.Sequential([keras.layers.Dense(4)])
model.compile("sgd", "mse")
x = np.ones((4096, 64), "float32")
print(len(model.fit(x, x[:, :4], batch_size=16, verbose=0).epoch), len(model.predict(x, verbose=0)))
"""


@pytest.mark.tensorflow
@pytest.mark.xdist_group("tensorflow")
def test_a_program_is_measured_on_parts_of_its_data_and_nothing_of_it_is_kept(tmp_path: Path) -> None:
    (tmp_path / "trains.py").write_text(TRAINS)
    own = tmp_path / "own.db"
    command = [
        "sweep",
        "trains.py",
        "--shrink",
        "data=1/4,1/2,1",
        "--quick",
        "--format",
        "json",
        "--python",
        sys.executable,
    ]
    done = subprocess.run(
        [sys.executable, "-m", "energy_lsp", *command],
        cwd=tmp_path,
        env={**os.environ, "ENERGY_LSP_DB": str(own)},
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["points"] == [{"data": "0.25"}, {"data": "0.5"}, {"data": "1"}]
    assert [line for line in done.stderr.splitlines() if line in ("1 1024", "1 2048", "1 4096")] == [
        "1 1024",
        "1 2048",
        "1 4096",
    ]
    fit = next(curve for curve in told["curves"] if ".fit " in curve["name"])
    assert fit["against"] == "data"
    assert [sample["size"] for sample in fit["samples"]] == [0.25, 0.5, 1.0]
    assert not own.exists()


def test_an_interrupted_sweep_says_how_far_it_came(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def measure(*given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("energy_measure.sweep.run.measure", measure)
    request = MeasureRequest(tmp_path / "x.py", tmp_path, read_options(tmp_path))
    points = points_of([read_vary("n=1,2")])
    with pytest.raises(MeasureProblem, match="interrupted: 0 of 2 points"):
        sweep(request, points, lambda progress: None)


def test_the_curve_that_made_the_points_is_found() -> None:
    sizes = [float(2**n) for n in range(10)]
    line = best(fits(sizes, noisy([2.0 + 0.5 * x for x in sizes])))
    assert line is not None
    assert line.kind == "linear"
    assert line.intervals[1].low < 0.5 < line.intervals[1].high
    power = best(fits(sizes, noisy([0.3 * x**1.7 for x in sizes])))
    assert power is not None
    assert power.kind == "power"
    assert power.parameters[1] == pytest.approx(1.7, abs=0.05)
    flat = best(fits(sizes, noisy([4.0] * 10)))
    assert flat is not None
    assert flat.kind == "constant"
    rows = [float(n) for n in range(10, 400, 17)]
    steps = best(fits(rows, noisy([1.0 + 3.0 * -(-n // 64) for n in rows])))
    assert steps is not None
    assert (steps.kind, steps.step) == ("steps", 64.0)
    assert steps.at(65.0) == pytest.approx(7.0, rel=0.05)
    row_bytes = 1200.0
    in_bytes = best(
        fits([n * row_bytes for n in rows], noisy([1.0 + 3.0 * -(-n // 64) for n in rows]), row_bytes)
    )
    assert in_bytes is not None
    assert (in_bytes.kind, in_bytes.step) == ("steps", 64 * row_bytes)


def test_too_few_sizes_give_no_curve_and_no_correlation() -> None:
    assert fits([1.0, 2.0], [1.0, 2.0]) == []
    assert correlate([1.0, 1.0, 1.0], [1.0, 2.0, 3.0]) is None


def test_correlation_says_how_sure_it_is() -> None:
    sizes = [float(n) for n in range(1, 21)]
    found = correlate(sizes, noisy(sizes))
    assert found is not None
    assert 0.95 < found.low < found.pearson < found.high <= 1.0
    assert found.spearman > 0.99
    assert found.p_value < 1e-6


def test_a_sweep_measures_every_point_and_draws_it(tmp_path: Path) -> None:
    (tmp_path / "tensorflow.py").write_text(STUB)
    (tmp_path / "grow.py").write_text(PROGRAM)
    command = [
        *(sys.executable, "-m", "energy_lsp", "sweep", "grow.py", "--vary", "units=1,4,10", "--quick"),
        *("--db", "energy.db", "--format", "json", "--html", "page.html", "--python", sys.executable),
    ]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [point["units"] for point in found["points"]] == ["1", "4", "10"]
    assert found["curves"][0]["name"] == "program"
    (call,) = [curve for curve in found["curves"] if curve["kind"] == "call"]
    assert call["name"].startswith("tensorflow.ones") or "ones" in call["name"]
    assert [sample["size"] for sample in call["samples"]] == [1.0, 4.0, 10.0]
    assert call["samples"][2]["joules"] > 5 * call["samples"][0]["joules"]
    assert call["correlation"]["pearson"] > 0.95
    page = (tmp_path / "page.html").read_text()
    assert page.count("<svg") >= 2


def test_the_correlations_of_fecoms_own_records_come_out() -> None:
    records = Path(__file__).parents[4] / "shared" / "fecom" / "data_size.csv"
    if not records.exists():
        pytest.skip(f"FECoM's records are not at {records}")
    methods: dict[str, tuple[list[float], list[float]]] = {}
    for line in records.read_text().splitlines()[1:]:
        method, size, cpu, ram, gpu, _ = line.split(",")
        sizes, joules = methods.setdefault(method, ([], []))
        sizes.append(float(size))
        joules.append(float(cpu) + float(ram) + float(gpu))
    grow = {name: correlate(*found) for name, found in methods.items()}
    assert {name for name, found in grow.items() if found and found.pearson > 0.9} == {
        "images/cnn_fit",
        "keras/classification_evaluate",
        "keras/classification_fit",
    }
    told = {name: best(fits(*found), grow[name]) for name, found in methods.items()}
    kinds = {name: fit.kind for name, fit in told.items() if fit}
    assert kinds["images/cnn_fit"] == kinds["keras/classification_fit"] == "linear"
    # The README of the records: no effect of size above the meter's noise.
    assert kinds["keras/regression_adapt"] == kinds["load_data/numpy"] == "constant"
