"""Every feature in the cells of a notebook."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

pytestmark = pytest.mark.asyncio

CELLS = [
    "import tensorflow as tf\nfrom tensorflow import keras\n%matplotlib inline",
    "model = keras.Sequential()\nmodel.fit(data)",
    "def energy(x):\n    return tf.pow(tf.abs(x), 2)",
]


def open_notebook(session: Any, cells: list[str]) -> tuple[str, list[str]]:
    uri = session.uri("study.ipynb")
    uris = [f"vscode-notebook-cell:/study.ipynb#{number}" for number in range(len(cells))]
    notebook = types.NotebookDocument(
        uri,
        "jupyter-notebook",
        1,
        [types.NotebookCell(types.NotebookCellKind.Code, one) for one in uris],
    )
    texts = [types.TextDocumentItem(one, "python", 1, text) for one, text in zip(uris, cells, strict=True)]
    session.client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(notebook, texts))
    return uri, uris


def change(session: Any, uri: str, cells: types.NotebookDocumentCellChanges) -> None:
    session.client.notebook_document_did_change(
        types.DidChangeNotebookDocumentParams(
            types.VersionedNotebookDocumentIdentifier(2, uri), types.NotebookDocumentChangeEvent(cells=cells)
        )
    )


async def test_every_feature_in_cells(start: Any, database: Path, figures: Any) -> None:
    program = "\n".join(CELLS).replace("%matplotlib inline", "pass")
    measured = {"keras.Sequential.fit": 12.0, "keras.Sequential": 1e-5}
    figures(database, measured, run_id="study", file="study.ipynb", source=program)
    async with start("full") as session:
        uri, cells = open_notebook(session, CELLS)
        text = await session.hover(cells[1], 1, 7)
        assert text is not None
        assert "keras.Sequential.fit" in text
        assert "12\\.0 J · 100% of this notebook" in text
        report = await session.pull(cells[2])
        [rule] = [one for one in report.items if one.code == "pow2"]
        assert (rule.range.start.line, rule.range.start.character) == (1, 11)
        hotspot = next(one for one in (await session.pull(cells[1])).items if one.range.start.line == 1)
        assert hotspot.message == "fit: 12 J, 100% of this notebook"
        whole = types.Range(types.Position(0, 0), types.Position(5, 0))
        hints = await session.client.text_document_inlay_hint_async(
            types.InlayHintParams(types.TextDocumentIdentifier(cells[1]), whole)
        )
        assert "12 J · 100%" in [hint.label for hint in hints]
        lenses = await session.client.text_document_code_lens_async(
            types.CodeLensParams(types.TextDocumentIdentifier(cells[1]))
        )
        assert lenses[0].command.title == "⚡ 12.0 J in 2 calls · this cell"
        assert lenses[0].range.start.line == 0
        fix = next(one for one in await session.actions(cells[2], 1) if getattr(one, "is_preferred", False))
        resolved = await session.client.code_action_resolve_async(fix)
        [edits] = resolved.edit.document_changes
        assert edits.text_document.uri == cells[2]
        assert edits.edits[0].range.start == types.Position(1, 11)
        assert edits.edits[0].new_text == "tf.square(tf.abs(x))"
        ignore = next(one for one in await session.actions(cells[2], 1) if one.title == "Ignore pow2 here")
        resolved = await session.client.code_action_resolve_async(ignore)
        assert resolved.edit.document_changes[0].edits[0].range.start.line == 1
        await session.until(lambda: session.statuses[-1].uri == uri)


async def test_a_notebook_of_which_nothing_is_known_says_so_once(start: Any) -> None:
    async with start("full") as session:
        call = "tf.raw_ops.Abs(x=1.0)"
        uri, cells = open_notebook(
            session, ["import tensorflow as tf", call, f"def again():\n    return {call}"]
        )
        found = []
        for cell in cells:
            params = types.CodeLensParams(types.TextDocumentIdentifier(cell))
            found.append([one.command for one in await session.client.text_document_code_lens_async(params)])
        [first, [command], last] = found
        assert not first
        assert not last
        assert command.title == "⚡ 2 calls not measured here: measure to learn it"
        [argument] = command.arguments
        assert argument == {"uri": uri}


async def test_cells_are_edited_added_moved_and_removed(start: Any) -> None:
    async with start("full") as session:
        uri, cells = open_notebook(session, CELLS)
        end = types.Position(1, 15)
        edit = types.TextDocumentContentChangePartial(types.Range(end, end), "\nmodel.predict(data)")
        change(
            session,
            uri,
            types.NotebookDocumentCellChanges(
                text_content=[
                    types.NotebookDocumentCellContentChanges(
                        types.VersionedTextDocumentIdentifier(2, cells[1]), [edit]
                    )
                ]
            ),
        )
        text = await session.hover(cells[1], 2, 7)
        assert text is not None
        assert "keras.Sequential.predict" in text
        new = "vscode-notebook-cell:/study.ipynb#new"
        structure = types.NotebookDocumentCellChangeStructure(
            types.NotebookCellArrayChange(
                start=1, delete_count=0, cells=[types.NotebookCell(types.NotebookCellKind.Code, new)]
            ),
            did_open=[types.TextDocumentItem(new, "python", 1, "y = tf.matmul(a, b)")],
        )
        change(session, uri, types.NotebookDocumentCellChanges(structure=structure))
        text = await session.hover(new, 0, 8)
        assert text is not None
        assert "tensorflow.linalg.matmul" in text
        removal = types.NotebookDocumentCellChangeStructure(
            types.NotebookCellArrayChange(start=0, delete_count=1),
            did_close=[types.TextDocumentIdentifier(cells[0])],
        )
        change(session, uri, types.NotebookDocumentCellChanges(structure=removal))
        assert await session.hover(new, 0, 8) is None  # its import went with the first cell
        assert await session.hover(cells[0], 0, 8) is None
        session.client.notebook_document_did_close(
            types.DidCloseNotebookDocumentParams(types.NotebookDocumentIdentifier(uri), [])
        )
        assert await session.hover(cells[1], 1, 7) is None
