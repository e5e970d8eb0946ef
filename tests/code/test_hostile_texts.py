"""Texts made to take long: nothing raises, an edit gives what a fresh reading gives, and every reading ends."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from energy_code import rules
from energy_code.process import budget
from energy_code.syntax.long_runs import LONG as LONG_RUN
from energy_code.syntax.long_runs import has_long_run
from energy_code.workspace.document import Document
from energy_code.workspace.import_index import imports_of
from energy_code.workspace.project import Project

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "subjects"))

from hostile_texts import TEXTS, hostile

LONG = 200_000
"""Characters of the texts that would take minutes: parsing them takes a time that grows with the square of their length."""
SQUARES = ["dots", "fstr_open", "unclosed_dq", "triple_open", "names_line"]


def calls(document: Document) -> list[tuple[int, int, str]]:
    rules.find(document.analyse())
    return [(call.span.start_byte, call.span.end_byte, call.api) for call in document.analyse().calls()]


@pytest.mark.parametrize("name", TEXTS)
def test_nothing_raises_and_edits_agree(name: str) -> None:
    text = hostile(name, 1500)
    document = Document(text)
    calls(document)
    for place in (len(text) // 3, len(text) // 2):
        document.edit(place, place, b"\ntf.ones(2)\n")
        assert calls(document) == calls(Document(document.source))


@pytest.mark.parametrize("name", SQUARES)
def test_a_text_that_takes_too_long_to_parse_counts_as_empty_until_it_is_another(name: str) -> None:
    document = Document(hostile(name, LONG))
    document.engine.stack.budget.seconds = 0.1
    assert calls(document) == []
    assert document.is_cut_short
    document.replace("import tensorflow as tf\ntf.ones(2)\n")
    assert [api for _, _, api in calls(document)] == ["tensorflow.ones"]


@pytest.mark.parametrize("name", ["pow", "stars_only", "loops_calls"])
def test_a_search_that_takes_too_long_ends(name: str) -> None:
    document = Document(hostile(name, LONG))
    document.engine.stack.budget.seconds = 1.0
    calls(document)
    assert document.is_cut_short


def test_an_index_of_imports_leaves_out_what_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "MAX_CPU_SECONDS", 0.1)
    assert imports_of(hostile("dots", LONG).encode()) == ()


def test_a_reading_ends_early_when_others_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "PATIENCE", 0.1)
    document = Document(hostile("names_line", LONG))
    document.engine.stack.budget.seconds = 1000
    budget.give_way_when(lambda: True)
    try:
        assert calls(document) == []
    finally:
        budget.give_way_when(budget.nobody)
    assert document.is_cut_short
    assert document.gave_way


def test_what_was_broken_off_for_others_can_be_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "long.py"
    path.write_text("import tensorflow as tf\n" + "tf.abs(1)\n" * 3000)
    project = Project(tmp_path)
    monkeypatch.setattr(budget, "PATIENCE", 0.0)
    budget.give_way_when(lambda: True)
    try:
        assert len(project.on_disk(path).analyse().calls()) < 3000
    finally:
        budget.give_way_when(budget.nobody)
    assert project.forget_unfinished(path)
    assert len(project.on_disk(path).analyse().calls()) == 3000
    assert not project.forget_unfinished(path)


@pytest.mark.parametrize("before", range(0, 130, 7))
def test_long_runs_of_comments_are_seen_wherever_they_stand(before: int) -> None:
    code, comment = b"x = 1\n", b"  # nothing\n\n"
    assert has_long_run(code * before + comment * (LONG_RUN // 2) + code * 80)
    assert not has_long_run(code * before + comment * (LONG_RUN // 2 - 1) + code * 80)
