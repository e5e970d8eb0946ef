"""Typing in comments and documentation: places move, and nothing is looked at again."""

from __future__ import annotations

import random

import pytest
import tree_sitter
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from energy_code.document import Document
from energy_code.engine import Engine

PROGRAM = '''"""A module. Größe 😀"""
import tensorflow as tf
from tensorflow import keras

# what comes first
UNITS = 4  # a number


@tf.function  # traced
def step(x, scale=tf.constant(2.0)):
    """Scales.

    With a second line.
    """
    # inside, before
    y = tf.abs(x)  # behind
    if y is None:
        # in a branch
        return tf.zeros(3)

    def inner(z):
        'short'
        return lambda: tf.sqrt(z)  # of a lambda

    return inner(y * scale)()


class Net(keras.Model):
    r"""A net \\d."""

    def __init__(self):
        """Makes it."""
        super().__init__()
        self.dense = keras.layers.Dense(
            UNITS,  # inside a call
            name="not a remark",
        )

    def call(self, x):
        # the end
        return step(self.dense(x))


if UNITS:
    def twin():
        """The same in both branches."""
        return tf.ones(1)
else:
    def twin():
        """The same in both branches."""
        return tf.ones(1)
net = Net()
net(twin()).numpy()  # last'''.encode()

REMARKS = [
    b"A module", b"comes first", b"a number", b"traced", b"Scales", b"second line", b"inside, before", b"behind", b"in a branch",
    b"short", b"of a lambda", b"A net", b"Makes it", b"the end", b"same in both", b"last", b"inside a call",
]  # fmt: skip


def names(node: tree_sitter.Node) -> list[tree_sitter.Node]:
    found, stack = [], [node]
    while stack:
        one = stack.pop()
        if one.type in ("identifier", "attribute", "call"):
            found.append(one)
        stack.extend(one.children)
    return found


def same_as_fresh(document: Document) -> None:
    """The same calls, and the same answers about every name."""
    now, fresh = document.analysis, Document(document.source).analysis
    assert list(now.calls) == list(fresh.calls)
    assert list(now.functions) == list(fresh.functions)
    for node in names(now.tree.root_node):
        assert (now.api_of(node), now.type_of(node)) == (fresh.api_of(node), fresh.type_of(node))


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(
    st.sampled_from(REMARKS), st.integers(-6, 14), st.integers(0, 4),
    st.sampled_from([b"", b"x", b"more text", "é😀".encode(), b"'", b'"""', b"\n", b"#", b"\\", b"(tf.abs(1))", b"; tf.abs(1)"]),
), min_size=1, max_size=6))  # fmt: skip
def test_edits_around_remarks_give_what_a_fresh_reading_gives(edits):
    document = Document(PROGRAM)
    for remark, by, length, replacement in edits:
        start = document.source.find(remark)
        if start < 0:
            continue
        start += by
        end = min(start + length, len(document.source))
        text = document.source
        if any(i < len(text) and text[i] & 0xC0 == 0x80 for i in (start, end)):
            continue  # inside a character
        document.edit(start, end, replacement)
        same_as_fresh(document)


@pytest.mark.parametrize(
    "remark", [remark for remark in REMARKS if remark not in (b"same in both", b"inside a call")]
)
def test_typing_in_a_remark_evaluates_nothing(remark, monkeypatch):
    document = Document(PROGRAM)
    before = list(document.analysis.calls)
    for method in ("evaluate", "execute_unit"):
        monkeypatch.setattr(Engine, method, lambda *args: pytest.fail("looked at again"))
    place = PROGRAM.index(remark) + 3
    for number, letter in enumerate(b"ever more words"):
        document.edit(place + number, place + number, bytes([letter]))
        after = list(document.analysis.calls)
    assert [call.api for call in after] == [call.api for call in before]
    behind = [call for call in before if call.span.start_byte > place]
    assert [call.span.start_byte - 15 for call in after if call.span.start_byte > place] == [
        call.span.start_byte for call in behind
    ]


def test_a_remark_and_code_in_turn():
    generator, document = random.Random(4), Document(PROGRAM)
    for _ in range(120):
        remark = generator.choice([*REMARKS, b"tf.abs(x)", b"tf.ones(1)", b"UNITS", b"net("])
        place = document.source.find(remark)
        if place >= 0:
            document.edit(place + 2, place + 2, generator.choice([b"a", b"bb", b" "]))
            if generator.random() < 0.3:
                same_as_fresh(document)
    same_as_fresh(document)


def test_an_analysis_made_before_keeps_its_answers():
    document = Document(PROGRAM)
    before = document.analysis
    place = PROGRAM.index(b"Scales")
    document.edit(place + 2, place + 2, b"much longer than it was")
    assert len(document.analysis.calls) == len(before.calls)
    fresh = Document(PROGRAM).analysis
    for node in names(before.tree.root_node):
        assert before.api_of(node) == fresh.api_of(node)
    assert list(before.calls) == list(fresh.calls)
