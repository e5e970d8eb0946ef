"""What comes with each keystroke is understood as the protocol's types would have it, or left to them."""

from __future__ import annotations

from typing import Any

import pytest
from lsprotocol import types

from energy_lsp.wire.encoding import converter
from energy_lsp.wire.keystrokes import LARGEST, edited, pulled

START, END = {"line": 1, "character": 2}, {"line": 3, "character": 0}
TYPED = {"range": {"start": START, "end": END}, "text": "é\n"}
PASTED = {**TYPED, "rangeLength": 7, "text": ""}
FILE = {"uri": "file:///a.py", "version": 4}


@pytest.mark.parametrize("changes", [[TYPED], [TYPED, PASTED], [{"text": "all"}], [{"text": ""}, TYPED], []])
def test_edits_are_those_of_the_protocol(changes: list[dict[str, Any]]) -> None:
    params = {"textDocument": FILE, "contentChanges": changes}
    read = edited(params)
    told = converter().structure(params, types.DidChangeTextDocumentParams)
    assert read is not None
    assert (read.uri, read.version) == (told.text_document.uri, told.text_document.version)
    for one, other in zip(read.changes, told.content_changes, strict=True):
        assert one.text == other.text
        assert getattr(one, "range", None) == getattr(other, "range", None)


@pytest.mark.parametrize(
    "params",
    [
        None,
        [],
        {"textDocument": FILE},
        {"textDocument": {"uri": "file:///a.py"}, "contentChanges": []},
        {"textDocument": {**FILE, "version": "4"}, "contentChanges": []},
        {"textDocument": {**FILE, "uri": 4}, "contentChanges": []},
        {"textDocument": FILE, "contentChanges": {}},
        {"textDocument": FILE, "contentChanges": [TYPED, {"text": 1}]},
        {"textDocument": FILE, "contentChanges": [{**TYPED, "text": None}]},
        {"textDocument": FILE, "contentChanges": [{"range": {"start": START}, "text": ""}]},
        {
            "textDocument": FILE,
            "contentChanges": [{"range": {"start": {"line": -1, "character": 0}, "end": END}, "text": ""}],
        },
        {
            "textDocument": FILE,
            "contentChanges": [
                {"range": {"start": START, "end": {"line": LARGEST + 1, "character": 0}}, "text": ""}
            ],
        },
    ],
)
def test_what_is_no_usual_edit_is_left_to_the_protocol(params: object) -> None:
    assert edited(params) is None


def test_questions_for_diagnostics() -> None:
    assert pulled({"textDocument": {"uri": "file:///a.py"}, "identifier": "energy-lsp"}) == (
        "file:///a.py",
        None,
    )
    assert pulled({"textDocument": {"uri": "file:///a.py"}, "previousResultId": "7"}) == ("file:///a.py", "7")
    assert pulled({"textDocument": {"uri": "file:///a.py"}, "previousResultId": 7}) is None
    assert pulled({"textDocument": {}}) is None
    assert pulled(None) is None
