"""Notebooks: trials run the cells as one script, and what is chosen changes lines of the cells it is about."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from energy_code.rule_engine.context import Edit
from energy_measure.problems import MeasureProblem
from energy_measure.tuning.candidate import Candidate, read_sources
from energy_measure.tuning.notebooks import TunedNotebook
from energy_measure.tuning.session import TuneRequest, tune
from energy_measure.tuning.workshop import Version, Workshop

CELLS = (
    ("markdown", "# Größe\n"),
    ("code", "%matplotlib inline\nimport helper\n!echo shell\nrounds = 3  # é\n"),
    ("code", "for number in range(rounds):\n    pass\n\nprint('loss', number + helper.MORE)"),
)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    cells = [{"cell_type": kind, "metadata": {}, "source": text.splitlines(True)} for kind, text in CELLS]
    content = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path = tmp_path / "book.ipynb"
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (tmp_path / "helper.py").write_text("MORE = 0.5\n")
    return path


def candidate(program: bytes, old: bytes, new: str) -> Candidate:
    at = program.index(old)
    line = program.count(b"\n", 0, at) + 1
    return Candidate("change", "", "book.ipynb", line, {"book.ipynb": [Edit(at, at + len(old), new)]})


def test_the_cells_run_as_one_script_and_the_notebook_stays_as_it_is(book: Path) -> None:
    sources = read_sources(book.parent, book)
    assert [source.name for source in sources] == ["book.ipynb", "helper.py"]
    before = book.read_bytes()
    with Workshop(book.parent, book, Path(sys.executable), (), sources) as shop:
        assert shop.run(Version()).output == b"loss 2.5\n"
        changed = candidate(sources[0].text, b"rounds = 3", "rounds = 5")
        assert shop.run(Version(changed.edits)).output == b"loss 4.5\n"
        assert shop.untouched()
    assert book.read_bytes() == before


def test_a_change_is_told_at_its_cell_and_written_to_its_lines_alone(book: Path) -> None:
    [program, _] = [source.text for source in read_sources(book.parent, book)]
    notebook = TunedNotebook(book, "book.ipynb")
    [first, second] = notebook.placed(
        [
            candidate(program, b"rounds = 3", "rounds = 5"),
            candidate(program, b"    pass", "    ...\n    pass"),
        ]
    )
    assert (first.where, second.where) == ("book.ipynb cell 2:4", "book.ipynb cell 3:2")
    assert notebook.source(3).splitlines()[second.line - 1] == b"    pass"
    after = notebook.edited([*first.edits["book.ipynb"], *second.edits["book.ipynb"]])
    (book.parent / "after.ipynb").write_bytes(after)
    told = subprocess.run(
        ["diff", "-U0", book, book.parent / "after.ipynb"], capture_output=True, text=True, check=False
    ).stdout
    changed = [line for line in told.splitlines()[2:] if line[0] in "+-"]
    assert changed == [
        '-    "rounds = 3  # é\\n"',
        '+    "rounds = 5  # é\\n"',
        '+    "    ...\\n",',
    ]


def test_what_would_change_two_cells_at_once_is_left_out(book: Path) -> None:
    [program, _] = [source.text for source in read_sources(book.parent, book)]
    both = candidate(program, b"# \xc3\xa9\n\nfor number", "# \nfor number")
    assert TunedNotebook(book, "book.ipynb").placed([both]) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{}", "cannot be read as a notebook: open it in Jupyter"),
        ("no json", "cannot be read as a notebook: open it in Jupyter"),
        ('{"cells": [], "nbformat": 4}', "does nothing"),
    ],
)
def test_what_is_no_notebook_gets_a_sentence(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "book.ipynb"
    path.write_text(text)
    with pytest.raises(MeasureProblem, match=words):
        tune(TuneRequest(path, tmp_path, python=sys.executable), lambda *told: None)
