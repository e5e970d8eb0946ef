"""Broken code, strange bytes, sizes that no person writes: an answer, never an exception."""

from __future__ import annotations

import sys
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from energy_code.syntax.tree import parse
from energy_code.workspace.document import Document

PROGRAM = """import tensorflow as tf
from tensorflow import keras
class Net(keras.Model):
    def __init__(self, units=(4, 5)):
        super().__init__()
        self.stack = [keras.layers.Dense(n) for n in units]
    def call(self, inputs):
        x = inputs
        for layer in self.stack:
            x = layer(x)
        return tf.nn.softmax(x)
@tf.function(jit_compile=True)
def step(model, data):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(data))
    return tape.gradient(loss, model.trainable_variables)
net = Net()
data = tf.data.Dataset.from_tensor_slices(tf.ones((8, 4))).map(lambda v: v * 2).batch(2)
for epoch in range(3):
    for batch in data:
        step(net, batch)
    print(f"done {epoch} {net(batch).numpy()}")
net.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse")
net.fit(data, epochs=5)
"""


def found(source: str) -> set[tuple[int, int, str]]:
    return {(c.span.start_byte, c.span.end_byte, c.api) for c in Document(source).analyse().calls()}


WHOLE = found(PROGRAM)


def before(line_start: int, prefix: str) -> set[tuple[int, int, str]]:
    """Calls before a place that need nothing behind it to be understood."""
    return {call for call in found(prefix[:line_start]) if call in WHOLE}


@settings(max_examples=120, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.integers(0, len(PROGRAM) - 1))
def test_a_file_cut_anywhere_keeps_the_calls_before_the_cut(cut):
    line_start = PROGRAM.rfind("\n", 0, cut) + 1
    assert before(line_start, PROGRAM) <= found(PROGRAM[:cut])


LINES = PROGRAM.splitlines(keepends=True)


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.integers(1, len(LINES) - 1))
def test_a_lost_line_keeps_the_calls_before_it(number):
    start = sum(map(len, LINES[:number]))
    assert before(start, PROGRAM) <= found("".join(LINES[:number] + LINES[number + 1 :]))


BRACKETS = [place for place, letter in enumerate(PROGRAM) if letter in "()[]{}\"':"]


@settings(max_examples=120, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(BRACKETS))
def test_a_lost_bracket_keeps_the_calls_before_its_line(place):
    line_start = PROGRAM.rfind("\n", 0, place) + 1
    assert before(line_start, PROGRAM) <= found(PROGRAM[:place] + PROGRAM[place + 1 :])


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.text() | st.binary())
def test_any_text_gets_an_answer(source):
    document = Document(source)
    last_line = document.source.count(b"\n") + document.source.count(b"\r")
    for call in document.analyse().calls():
        start, end = document.to_lsp(call.span, "utf-16")
        assert (0, 0) <= start <= end
        assert end[0] <= last_line
    assert list(document.analyse().calls()) == list(Document(source).analyse().calls())


HEAD = "import tensorflow as tf\ntf.ones(1)\n"


@pytest.mark.parametrize(
    "deep",
    [
        "x = " + "(" * 5000 + "1" + ")" * 5000,
        "x = " + "[" * 5000 + "]" * 5000,
        "x = " + "[" * 5000,
        "x = " + "f(" * 5000 + ")" * 5000,
        "x = a" + ".b()" * 5000,
        "x = a" + "[0]" * 5000,
        "x = " + " + ".join(["a"] * 5000),
        "x = " + " or ".join(["a"] * 5000),
        "x = " + "not " * 5000 + "a",
        "x = " + "-" * 5000 + "a",
        "x = " + "lambda: " * 3000 + "a",
        "x = " + "a if b else " * 3000 + "c",
        "\n".join(" " * i + "if a:" for i in range(300)) + "\n" + " " * 300 + "pass",
        "\n".join("  " * i + f"def f{i}():" for i in range(90)) + "\n" + "  " * 90 + "pass",
        "if a:\n    pass\n" + "elif a:\n    pass\n" * 3000,
        "x = " + "{" * 3000 + "}" * 3000,
    ],
)
def test_deep_nesting_ends_and_hides_nothing_else(deep):
    calls = Document(f"{HEAD}{deep}\ntf.zeros(1)\n").analyse().calls()
    assert "tensorflow.ones" in [call.api for call in calls]


