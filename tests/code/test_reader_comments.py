"""Comments, documentation and blank lines: places move, and the calls stay what they are."""

from __future__ import annotations

import random

import pytest
import tree_sitter
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from energy_code.workspace.document import Document

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
            name="not a comment",
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

COMMENTS = [
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
    now, fresh = document.analyse(), Document(document.source).analyse()
    assert list(now.calls()) == list(fresh.calls())
    assert list(now.functions()) == list(fresh.functions())
    for node in names(now.tree().root_node):
        assert (now.api_of(node), now.type_of(node)) == (fresh.api_of(node), fresh.type_of(node))


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(
    st.sampled_from(COMMENTS), st.integers(-6, 14), st.integers(0, 4),
    st.sampled_from([b"", b"x", b"more text", "é😀".encode(), b"'", b'"""', b"\n", b"#", b"\\", b"(tf.abs(1))", b"; tf.abs(1)"]),
), min_size=1, max_size=6))  # fmt: skip
def test_edits_around_comments_give_what_a_fresh_reading_gives(edits):
    document = Document(PROGRAM)
    for comment, by, length, replacement in edits:
        start = document.source.find(comment)
        if start < 0:
            continue
        start += by
        end = min(start + length, len(document.source))
        text = document.source
        if any(i < len(text) and text[i] & 0xC0 == 0x80 for i in (start, end)):
            continue  # inside a character
        document.edit(start, end, replacement)
        same_as_fresh(document)


@pytest.mark.parametrize("comment", [comment for comment in COMMENTS if comment != b"same in both"])
def test_typing_in_a_comment_moves_the_calls_behind_it(comment):
    document = Document(PROGRAM)
    before = list(document.analyse().calls())
    place = PROGRAM.index(comment) + 3
    for number, letter in enumerate(b"ever more words"):
        document.edit(place + number, place + number, bytes([letter]))
        after = list(document.analyse().calls())
    assert [call.api for call in after] == [call.api for call in before]
    behind = [call for call in before if call.span.start_byte > place]
    assert [call.span.start_byte - 15 for call in after if call.span.start_byte > place] == [
        call.span.start_byte for call in behind
    ]


def test_a_comment_and_code_in_turn():
    generator, document = random.Random(4), Document(PROGRAM)
    for _ in range(120):
        comment = generator.choice([*COMMENTS, b"tf.abs(x)", b"tf.ones(1)", b"UNITS", b"net("])
        place = document.source.find(comment)
        if place >= 0:
            document.edit(place + 2, place + 2, generator.choice([b"a", b"bb", b" "]))
            if generator.random() < 0.3:
                same_as_fresh(document)
    same_as_fresh(document)


def test_an_analysis_made_before_keeps_its_answers():
    document = Document(PROGRAM)
    before = document.analyse()
    place = PROGRAM.index(b"Scales")
    document.edit(place + 2, place + 2, b"much longer than it was")
    assert len(document.analyse().calls()) == len(before.calls())
    fresh = Document(PROGRAM).analyse()
    for node in names(before.tree().root_node):
        assert before.api_of(node) == fresh.api_of(node)
    assert list(before.calls()) == list(fresh.calls())


SPACED = (
    PROGRAM
    + b'''
TEXT = """
tf.abs(1)

# no comment
"""
total = 1 + \\
    tf.size(TEXT)
values = [
    tf.ones(1),

    # between
    tf.zeros(2),
]
@tf.function

def late():
    return [

tf.abs(2)]
'''
)
PIECES = [
    b"\n", b"\n\n", b"\n    ", b"    ", b"\t", b"# tf.abs(1)\n", b"    # a comment\n", b"        # deeper\n", b"#", b"\n# last", b"\r\n",
]  # fmt: skip


def place_in(text: bytes, generator: random.Random) -> int:
    """Mostly where lines begin or end, or behind their indentation."""
    line = generator.choice([place for place, byte in enumerate(text) if byte == 10])
    rest = text[line + 1 :]
    indented = line + 1 + len(rest) - len(rest.lstrip(b" "))
    return generator.choice([line, line + 1, indented, min(line + 3, len(text))])


@pytest.mark.parametrize("seed", range(12))
def test_edits_of_space_give_what_a_fresh_reading_gives(seed):
    generator = random.Random(seed)
    document = Document(SPACED if seed % 3 else SPACED.replace(b"\n", b"\r\n"))
    for _ in range(40):
        text = document.source
        start = place_in(text, generator)
        while start < len(text) and text[start] & 0xC0 == 0x80:
            start += 1
        end, piece = start, generator.choice(PIECES)
        if generator.random() < 0.4:
            piece = b"" if generator.random() < 0.7 else piece
            while (
                end < len(text) and end - start < generator.randrange(1, 9) and text[end : end + 1].isspace()
            ):
                end += 1
        document.edit(start, end, piece)
        if generator.random() < 0.7:
            same_as_fresh(document)


@pytest.mark.parametrize(
    "before",
    [
        b"    y = tf.abs(x)", b"        return tf.zeros(3)", b"    def inner(z)", b"def step", b"class Net",
        b"    def call(", b"if UNITS:", b"import tensorflow", b"net(twin", b"    tf.zeros(2)",
    ],
)  # fmt: skip
@pytest.mark.parametrize("indentation", [b"", b"    "])
def test_a_new_blank_line_moves_the_calls_behind_it(before, indentation):
    document = Document(SPACED)
    calls = list(document.analyse().calls())
    place = SPACED.index(before)
    document.edit(place, place, indentation + b"\n")
    after = list(document.analyse().calls())
    by = len(indentation) + 1
    assert [(call.api, call.span.start_byte) for call in after] == [
        (call.api, call.span.start_byte + (by if call.span.start_byte >= place else 0)) for call in calls
    ]


def test_a_comment_line_inside_a_function_leaves_the_calls_as_they_are():
    document = Document(SPACED)
    calls = list(document.analyse().calls())
    place = SPACED.index(b"    y = tf.abs(x)")
    for piece in (b"\n", b"#", b"\n", b"    # more\n"):
        document.edit(place, place, piece)
        assert [call.api for call in document.analyse().calls()] == [call.api for call in calls]


@pytest.mark.parametrize("line", [b"# no comment", b"    tf.size(TEXT)"])
def test_a_blank_line_in_a_string_or_behind_a_backslash_is_no_space(line):
    document = Document(SPACED)
    assert len(document.analyse().calls()) > 0
    place = SPACED.index(line)
    document.edit(place, place, b"\n")
    same_as_fresh(document)


def test_a_comment_that_says_that_models_run_eagerly_counts_as_in_a_fresh_reading() -> None:
    document = Document(PROGRAM)
    place = document.source.index(b"# the end") + len("# the end")
    modes = set()
    for letter in b" run_eagerly=True":
        document.edit(place, place, bytes([letter]))
        place += 1
        calls = list(document.analyse().calls())
        assert calls == list(Document(document.source).analyse().calls())
        modes.add(next(call.mode for call in calls if call.function == "Net.call"))
    assert modes == {"graph", "eager"}
