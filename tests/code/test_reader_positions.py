"""Positions in bytes, UTF-8, UTF-16 and UTF-32 units."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from energy_code.text.lines import Lines
from energy_code.workspace.document import Document

SOURCE = "import tensorflow as tf\nif 1: é = '\U0001f600\U0001d4d0'; tf.ones(3)  # ü\r\ntf.zeros(\n  1)\n"


@pytest.mark.parametrize(
    ("encoding", "character"),
    [("utf-8", 23), ("utf-16", 18), ("utf-32", 16)],
)
def test_characters_outside_the_basic_plane(encoding, character):
    document = Document(SOURCE)
    ones, zeros = document.analyse().calls()
    start, end = document.to_lsp(ones.span, encoding)
    assert start == (1, character)
    assert end == (1, character + len("tf.ones(3)"))
    assert document.to_lsp(zeros.span, encoding) == ((2, 0), (3, 4))
    assert document.byte_offset(*start, encoding) == ones.span.start_byte


@given(
    st.text(alphabet="aé\u65e5\U0001f600\n\r\t"),
    st.sampled_from(["utf-8", "utf-16", "utf-32"]),
    st.integers(0, 60),
)
def test_a_position_leads_back_to_its_byte(text, encoding, place):
    document = Document(text)
    size = len(document.source)
    starts = [i for i in range(size + 1) if i == size or document.source[i] & 0xC0 != 0x80]
    byte = starts[place % len(starts)]
    if document.source[max(byte - 1, 0) : byte + 1] == b"\r\n":
        return  # between the two there is no position
    line, character = document.lines().position(byte, encoding)
    assert document.byte_offset(line, character, encoding) == byte


def test_positions_outside_are_moved_inside():
    lines = Lines("é\nab\n".encode())
    assert lines.byte_offset(-1, 3, "utf-16") == 0
    assert lines.byte_offset(0, 99, "utf-16") == 2
    assert lines.byte_offset(9, 0, "utf-16") == 6
    assert lines.byte_offset(0, 1, "utf-8") == 0  # inside a character: its start
    assert lines.position(999, "utf-8") == (2, 0)


def test_lines_of_empty_and_unfinished_texts():
    assert Lines(b"").starts == [0]
    assert Lines(b"a").starts == [0]
    assert Lines(b"a\n").starts == [0, 2]
    assert Lines(b"a\nb").starts == [0, 2]
