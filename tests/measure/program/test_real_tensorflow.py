"""The examples, measured with real TensorFlow and whatever meter this machine has."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from energy_data.database.database import Database
from energy_data.database.store import EnergyStore

pytestmark = [pytest.mark.tensorflow, pytest.mark.xdist_group("tensorflow"), pytest.mark.timeout(900)]

ROOT = Path(__file__).parents[3]
PRINTED = """\
accuracy 1.00
16 of 16 single pictures right
penalty is positive: True
epoch 0: mean +0.00
epoch 1: mean +0.00
epoch 2: mean +0.00
batches 313
largest row sum over 3: True
steps 300
loss fell: True
close to the truth: True
mean square of the targets over 1: True
points (4000, 2)
all points owned: True
found the centres: True
True
"""

GRAPHS = """
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf

@tf.function
def grow(x):
    while tf.reduce_sum(x) < 100.0:
        if tf.reduce_max(x) > 3.0:
            x = tf.multiply(x, 2.0)
        else:
            x = tf.add(x, 1.0)
    return x

class Layer(tf.keras.layers.Layer):
    def call(self, x):
        return tf.square(x)

last = tf.keras.layers.Dense(1, kernel_initializer="ones")
model = tf.keras.Sequential([tf.keras.Input((2,)), Layer(), last])
for _ in range(4):
    print(grow(tf.constant([1.0, 2.0])).numpy().tolist())
print(model.predict(tf.ones([3, 2]), verbose=0).tolist())

class Holder(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.inner = tf.keras.layers.Dense(1, kernel_initializer="ones")

    def call(self, x):
        return self.inner(x)

held = tf.keras.Sequential([tf.keras.Input((2,)), Holder()])
held.compile(optimizer="sgd", loss="mse")
print(held.fit(tf.ones([4, 2]), tf.zeros([4, 1]), epochs=2, verbose=0).history["loss"])

@tf.function
def wrong(x):
    return tf.matmul(tf.square(x), x)

wrong(tf.ones([3]))
"""


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """All examples, each run once."""
    folder = tmp_path_factory.mktemp("measured")
    entries = ["classifier.py", "pipeline.py", "training_loop.py", "clusters.ipynb"]
    done = run(
        ["examples", "--quick", "--format", "json", "--program-output", str(folder / "printed.txt")]
        + [part for entry in entries for part in ("--entry", entry)],
        folder,
        ROOT,
    )
    assert done.returncode == 0, done.stderr
    printed = (folder / "printed.txt").read_text()
    return {"report": json.loads(done.stdout), "printed": printed, "db": folder / "energy.db"}


def run(arguments: list[str], folder: Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    line = "import sys; sys.path[:1] = []; from energy_lsp.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", line, "measure", *arguments, "--python", sys.executable],
        cwd=cwd,
        env={**os.environ, "ENERGY_LSP_DB": str(folder / "energy.db"), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=800,
    )


def test_the_examples_print_what_they_always_print(measured: dict[str, Any]) -> None:
    assert measured["printed"] == PRINTED


def test_the_hungry_calls_are_found(measured: dict[str, Any]) -> None:
    calls = {(call["file"], call["api"]): call for call in measured["report"]["calls"]}
    fit = calls["examples/classifier.py", "keras.Sequential.fit"]
    assert fit["resolved"]
    assert fit["method"] == "in place"
    predict = calls["examples/classifier.py", "keras.Sequential.predict"]
    assert predict["count"] == 16
    assert predict["joules"]["per_call"] < fit["joules"]["per_call"]
    step = calls["examples/training_loop.py", "keras.optimizers.Adam.apply_gradients"]
    assert step["count"] == 300
    assert calls["examples/clusters.ipynb", "tensorflow.boolean_mask"]["count"] == 120
    program = measured["report"]["program"]
    assert 0 < program["unaccounted"] < program["joules"]


def test_calls_in_a_graph_function_are_trace_time(measured: dict[str, Any]) -> None:
    distance = [
        call
        for call in measured["report"]["calls"]
        if call["file"] == "examples/training_loop.py" and call["api"] == "tensorflow.math.sqrt"
    ]
    assert [(call["count"], call["trace_time"]) for call in distance] == [(1, True)]


def test_short_calls_are_replayed(measured: dict[str, Any]) -> None:
    replayed = [call for call in measured["report"]["calls"] if call["method"] == "replayed"]
    assert replayed
    for call in replayed:
        assert 0 < call["interval"]["low"] <= call["joules"]["per_call"] <= call["interval"]["high"]


def test_an_editor_finds_the_figures_at_their_calls(measured: dict[str, Any]) -> None:
    fit = next(call for call in measured["report"]["calls"] if call["api"] == "keras.Sequential.fit")
    store = EnergyStore.open(measured["db"], ROOT)
    figure = store.lookup("keras.Sequential.fit", file=fit["file"], line=fit["line"])
    assert figure is not None
    assert figure.origin == "site"
    assert figure.total == pytest.approx(fit["joules"]["per_call"])
    with Database.read(measured["db"]) as database:
        (classifier, *_) = database.runs()
        signature = next(
            m.signature for m in database.measurements(classifier.id) if m.api == "keras.Sequential.fit"
        )
    assert signature.arguments == ("float32[2048,16,16,1]", "int64[2048]")
    assert signature.bytes_object > 1000, "the weights of the model"


def test_graph_functions_mean_what_they_meant(tmp_path: Path) -> None:
    (tmp_path / "graphs.py").write_text(GRAPHS)
    plain = subprocess.run([sys.executable, "graphs.py"], cwd=tmp_path, capture_output=True, text=True)
    probed = run(
        ["graphs.py", "--quick", "--format", "json", "--program-output", "printed"], tmp_path, tmp_path
    )
    assert probed.returncode == plain.returncode == 1
    assert (tmp_path / "printed").read_text() == plain.stdout
    last = plain.stderr.strip().splitlines()[-1]
    assert last in probed.stderr
    where = [line for line in plain.stderr.splitlines() if "graphs.py" in line]
    assert where
    assert [line for line in probed.stderr.splitlines() if 'File "' in line and "graphs.py" in line] == where
    calls = json.loads(probed.stdout)["calls"]
    traced = {(call["api"], call["line"]) for call in calls if call["trace_time"]}
    assert traced >= {
        ("tensorflow.math.reduce_sum", 8),
        ("tensorflow.math.reduce_max", 9),
        ("tensorflow.math.multiply", 10),
        ("tensorflow.math.add", 12),
        ("tensorflow.math.square", 17),
    }
    # AutoGraph has to convert the layer inside the layer itself: if it is seen at all, then as trace time.
    assert all(call["trace_time"] for call in calls if call["api"] == "keras.layers.Dense.__call__")
    assert [call["count"] for call in calls if call["api"] == "keras.Sequential.fit"] == [1]
    constant = next(call for call in calls if call["api"] == "tensorflow.constant")
    assert (constant["count"], constant["trace_time"]) == (4, False)
