"""What `tune` finds to try in a program: one candidate a kind, with edits that give a program that still parses."""

from __future__ import annotations

import ast
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from energy_measure.tuning.candidate import Candidate, edited, read_sources, together
from energy_measure.tuning.candidates import find_all, jit_compile

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


HEAD = """
import numpy as np
import tensorflow as tf
from tensorflow import keras

images = np.zeros((600, 8, 8, 1), "uint8")
labels = np.zeros(600)
"""


def changed(tmp_path: Path, name: str, program: str) -> str | None:
    """A program with one candidate; None where there is none."""
    (tmp_path / "train.py").write_text(HEAD + textwrap.dedent(program))
    found = {one.name: one for one in find_all(read_sources(tmp_path, tmp_path / "train.py"))}
    return text_with(tmp_path, found[name]) if name in found else None


SCALE = """
def scale(image, label):
    return tf.cast(image, tf.float32) / 255.0, label
"""


def test_scaling_is_done_once_up_front(tmp_path: Path) -> None:
    program = (
        SCALE + "ds = tf.data.Dataset.from_tensor_slices((images, labels)).map(scale).shuffle(9).batch(8)\n"
    )
    text = changed(tmp_path, "map-once", program)
    assert text is not None
    assert "from_tensor_slices(scale(images, labels)).shuffle(9).batch(8)" in text
    apart = (
        SCALE
        + "ds = tf.data.Dataset.from_tensor_slices((images, labels))\nds = ds.map(scale)\nds = ds.batch(8)\n"
    )
    text = changed(tmp_path, "map-once", apart)
    assert text is not None
    assert text.endswith("ds = tf.data.Dataset.from_tensor_slices(scale(images, labels))\nds = ds.batch(8)\n")
    text = changed(
        tmp_path, "map-once", "ds = tf.data.Dataset.from_tensor_slices(images).map(lambda x: x / 255)\n"
    )
    assert text is not None
    assert "from_tensor_slices((lambda x: x / 255)(images))" in text
    resized = SCALE.replace("tf.cast(image, tf.float32)", "tf.image.resize(image, (4, 4))")
    assert changed(tmp_path, "map-once", resized + program.removeprefix(SCALE)) is None


def test_what_each_epoch_computes_again_is_kept_unless_chance_is_in_it(tmp_path: Path) -> None:
    resized = SCALE.replace("tf.cast(image, tf.float32)", "tf.image.resize(image, (4, 4))")
    pipeline = "ds = tf.data.Dataset.from_tensor_slices((images, labels)).map(scale).shuffle(9).batch(8)\n"
    text = changed(tmp_path, "cache", resized + pipeline)
    assert text is not None
    assert ".map(scale).cache().shuffle(9)" in text
    flipped = resized.replace("tf.image.resize(image, (4, 4))", "tf.image.random_flip_left_right(image)")
    assert changed(tmp_path, "cache", flipped + pipeline) is None
    shuffled = "ds = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(9).map(scale).batch(8)\n"
    assert changed(tmp_path, "cache", resized + shuffled) is None
    assert changed(tmp_path, "cache", resized + pipeline.replace(".batch", ".cache().batch")) is None


def test_a_generator_over_arrays_is_cut_by_tensorflow(tmp_path: Path) -> None:
    rows = "def rows():\n    for a, b in zip(images, labels):\n        yield a, b\n"
    made = "ds = tf.data.Dataset.from_generator(rows, output_types=(tf.uint8, tf.float64)).batch(8)\n"
    text = changed(tmp_path, "from-generator", rows + made)
    assert text is not None
    assert "ds = tf.data.Dataset.from_tensor_slices((images, labels)).batch(8)" in text
    assert changed(tmp_path, "from-generator", rows.replace("yield a, b", "yield b, a") + made) is None
    assert changed(tmp_path, "from-generator", rows.replace("zip(images", "zip(load()") + made) is None


@pytest.mark.parametrize(
    ("call", "written"),
    [
        ("model.fit(images, labels, batch_size=32)", "batch_size=30"),
        ("model.fit(images, labels, epochs=2)", "epochs=2, batch_size=30"),
        ("model.fit(images, labels, batch_size=32, validation_split=0.5)", "batch_size=30, validation"),
        ("model.fit(images, labels, batch_size=50)", None),
        ("model.fit(unknown, labels, batch_size=32)", None),
        ("model.fit(images[:512], labels[:512], batch_size=32)", None),
    ],
)
def test_a_batch_that_divides_the_samples(tmp_path: Path, call: str, written: str | None) -> None:
    program = (
        'model = keras.Sequential([keras.layers.Dense(1)])\nmodel.compile("adam", "mse")\n' + call + "\n"
    )
    text = changed(tmp_path, "batch-divides", program)
    assert (text is not None and written in text) if written else text is None


def test_several_steps_per_call_are_not_tried_where_they_cost_more(tmp_path: Path) -> None:
    dense = 'model = keras.Sequential([keras.layers.Dense(1)])\nmodel.compile("adam", "mse")\nmodel.fit(images, labels)\n'
    assert changed(tmp_path, "steps-per-execution", dense) is not None
    assert changed(tmp_path, "steps-per-execution", dense.replace("Dense(1)", "LSTM(1)")) is None


@pytest.mark.parametrize(("gpu", "tried"), [("", False), ("NVIDIA T4", True)])
def test_xla_is_tried_for_convolutions_on_a_gpu_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gpu: str, tried: bool
) -> None:
    machine = replace(jit_compile.describe(), gpu=gpu)
    monkeypatch.setattr(jit_compile, "describe", lambda: machine)
    dense = 'model = keras.Sequential([keras.layers.Dense(1)])\nmodel.compile("adam", "mse")\nmodel.fit(images, labels)\n'
    assert changed(tmp_path, "jit-compile", dense) is not None
    found = changed(tmp_path, "jit-compile", dense.replace("Dense(1)", "Conv2D(1, 3)"))
    assert (found is not None) == tried


def test_xla_comes_last(tmp_path: Path, found: dict[str, Candidate]) -> None:
    assert list(found)[-1] == "jit-compile"


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
