"""Messages made at random: the server answers each request, and goes on."""

from __future__ import annotations

import random
from typing import Any

import pytest

from soaking import Server

METHODS = [
    "textDocument/didOpen",
    "textDocument/didChange",
    "textDocument/didClose",
    "textDocument/didSave",
    "textDocument/hover",
    "textDocument/diagnostic",
    "textDocument/codeAction",
    "textDocument/inlayHint",
    "textDocument/codeLens",
    "notebookDocument/didOpen",
    "notebookDocument/didChange",
    "notebookDocument/didClose",
    "workspace/didChangeConfiguration",
    "workspace/didChangeWatchedFiles",
    "workspace/executeCommand",
    "$/cancelRequest",
    "$/setTrace",
    "energy/none",
]
REQUESTS = {"hover", "diagnostic", "codeAction", "inlayHint", "codeLens", "executeCommand", "none"}
URI = "file:///fuzz/program.py"
TEXT = "import tensorflow as tf\nx = tf.ones(2)\ny = tf.add(x, x)\n"


def value(dice: random.Random, depth: int = 0) -> Any:
    """Anything that JSON can say."""
    plain = [None, True, 0, -1, 2**31, 2**63, 1.5, "", "x", URI, "tf.add(", "\ud800", "é😀"]
    if depth > 3 or dice.random() < 0.5:
        return dice.choice(plain)
    if dice.random() < 0.5:
        return [value(dice, depth + 1) for _ in range(dice.randint(0, 3))]
    return {
        dice.choice(["uri", "text", "range", "x"]): value(dice, depth + 1) for _ in range(dice.randint(0, 3))
    }


def damaged(dice: random.Random, params: Any) -> Any:
    """The parameters of a message with something in them taken away or put in place of something."""
    if isinstance(params, dict) and params and dice.random() < 0.8:
        key = dice.choice(sorted(params))
        if dice.random() < 0.2:
            return {name: one for name, one in params.items() if name != key}
        return {**params, key: damaged(dice, params[key])}
    return value(dice) if dice.random() < 0.7 else params


def params_of(dice: random.Random, version: int) -> Any:
    position = {"line": dice.choice([0, 1, 2, 99]), "character": dice.choice([0, 5, 500])}
    where = {"start": position, "end": {"line": 2, "character": dice.choice([0, 9])}}
    return {
        "textDocument": {"uri": URI, "version": version, "languageId": "python", "text": TEXT},
        "notebookDocument": {"uri": URI, "version": version, "notebookType": "jupyter-notebook", "cells": []},
        "contentChanges": [{"range": where, "text": dice.choice(["(", "tf.", "\n", '"""', ""])}],
        "cellTextDocuments": [],
        "change": {"cells": {"structure": {"array": {"start": 0, "deleteCount": 9}}}},
        "position": position,
        "range": where,
        "context": {"diagnostics": []},
        "command": "none",
        "arguments": [],
        "changes": [{"uri": URI, "type": 2}],
        "settings": {},
        "id": 1,
        "value": "off",
    }


@pytest.mark.parametrize("seed", range(2))
def test_random_messages_leave_the_server_at_work(seed: int) -> None:
    dice, server = random.Random(seed), Server()
    for number in range(150):
        method = dice.choice(METHODS)
        params = params_of(dice, number)
        if dice.random() < 0.7:
            params = damaged(dice, params)
        if method.rpartition("/")[2] in REQUESTS:
            server.number += 1
            server._send({"id": server.number, "method": method, "params": params})
            while (message := server._read()).get("id") != server.number or "method" in message:
                pass
            assert "result" in message or message["error"]["message"]
        else:
            server.tell(method, params)
    server.open("file:///fuzz/other.py", TEXT)
    hover = {"textDocument": {"uri": "file:///fuzz/other.py"}, "position": {"line": 2, "character": 8}}
    assert "add" in str(server.ask("textDocument/hover", hover))
    server.end()
