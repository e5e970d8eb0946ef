"""What `tune` finds to try in a program: one candidate a kind, with edits that give a program that still parses."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest

from energy_measure.tuning.candidate import Candidate, edited, read_sources, together
from energy_measure.tuning.candidates import find_all

PROGRAM = """
import numpy as np
import tensorflow as tf
from tensorflow import keras

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile("adam", "mse")
x, y = np.ones((64, 4)), np.ones((64, 1))
model.fit(x, y, batch_size=16, epochs=2)
optimizer = keras.optimizers.SGD()
data = tf.data.Dataset.from_tensor_slices((x, y)).map(lambda a, b: (a * 2.0, b)).shuffle(9).batch(8)
for row in x:
    print(model(row[None]))
for a, b in data:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(a) - b) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_weights), model.trainable_weights))
"""


@pytest.fixture
def found(tmp_path: Path) -> dict[str, Candidate]:
    (tmp_path / "train.py").write_text(PROGRAM)
    return {one.name: one for one in find_all(read_sources(tmp_path, tmp_path / "train.py"))}


def text_with(tmp_path: Path, candidate: Candidate) -> str:
    edits, _ = together([candidate])
    text = edited((tmp_path / "train.py").read_bytes(), edits["train.py"]).decode()
    ast.parse(text)
    return text


def test_an_inline_step_becomes_a_compiled_function(tmp_path: Path, found: dict[str, Candidate]) -> None:
    text = text_with(tmp_path, found["missing-function"])
    assert "@tf.function\ndef train_step(a, b):" in text
    assert "for a, b in data:\n    train_step(a, b)" in text


def test_a_map_goes_behind_the_batch(tmp_path: Path, found: dict[str, Candidate]) -> None:
    assert ".shuffle(9).batch(8).map(lambda a, b: (a * 2.0, b))" in text_with(tmp_path, found["batch-map"])


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("steps-per-execution", 'model.compile("adam", "mse", steps_per_execution='),
        ("jit-compile", 'model.compile("adam", "mse", jit_compile=True)'),
        ("batch-size", "batch_size=32"),
        ("batch-size", ".batch(16)"),
        ("optional-imports", 'import sys\n\nsys.modules.update(dict.fromkeys(["sklearn"'),
    ],
)
def test_a_knob_is_written_as_a_person_would(
    tmp_path: Path, found: dict[str, Candidate], name: str, written: str
) -> None:
    assert written in text_with(tmp_path, found[name])


def test_only_what_may_change_results_says_so(found: dict[str, Candidate]) -> None:
    assert {name for name, one in found.items() if one.changes_results} - {"mixed-precision"} == {
        "batch-size"
    }


def test_threads_are_a_matter_of_the_environment(found: dict[str, Candidate]) -> None:
    assert found["one-thread"].environment["TF_NUM_INTRAOP_THREADS"] == "1"
    assert not found["one-thread"].edits


def test_a_model_called_in_a_loop_is_called_through_a_compiled_function(tmp_path: Path) -> None:
    program = """
        import tensorflow as tf
        from tensorflow import keras

        policy = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
        state = tf.zeros((1, 4))
        for episode in range(3):
            for step in range(9):
                action = policy(state)
                print(action)
    """
    (tmp_path / "train.py").write_text(textwrap.dedent(program))
    found = {one.name: one for one in find_all(read_sources(tmp_path, tmp_path / "train.py"))}
    text = text_with(tmp_path, found["compiled-calls"])
    assert "policy_compiled = tf.function(policy)\nfor episode in range(3):" in text
    assert "action = policy_compiled(state)" in text


def test_changes_that_overlap_are_not_made_together(tmp_path: Path, found: dict[str, Candidate]) -> None:
    edits, _ = together([found["steps-per-execution"], found["jit-compile"]])
    assert len(edits["train.py"]) == 1


def test_a_program_without_tensorflow_has_nothing_to_change_but_its_threads(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text("print(1)\n")
    assert [one.name for one in find_all(read_sources(tmp_path, tmp_path / "plain.py"))] == ["one-thread"]
