"""A figure follows its call over edits, and no other call gets it."""

from __future__ import annotations

from dataclasses import replace

from energy_code.analysis.call_text import call_text
from energy_code.workspace.document import Document
from energy_data.model import Figure, MeasuredSite
from energy_lsp.presentation.figures.matching import Matching, WrittenCall

FIGURE = Figure(
    *("tensorflow.ones", "here", False, "Xeon", "rapl", "2026", 5, 5, 1, 5, 1.0, 1.0, 0.9, 1.1),
    devices={},
    below=None,
    origin="site",
    times=1,
)


def calls(source: str) -> list[WrittenCall]:
    document = Document("import tensorflow as tf\n" + source)
    found = enumerate(document.analyse().calls())
    return [
        WrittenCall(
            number,
            call.api,
            call.function,
            call_text(document.source[call.span.start_byte : call.span.end_byte]),
            call.span.start.row + 1,
            call.span.start.column + 1,
        )
        for number, call in found
    ]


def measured(source: str, *, started: str = "2026", texts: bool = True) -> list[MeasuredSite]:
    """Each call of the source, measured: the first with 1 J, the second with 2 J, …"""
    return [
        MeasuredSite(
            call.api,
            "a.py",
            call.line,
            call.column if texts else 0,
            call.function if texts else "",
            call.text if texts else "",
            "run",
            started,
            replace(FIGURE, api=call.api, total=number + 1.0),
        )
        for number, call in enumerate(calls(source))
    ]


def shown(now: str, sites: list[MeasuredSite]) -> list[str]:
    """What each call shows."""
    written = calls(now)
    found = Matching(written, sites).figures
    return [
        f"{figure.total:g}{' before' if figure.edited else ''}" if figure else "-"
        for figure in (found.get(call.place) for call in written)
    ]


TWO = "a = tf.ones(1); b = tf.ones(2)\n"


def test_two_calls_on_one_line_have_their_own_figures() -> None:
    assert shown(TWO, measured(TWO)) == ["1", "2"]
    assert shown("b = tf.ones(2); a = tf.ones(1)\n", measured(TWO)) == ["2", "1"]


def test_figures_follow_calls_that_move_are_formatted_or_change_their_function_s_name() -> None:
    before = f"def f():\n    {TWO}"
    after = "x = 1\n\n\ndef better():\n    a = tf.ones(\n        1,  # one\n    )\n    b = tf.ones( 2 )\n"
    assert shown(after, measured(before)) == ["1", "2"]


def test_calls_that_look_alike_are_told_apart_by_their_order() -> None:
    twins = "a = tf.ones(1)\nb = tf.zeros(1)\nc = tf.ones(1)\n"
    assert shown("\n\n\n" + twins, measured(twins)) == ["1", "2", "3"]


def test_of_more_calls_than_were_measured_the_nearest_ones_get_the_figures() -> None:
    one = "\n\n\na = tf.ones(1)\n"
    assert shown("b = tf.ones(1)\n\n\na = tf.ones(1)\n", measured(one)) == ["-", "1"]


def test_an_edited_call_shows_what_it_took_before() -> None:
    assert shown("a = tf.ones(1); b = tf.ones(200)\n", measured(TWO)) == ["1", "2 before"]
    assert shown("a = tf.ones(3); b = tf.ones(4)\n", measured(TWO)) == ["1 before", "2 before"]


def test_a_new_call_is_not_what_an_older_run_measured_there() -> None:
    gone = measured("a = tf.ones(7)\n", started="2025")
    kept = measured("a = tf.ones(1)\n", started="2026")
    assert shown("a = tf.ones(1)\nb = tf.ones(9)\n", [*gone, *kept]) == ["1", "-"]


def test_another_api_or_function_gets_nothing() -> None:
    site = measured("def f():\n    return tf.ones(1)\n")
    assert shown("def f():\n    return tf.zeros(1)\n", site) == ["-"]
    assert shown("def g():\n    return tf.ones(2)\n", site) == ["-"]


def test_what_was_measured_before_texts_were_noted_is_found_by_its_line() -> None:
    old = measured("a = tf.ones(1)\n", texts=False)
    assert shown("a = tf.ones(5)\n", old) == ["1"]
    assert shown("\na = tf.ones(5)\n", old) == ["-"]
