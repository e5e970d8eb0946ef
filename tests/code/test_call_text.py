"""What a call looks like, whatever its layout."""

from __future__ import annotations

import pytest

from energy_code.analysis.call_text import LONGEST, call_text


@pytest.mark.parametrize(
    "same",
    [
        b"model.fit(x, y, epochs=2)",
        b"model . fit( x,\n  y,  # the labels\n  epochs = 2,\n)",
        b"model.fit(x, \\\n y, epochs=2)",
    ],
)
def test_layout_and_comments_do_not_count(same: bytes) -> None:
    assert call_text(same) == "model.fit(x,y,epochs=2)"


def test_what_is_in_strings_and_between_words_counts() -> None:
    assert call_text(b"f('a  b # c', a  if b else 'it\\'s')") == "f('a  b # c',a if b else'it\\'s')"
    assert call_text(b'f("""a\n "b" # c""")') == 'f("""a\n "b" # c""")'
    assert call_text(b"f((1,))") != call_text(b"f((1))")


def test_long_calls_are_told_apart_by_all_of_their_text() -> None:
    one, other = (call_text(b"Sequential([" + b"Dense(8), " * 40 + end + b"])") for end in (b"1", b"2"))
    assert one != other
    assert len(one) <= LONGEST
    assert one[:80] == other[:80]
