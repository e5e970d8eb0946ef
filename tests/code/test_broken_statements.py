"""A broken statement ends where the next one begins: what stands behind it is read as it was."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from energy_code import rules
from energy_code.syntax.pieces import pieces_from, repaired
from energy_code.workspace.document import Document

ROOT = Path(__file__).parents[2]
BEHIND = b'''\
@tf.function
def doubled(x):
    """Twice."""
    return tf.argmax(tf.nn.softmax(tf.add(x, x)), axis=-1)


class Net(tf.keras.Model):
    def call(self, x):
        return tf.pow(x, 2)

    def other(self, x):
        return tf.square(x)


total = tf.reduce_sum(doubled(tf.ones(3)))
'''
BEFORE = b"import tensorflow as tf\n\nones = tf.ones(2)\n\n"


def _keystrokes() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "keystrokes", ROOT / "benchmarks" / "subjects" / "keystrokes.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["keystrokes"] = module
    spec.loader.exec_module(module)
    return module


keystrokes = _keystrokes()


def apis_behind(document: Document, place: int) -> list[tuple[int, str]]:
    return [
        (call.span.start_byte - place, call.api)
        for call in document.analyse().calls()
        if call.span.start_byte >= place
    ]


@pytest.mark.parametrize(
    "broken",
    [
        b"x = tf.matmul(\n",
        b"x = tf.matmul(ones, [\n    1,\n    {2: (\n",
        b"x = tf.matmul(ones)]\n",
        b"def f(a, b\n",
        b"class A(\n",
        b"if ones(\n",
        b"x = 'abc\n",
        b'x = f("abc\n',
        b'x = """abc\n',
        b"x = '''\n\n",
        b"import\n",
        b"x = \n",
        b"x = tf.\n",
        b"for\n",
        b"else:\n",
        b"match ones:\n",
        b"def f(x)\n    return tf.ones(\n",
    ],
)
def test_what_stands_behind_keeps_its_code_calls_and_findings(broken: bytes) -> None:
    source = BEFORE + BEHIND
    document = Document(source)
    place = len(BEFORE)
    wanted, codes = (
        apis_behind(document, place),
        {statement for start, statement in document.module.statements if start >= place},
    )
    found = [(one.rule.name, one.span.start_byte - place) for one in rules.find(document.analyse())]
    assert len(wanted) == 8
    assert found
    document.edit(place, place, broken)
    now = place + len(broken)
    assert apis_behind(document, now) == wanted
    assert codes <= {statement for _, statement in document.module.statements}
    behind = [one for one in rules.find(document.analyse()) if one.span.start_byte >= now]
    assert [(one.rule.name, one.span.start_byte - now) for one in behind] == found
    fresh = Document(BEFORE + broken + BEHIND)
    assert apis_behind(fresh, now) == wanted
    assert {call.span for call in fresh.analyse().calls()} == {
        call.span for call in document.analyse().calls()
    }


def test_in_a_class_methods_behind_an_unclosed_bracket_are_read() -> None:
    text = BEHIND.replace(
        b"        return tf.pow(x, 2)\n", b"        y = tf.add(\n        return tf.pow(x, 2)\n"
    )
    document = Document(BEFORE + text)
    apis = [call.api for call in document.analyse().calls()]
    assert "tensorflow.math.pow" in apis
    assert "tensorflow.math.square" in apis


def test_a_call_is_known_before_its_bracket_is_closed() -> None:
    document = Document(BEFORE + b"x = tf.matmul(ones, ones\n\n" + BEHIND)
    assert "tensorflow.linalg.matmul" in [call.api for call in document.analyse().calls()]


@pytest.mark.parametrize("place", keystrokes.PLACES)
@pytest.mark.parametrize("closing", [False, True])
def test_each_key_gives_what_a_fresh_reading_gives(place: str, closing: bool) -> None:
    text = (BEFORE + BEHIND + b"\n\ndef last(x):\n    y = x\n    return y\n").decode()
    document = Document(text)
    for key in keystrokes.keys(text, place, closing):
        document.edit(key.start, key.end, key.text.encode())
        text = key.applied(text)
        assert list(document.analyse().calls()) == list(Document(text).analyse().calls()), key


def test_code_in_a_string_is_no_code() -> None:
    template = b'CODE = """\nimport os\ndef f():\n    """\nother = """\ndef g():\n    return 1\n""".strip()\n'
    pieces = [piece for run in pieces_from(BEFORE + template, 0) for piece in run]
    assert [
        piece.repairs for piece in pieces if b"other" in (BEFORE + template)[piece.start : piece.end]
    ] == [()]


def test_words_at_the_margin_of_closed_brackets_begin_nothing() -> None:
    source = b"values = dict(\na=1,\nb=[x\nfor x in y\nif x],\n)\nmore = (a\n@ b)\nend = 1\n"
    pieces = [piece for run in pieces_from(source, 0) for piece in run]
    assert [source[piece.start : piece.start + 4] for piece in pieces] == [b"valu", b"more", b"end "]
    assert repaired(source, pieces) == source


@pytest.mark.parametrize(
    "text", [b"a(\n", b"(", b")", b'"""', b"'\\\n", b"{[(\n", b'x = """\ndef f(): pass\n']
)
def test_reading_pieces_takes_steps_in_proportion_to_the_text(text: bytes) -> None:
    """Each piece is looked at once, however many brackets and strings are open."""
    for count in (200, 400):
        source = text * count
        pieces = [piece for run in pieces_from(source, 0) for piece in run]
        assert [piece.start for piece in pieces[1:]] == [piece.end for piece in pieces[:-1]]
        assert pieces[0].start == 0
        assert pieces[-1].end == len(source)
        assert len(repaired(source, pieces)) == len(source)


@pytest.mark.parametrize("broken", [b"x = tf.matmul(\n", b"def f(:\n    pass\n", b"x = 'abc\n"])
def test_an_eager_step_is_found_while_something_else_is_typed(broken: bytes) -> None:
    loop = b"""import tensorflow as tf
import keras

model = keras.Sequential([keras.layers.Dense(4)])
optimizer = keras.optimizers.SGD()
batches = tf.data.Dataset.from_tensor_slices(tf.ones((64, 4))).batch(8)
for x in batches:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
"""
    document = Document(loop)
    assert "missing-function" in [one.rule.name for one in rules.find(document.analyse())]
    document.edit(len(loop), len(loop), broken)
    assert "missing-function" in [one.rule.name for one in rules.find(document.analyse())]