def test_patterns_nested_without_end(apis_of):
    deep = "[" * 3000 + "]" * 3000
    source = f"import keras\nmatch 1:\n    case {deep}:\n        keras.Sequential()\nkeras.Input()\n"
    assert apis_of(source)[-1] == (5, "keras.layers.Input")


def test_a_long_chain_of_functions(calls_of):
    source = "import tensorflow as tf\ndef f0(x): return tf.ones(x)\n"
    source += "".join(f"def f{i}(x): return f{i - 1}(x)\n" for i in range(1, 400))
    assert [call.api for call in calls_of(f"{source}\nf399(1)\n")] == ["tensorflow.ones"]


def test_a_generated_file_of_five_megabytes():
    line = "x{0} = [1, 2, 3, 4, 5, 6, 7, 8, 'some text that fills the line', {{'a': {0}}}]\n"
    source = HEAD + "".join(map(line.format, range(63_000))) + "tf.zeros(1)\n"
    assert len(source) > 5_000_000
    calls = Document(source).analyse().calls()
    assert [call.api for call in calls] == ["tensorflow.ones", "tensorflow.zeros"]


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"\xef\xbb\xbfimport keras\nkeras.ops.ones(1)\n", 1),
        (b"# -*- coding: latin-1 -*-\nimport keras\nx = '\xe9'; keras.ops.ones(1)\n", 2),
        (b"import keras\nx = '\xe9'; keras.ops.ones(1)\n", 1),
        (b"# coding: no-such-thing\nimport keras\nkeras.ops.ones(1)\n", 2),
        (b"import keras\r\nkeras.ops.ones(1)\r\n", 1),
        (b"import keras\rkeras.ops.ones(1)\r", 1),
        (b"import keras\n\0\0\nkeras.ops.ones(1)\n", 2),
        (b"if 1:\n\timport keras\n\tkeras.ops.ones(1)\n", 2),
        (b"\x0cimport keras\nkeras.ops.ones(1)\n", 1),
        ("import keras\nx = '\u65e5\u672c \U0001f600'; keras.ops.ones(1)\n".encode("utf-16"), 1),
    ],
)
def test_strange_bytes(data, line):
    document = Document(data)
    (call,) = document.analyse().calls()
    assert call.api == "keras.ops.ones"
    assert call.span.start.row == line
    assert document.source[call.span.start_byte : call.span.end_byte] == b"keras.ops.ones(1)"


def test_parsing_in_pieces_keeps_nothing():
    """An editor parses at each keystroke, for days."""
    source = "".join(f"größe_{number} = tf.abs({number})  # 大きさ 😀\n" for number in range(1000)).encode()
    whole = str(parse(source).root_node)
    over = threading.Event()
    other = threading.Thread(target=over.wait)  # somebody who could wait for the interpreter
    other.start()
    try:
        assert str(parse(source).root_node) == whole
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(20):
            parse(source)
        assert tracemalloc.get_traced_memory()[0] - before < len(source)
    finally:
        tracemalloc.stop()
        over.set()
        other.join()


def test_threads_may_parse_at_the_same_time():
    texts = [f"def f{k}():\n    return g({k}, [1, 2], x=3)\n".encode() * 1500 for k in range(2)]
    wanted = [str(parse(text).root_node) for text in texts]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(2) as pool:
            trees = list(pool.map(parse, texts * 4))
    finally:
        sys.setswitchinterval(before)
    assert [str(tree.root_node) for tree in trees] == wanted * 4
