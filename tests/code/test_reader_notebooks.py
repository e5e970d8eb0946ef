"""Notebooks: cells as one program, magics made harmless, positions back in their cells."""

from __future__ import annotations

import json

import nbformat
import pytest

from energy_code.workspace.notebook import Notebook, NotebookProblem, neutralised


def places(notebook: Notebook) -> list[tuple[int, int, int, str]]:
    found = []
    for call in notebook.analyse().calls():
        cell, span = notebook.locate(call.span)
        line, column = notebook.lines(cell).position(span.start_byte, "utf-16")
        found.append((cell, line, column, call.api))
    return found


def test_cells_are_one_program_and_places_are_in_cells():
    notebook = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_code_cell("import tensorflow as tf"),
            nbformat.v4.new_markdown_cell("# tf.ones(3)"),
            nbformat.v4.new_code_cell("text = '\U0001f600'; x = tf.ones(3)"),
            nbformat.v4.new_code_cell("\nx.numpy()"),
        ]
    )
    assert places(Notebook.read(nbformat.writes(notebook).encode())) == [
        (2, 0, 17, "tensorflow.ones"),
        (3, 1, 0, "tensorflow.Tensor.numpy"),
    ]


def test_magics_and_shell_lines_do_no_harm_and_hide_nothing():
    cells = [
        (0, "%matplotlib inline\n!pip install \\\n  tensorflow\nimport tensorflow as tf"),
        (1, "%%bash\nls -l\n  tf.ones(1)"),
        (2, "%%time\nfor i in range(3):\n    !ls\n    tf.abs(i)"),
        (
            3,
            "%time y = tf.add(1, 2)\nz = %timeit -n 10 tf.zeros(2)\ntf?\n?tf.ones\nfiles = !ls {tf}\na = 5 % 3\nif a != 2: y.numpy()",
        ),
    ]
    assert places(Notebook(cells)) == [
        (2, 3, 4, "tensorflow.math.abs"),
        (3, 0, 10, "tensorflow.math.add"),
        (3, 1, 18, "tensorflow.zeros"),
        (3, 6, 11, "tensorflow.Tensor.numpy"),
    ]


@pytest.mark.parametrize(
    "cell",
    [
        "%x",
        "!",
        "?",
        "%%",
        "%%time",
        "é?",
        "!é ü",
        "  %ls -a \\\n b",
        "x = !ls\r\n%cd ..\r\n",
        "%%html\n<b>é</b>",
    ],
)
def test_no_offset_moves(cell):
    source = cell.encode()
    assert len(neutralised(source)) == len(source)
    assert neutralised(source).count(b"\n") == source.count(b"\n")


def test_cells_of_an_editor_change_one_by_one():
    notebook = Notebook([(0, "import keras"), (1, "m = keras.Sequential()"), (2, "m.fit()")])
    assert places(notebook)[-1] == (2, 0, 0, "keras.Sequential.fit")
    notebook.update([(0, "import keras"), (1, "\nm = keras.Model(1, 2)"), (2, "m.fit()"), (5, "m.predict()")])
    assert places(notebook) == [
        (1, 1, 4, "keras.Model"),
        (2, 0, 0, "keras.Model.fit"),
        (5, 0, 0, "keras.Model.predict"),
    ]
    assert notebook.program_offset(2, 0) == notebook.document.source.index(b"m.fit")


def test_the_old_format_with_worksheets():
    old = {
        "worksheets": [{"cells": [{"cell_type": "code", "input": ["import keras\n", "keras.Sequential()"]}]}]
    }
    assert places(Notebook.read(json.dumps(old).encode())) == [(0, 1, 0, "keras.Sequential")]


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"{}", b'{"cells": 3}', b"\xff\xfe\x00"])
def test_what_is_no_notebook_is_said_clearly(data, tmp_path):
    with pytest.raises(NotebookProblem, match="is not a Jupyter notebook"):
        Notebook.read(data, path=tmp_path / "broken.ipynb")
