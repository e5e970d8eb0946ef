"""What two programs printed is compared as a person at a terminal would compare it."""

from __future__ import annotations

import math

import pytest

from energy_measure.comparison.output_diff import Likeness, excerpt, likeness, shown


def bar(step: str, took: str, loss: str) -> str:
    """A progress bar as Keras writes it: colours, backspaces, and blanks over what stood there."""
    text = f"\x1b[1m{step}\x1b[0m \x1b[32m━━━━\x1b[0m \x1b[1m{took}\x1b[0m - loss: {loss}"
    return f"\r{text:70}" + "\b" * 70


def fit(took: str, loss: str, first: str = "64.86") -> bytes:
    return f"Epoch 1/2\n{bar(' 1/16', '6s 454ms/step', first)}{bar('16/16', took, loss)}\nend\n".encode()


def test_a_progress_bar_is_what_it_shows_in_the_end():
    assert shown(fit("0s 2ms/step", "11.9")) == ["Epoch 1/2", "16/16 ━━━━ 0s 2ms/step - loss: 11.9", "end"]


def test_a_shorter_text_leaves_the_rest_of_what_it_overwrites():
    assert shown(b"1234567\rab\n") == ["ab34567"]


def test_times_and_ways_to_the_end_are_not_compared():
    assert likeness(fit("0s 2ms/step", "11.9"), fit("1s 31ms/step", "11.9", "70.1")) == Likeness(True, 0.0)
    assert likeness(fit("0s 2ms/step", "11.9"), fit("0s 2ms/step", "12.9")).difference == pytest.approx(
        1 / 12.9
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("took 0.87 s", "took 1.2 s"),
        ("Elapsed: 12.5", "Elapsed: 13"),
        ("1200 images/s", "999.5 images/s"),
        ("12:34:56 done", "12:35:01 done"),
        ("100%|██| 10/10 [00:01<00:00,  9.81it/s]", "100%|██| 10/10 [00:02<00:00,  4.1it/s]"),
    ],
)
def test_what_counts_as_a_time(one, other):
    assert likeness(one.encode(), other.encode()) == Likeness(True, 0.0)


@pytest.mark.parametrize(
    ("one", "other"), [("loss 0.5", "loss 0.6"), ("3 steps", "4 steps"), ("v1.5s2", "v1.6s2"), ("7 m", "8 m")]
)
def test_what_is_no_time(one, other):
    assert 0 < likeness(one.encode(), other.encode(), integers=True).difference < 1


def test_numbers_differ_by_a_part_of_their_size():
    found = likeness(b"norm 632.5478 and -1e-3", b"norm 632.5479 and -1e-3")
    assert found.difference == pytest.approx(1.58e-7, rel=0.01)


@pytest.mark.parametrize("other", [b"norm 1.0\nmore", b"norms 1.0", b"norm \xff"])
def test_other_words_are_no_rounding(other):
    assert likeness(b"norm 1.0", other).difference == math.inf
    assert likeness(b"norm \xfe", other).difference == math.inf


def test_an_excerpt_shows_what_differs_and_leaves_times_out():
    words = excerpt(b"took 1 s\nloss 2\n", b"took 2 s\nloss 3\n", "a.py", "b.py")
    assert words.splitlines() == [
        "--- a.py",
        "+++ b.py",
        "@@ -1,2 +1,2 @@",
        " took ‹time›",
        "-loss 2",
        "+loss 3",
    ]


def test_whole_numbers_differ_or_not_unless_asked() -> None:
    one, other = b"classes [3, 8, 3, 9]", b"classes [7, 5, 5, 8]"
    assert likeness(one, other).difference == math.inf
    assert likeness(one, other, integers=True).difference == pytest.approx(4 / 7)
    assert likeness(b"steps 100 loss 0.50", b"steps 100 loss 0.51").difference == pytest.approx(0.01)


def test_what_differed_most_is_named() -> None:
    found = likeness(b"a 1.00\nloss 2.00\n", b"a 1.01\nloss 4.00\n")
    assert found.most == "`loss 2.00` against `loss 4.00`"


def test_tiny_numbers_are_compared_absolutely() -> None:
    assert likeness(b"mean 1e-9", b"mean -1e-9").difference == pytest.approx(2e-9)
