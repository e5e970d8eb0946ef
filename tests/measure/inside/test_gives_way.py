"""Programs that profile themselves, or die while they are looked at: their calls keep their figures."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.tensorflow, pytest.mark.timeout(600)]

MODEL = """
import os, sys
import keras
import numpy as np
import tensorflow as tf
model = keras.Sequential([keras.Input((64,)), keras.layers.Dense(64), keras.layers.Dense(1)])
model.compile("sgd", "mse")
x, y = np.ones((512, 64), "float32"), np.ones((512, 1), "float32")
"""
PROFILING = (
    MODEL
    + """
tf.profiler.experimental.start("own")
model.fit(x, y, epochs=2, verbose=0)
tf.profiler.experimental.stop()
print(sum(len(files) for _, _, files in os.walk("own")) > 0)
model.predict(x, verbose=0)
"""
)
DYING = (
    MODEL
    + """
model.fit(x, y, epochs=2, verbose=0)
class Leaving(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        os._exit(3)
model.fit(x, y, verbose=0, callbacks=[Leaving()])
"""
)


def measured(folder: Path, text: str, *options: str) -> tuple[int, dict[str, Any], str]:
    (folder / "program.py").write_text(text)
    command = [sys.executable, "-m", "energy_lsp", "measure", "program.py", "--quick", "--format", "json"]
    done = subprocess.run(
        [*command, "--db", str(folder / "e.sqlite"), *options], cwd=folder, capture_output=True, text=True
    )
    return done.returncode, json.loads(done.stdout), done.stderr


def test_the_programs_own_profiler_comes_first(tmp_path: Path) -> None:
    status, found, errors = measured(tmp_path, PROFILING, "--program-output", str(tmp_path / "printed"))
    assert status == 0, errors
    assert (tmp_path / "printed").read_text() == "True\n"
    assert "The program uses TensorFlow's profiler itself" in found["inside_note"]
    assert any(call["api"].endswith(".fit") and call["resolved"] for call in found["calls"])
    looked_into = {part["call"]["api"].rpartition(".")[2] for part in found["inside"]}
    assert looked_into == {"predict"}, "what runs after it is looked into again"


def test_a_program_that_leaves_in_the_midst_keeps_what_was_seen(tmp_path: Path) -> None:
    status, found, errors = measured(tmp_path, DYING)
    assert status == 1, errors
    first = [part for part in found["inside"] if part["call"]["line"] == 10]
    assert {part["path"] for part in first} >= {"sequential/dense", "sequential/dense_1"}


def test_what_is_not_asked_for_is_not_looked_at(tmp_path: Path) -> None:
    status, found, errors = measured(tmp_path, MODEL + "model.fit(x, y, verbose=0)\n", "--inside", "off")
    assert status == 0, errors
    assert found["inside"] == []
    assert found["inside_note"] == "Calls were not looked into (--inside off)."


LONG_STEP = """
import json, sys, time
import tensorflow as tf
from energy_measure.injected.inside import windows as module
from energy_measure.injected.inside.journal import Journal
module.LONGEST_NS = 200_000_000
windows = module.Windows(Journal(sys.argv[1]), everything=True)
matrix = tf.ones((64, 64))
began = windows.begin("step")
until = time.monotonic() + 2.0
while time.monotonic() < until:
    matrix = tf.matmul(matrix, matrix)
windows.end("step", began)
windows.finish()
windows.journal.write()
"""


def test_a_step_longer_than_a_session_is_seen_to_its_end(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", LONG_STEP, str(tmp_path)], check=True, capture_output=True)
    (journal,) = tmp_path.glob("inside-*.jsonl")
    records = [json.loads(line) for line in journal.read_text().splitlines()]
    sessions = [content for kind, content in records if kind == "session"]
    ((_, began, ended, *_),) = [step for kind, content in records if kind == "steps" for step in content]
    assert len(sessions) >= 2
    assert sessions[0][1] <= began
    *_, written, _ = sessions[-1]  # the step may end while a profile is written
    assert written >= ended
