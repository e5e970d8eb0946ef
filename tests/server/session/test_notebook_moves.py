"""A cell that is taken out of a notebook by one notification and put in again by the next one."""

from __future__ import annotations

from typing import Any

import pytest

from soaking import Server

NOTEBOOK = "file:///moves/book.ipynb"
CELLS = [f"{NOTEBOOK}#{name}" for name in "abc"]
TEXTS = ["import tensorflow as tf", "x = tf.ones(2)", "y = tf.zeros(3)"]


def cell(uri: str) -> dict[str, Any]:
    return {"kind": 2, "document": uri}


def change(version: int, start: int, count: int, added: list[str], closed: list[str]) -> dict[str, Any]:
    structure = {
        "array": {"start": start, "deleteCount": count, "cells": [cell(uri) for uri in added]},
        "didClose": [{"uri": uri} for uri in closed],
    }
    notebook = {"uri": NOTEBOOK, "version": version}
    return {"notebookDocument": notebook, "change": {"cells": {"structure": structure}}}


@pytest.mark.parametrize("is_closed", [False, True])
def test_a_cell_moved_in_two_steps_stays_unless_it_is_closed(is_closed: bool) -> None:
    server = Server()
    items = [
        {"uri": uri, "languageId": "python", "version": 1, "text": text}
        for uri, text in zip(CELLS, TEXTS, strict=True)
    ]
    book = {
        "uri": NOTEBOOK,
        "notebookType": "jupyter-notebook",
        "version": 1,
        "cells": [cell(uri) for uri in CELLS],
    }
    server.tell("notebookDocument/didOpen", {"notebookDocument": book, "cellTextDocuments": items})
    server.tell("notebookDocument/didChange", change(2, 1, 1, [], [CELLS[1]] if is_closed else []))
    server.tell("notebookDocument/didChange", change(3, 2, 0, [CELLS[1]], []))
    where = {"textDocument": {"uri": CELLS[1]}, "position": {"line": 0, "character": 8}}
    hover = server.ask("textDocument/hover", where)
    server.end()
    assert (hover is None) is is_closed
    assert is_closed or "tf.ones" in str(hover) or "tensorflow.ones" in str(hover)
