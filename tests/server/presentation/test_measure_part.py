"""Measuring a selection, a cell or a test: what runs, and which lines are asked about."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from answer_shapes import as_dict
from energy_lsp.features.programs.part import ProgramPart, beside, cell_program, selected
from energy_measure.problems import MeasureProblem

TEXT = """\
from __future__ import annotations
import tensorflow as tf
x = tf.ones((64, 64))
for _ in range(3):
    x = tf.matmul(x, x)
print(tf.reduce_sum(x))


def test_product() -> None:
    assert tf.matmul(tf.ones((64, 64)), tf.ones((64, 64)))[0, 0] == 64
"""


def test_a_selection_runs_to_the_end_of_its_statement() -> None:
    part = selected(TEXT, 5, 5)
    assert part.text.splitlines()[-1] == "    x = tf.matmul(x, x)"
    assert selected(TEXT, 10, 10).text == TEXT, "inside of a function: somebody has to call it"
    with pytest.raises(MeasureProblem, match="mend it first"):
        selected("x = (", 1, 1)


def test_modules_beside_the_program_are_found() -> None:
    part = beside(selected(TEXT, 3, 5), Path("/work"))
    assert part.text.splitlines()[1] == "import sys as _sys; _sys.path.insert(1, '/work')"
    assert (part.first, part.last) == (4, 6)
    compile(part.text, "part", "exec")


def test_a_cell_runs_with_those_before_it() -> None:
    cells = ["%matplotlib inline\nimport tensorflow as tf", "x = tf.ones(3)\ny = x", "never()"]
    notebook = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {},
        "cells": [
            {"cell_type": "code", "source": text, "metadata": {}, "outputs": [], "execution_count": None}
            for text in cells
        ],
    }
    part = cell_program(json.dumps(notebook).encode(), Path("a.ipynb"), 2)
    assert (part.first, part.last) == (3, 4)
    assert "never" not in part.text
    assert isinstance(part, ProgramPart)
    with pytest.raises(MeasureProblem, match="no code cell 4"):
        cell_program(json.dumps(notebook).encode(), Path("a.ipynb"), 4)


@pytest.mark.tensorflow
@pytest.mark.xdist_group("tensorflow")
@pytest.mark.asyncio
async def test_a_selection_and_a_test_are_measured_and_nothing_is_stored(start: Any, workspace: Path) -> None:
    (workspace / "test_net.py").write_text(TEXT)
    async with start("full", configuration={"measurePython": sys.executable}) as session:
        await session.until(lambda: bool(session.registrations))
        uri = session.uri("test_net.py")
        runs = len(await session.command("energyLsp.server.runs", {}))
        for asked, words in (
            ({"first": 2, "last": 4}, "Lines 3 to 5 of test_net.py: "),
            ({"test": "test_product"}, "Test test_product: "),
        ):
            answer = session.command("energyLsp.server.measurePart", {"uri": uri, **asked})
            told = as_dict(await asyncio.wait_for(answer, 300))
            assert told["text"].startswith(words)
            assert "0 calls" not in told["text"]
        assert len(await session.command("energyLsp.server.runs", {})) == runs
        assert sorted(one.name for one in workspace.glob("*.py")) == ["model.py", "test_net.py"]
