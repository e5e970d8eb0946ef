"""Edits inside of classes: what `self` holds is asked again where it can be another, and nowhere else."""

from __future__ import annotations

import random

import pytest

from energy_code.workspace.document import Document
from keras_source import keras_source

LAYERS = b"""import tensorflow as tf
from tensorflow import keras
class Dense(keras.layers.Layer):
    def __init__(self):
        self.rank = None
    def build(self, shape):
        self._kernel = self.add_weight(shape)
        if self.rank:
            self.enable()
    @property
    def kernel(self):
        return self._kernel + self.extra
    def enable(self):
        self.extra = tf.Variable(self.kernel)
    def call(self, x):
        return tf.matmul(x, self.kernel)
class Scale(keras.layers.Layer):
    def build(self, shape):
        self.factor = tf.Variable(1.0)
    def call(self, x):
        self.factor.assign(tf.abs(x))
        return tf.multiply(x, self.factor)
    def get_config(self):
        return {"name": self.name}
"""
"""In the first class `build`, `kernel` and `enable` rest on each other."""


def same_as_fresh(document: Document) -> None:
    assert list(document.analyse().calls()) == list(Document(document.source).analyse().calls())


def evaluated(document: Document) -> set[str]:
    """The functions that were evaluated since the last edit."""
    engine = document.engine
    return {
        function.code.qualname
        for function, known in engine.contexts.evaluations.items()
        for summary in known.values()
        if summary.made_at == engine.revisions.revision
    }


def typed(document: Document, before: bytes, text: bytes) -> set[str]:
    """What is evaluated at the last key of a text that is typed in front of another."""
    document.analyse()
    place = document.source.index(before)
    for letter in text:
        document.edit(place, place, bytes([letter]))
        place += 1
        same_as_fresh(document)
    return evaluated(document)


@pytest.mark.parametrize(
    ("before", "again"),
    [
        pytest.param(b'return {"name"', {"Scale.get_config"}, id="a method that sets nothing"),
        pytest.param(b"return tf.multiply", {"Scale.call"}, id="one that looks at an attribute"),
        pytest.param(b"return tf.matmul", {"Dense.call"}, id="one that leads into a cycle"),
        pytest.param(
            b"if self.rank",
            {"Dense.build", "Dense.kernel", "Dense.enable", "Dense.call"},
            id="one in a cycle, and all that rest on it",
        ),
    ],
)
def test_a_key_in_a_method_evaluates_what_rests_on_it(before: bytes, again: set[str]) -> None:
    assert typed(Document(LAYERS), before, b"y = x; ") == again


def test_a_method_that_comes_to_use_a_cycle_first_is_seen() -> None:
    document = Document(LAYERS)
    typed(document, b"self.factor = tf", b"self.inner = Dense(); self.inner.enable(); ")
    typed(document, b"class Dense", b"def f(x: 'Dense'): x.kernel.assign(1)\n")
    place = document.source.index(b"def f(x")
    document.edit(place, document.source.index(b"class Dense"), b"")
    same_as_fresh(document)


LINES = [
    "self.a = self.b",
    "self.b = self.c",
    "self.c = self.a + 1",
    "self.a = tf.Variable(1.0)",
    "self.b = tf.ones(2)",
    "self.c = None",
    "self.a.assign(self.b)",
    "self.one(self.b)",
    "self.two()",
    "self.three",
    "x = self.one(tf.zeros(1))",
    "self.b = self.three",
    "if self.a: self.two()",
    "self.items.append(self.a)",
    "self.items = []",
    "for item in self.items: item.assign(1)",
    "other = {other}(); other.two()",
    "{other}().c = tf.eye(2)",
    "return self.a",
    "return self.one(self.c)",
    "return tf.abs(self.b)",
    "super().two()",
    "pass",
]


def class_program(dice: random.Random) -> list[str]:
    """A program of three classes whose methods set, read and call at random."""
    lines = ["import tensorflow as tf"]
    for name, base in (("A", ""), ("B", "(A)"), ("C", "(tf.keras.layers.Layer)")):
        lines.append(f"class {name}{base}:")
        for head in ("__init__(self)", "one(self, x)", "two(self)", "three(self)"):
            if head.startswith("three"):
                lines.append("    @property")
            lines.append(f"    def {head}:")
            for _ in range(dice.randint(1, 3)):
                lines.append("        " + dice.choice(LINES).format(other=dice.choice("ABC")))
    return lines + dice.choices(
        ["A().two()", "b = B()", "b.one(tf.ones(1))", "C()(1)", "def f(): C().three"], k=2
    )


@pytest.mark.parametrize("seed", range(30))
def test_edits_of_classes_give_what_a_fresh_reading_gives(seed: int) -> None:
    dice = random.Random(seed)
    lines = class_program(dice)
    document = Document("\n".join(lines) + "\n")
    document.analyse()
    for _ in range(8):
        row = dice.choice([row for row, line in enumerate(lines) if line.startswith("        ")])
        line = "        " + dice.choice(LINES).format(other=dice.choice("ABC"))
        lines[row : row + 1] = dice.choice([[line], [line], [line, lines[row]], [lines[row], line]])
        document.replace("\n".join(lines) + "\n")
        same_as_fresh(document)


@pytest.mark.parametrize(
    ("file", "before", "inserted"),
    [
        (
            "layers/core/dense.py",
            b"        kernel_shape = self._kernel.shape\n",
            b"self.inputs_quantizer.append(self.units)",
        ),
        ("layers/core/dense.py", b"    def call", b"self.built = self.kernel"),
        ("layers/core/embedding.py", b"        return self._embeddings", b"self.enable_lora(1)"),
        (
            "layers/rnn/bidirectional.py",
            b"        return self.forward_layer",
            b"self.forward_layer = self.layer",
        ),
    ],
)
def test_edits_of_layers_of_keras_give_what_a_fresh_reading_gives(
    file: str, before: bytes, inserted: bytes
) -> None:
    source = keras_source(file)
    document = Document(source)
    calls = list(document.analyse().calls())
    place = max(source.find(before), 0)
    document.edit(place, place, b"        " + inserted + b"\n")
    same_as_fresh(document)
    document.edit(place, place + len(inserted) + 9, b"")
    assert list(document.analyse().calls()) == calls


INNER = b"""import tensorflow as tf
def even(n):
    return tf.abs(n) if n else odd(n)
def odd(n):
    return tf.negative(n) if n else even(n)
def outer(x):
    def inner():
        return even(x)
    return inner
first, second = outer(tf.ones(1)), outer(2)
print(first(), second())
def alone():
    return tf.zeros(1)
"""
"""`inner` is two functions of one code, and both are in use."""


def test_functions_inside_of_functions_stand_when_another_is_edited() -> None:
    assert typed(Document(INNER), b"return tf.zeros", b"q") == {"alone"}
