"""When things go wrong: the server answers or logs, keeps running, and tells the user at most once."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types


class Wire:
    """A server with nothing between us and its bytes."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "energy_lsp", "serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        self._number = 0

    def raw(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message: Any) -> None:
        body = json.dumps(message).encode()
        self.raw(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        length = 0
        while (line := self.process.stdout.readline().strip()) != b"":
            if line.lower().startswith(b"content-length"):
                length = int(line.split(b":")[1])
        message: dict[str, Any] = json.loads(self.process.stdout.read(length))
        return message

    def answer(self, number: Any) -> dict[str, Any]:
        while (message := self.read()).get("id") != number or "method" in message:
            pass
        return message

    def ask(self, method: str, params: Any = None) -> dict[str, Any]:
        self._number += 1
        self.send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        return self.answer(self._number)

    def tell(self, method: str, params: Any) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def initialize(self) -> None:
        self.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        self.tell("initialized", {})

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(120)
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.fixture
def wire(database: Path, tmp_path: Path) -> Any:
    connected = Wire({**os.environ, "ENERGY_LSP_DB": str(database), "HOME": str(tmp_path)})
    yield connected
    connected.close()


def test_malformed_messages_are_answered_and_survived(wire: Wire) -> None:
    assert wire.ask("textDocument/hover", {})["error"]["code"] == -32002
    wire.initialize()
    wire.raw(b"Content-Length: 9\r\n\r\n{not json")
    assert wire.read()["error"]["code"] == -32700
    for body in (b"[]", b"3", b'{"id": 5}', b'{"jsonrpc": "1.0", "id": 5, "method": "x"}'):
        wire.raw(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        assert wire.read()["error"]["code"] == -32600
    wire.raw(b"Nonsense: 1\r\n\r\n")
    wire.raw(b"content-length: banana\r\n\r\n")
    wire.raw(b"Content-Length: 2\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n{}")
    assert wire.read()["error"]["code"] == -32600
    assert wire.ask("no/such/method")["error"]["code"] == -32601
    assert wire.ask("textDocument/hover", {"textDocument": 3})["error"]["code"] == -32602
    assert wire.ask("textDocument/hover", None)["error"]["code"] == -32602
    assert wire.ask("initialize", {"capabilities": {}})["error"]["code"] == -32600
    unknown = {"command": "no.such", "arguments": []}
    assert wire.ask("workspace/executeCommand", unknown)["error"]["code"] == -32602
    wrong = {"command": "energyLsp.server.summary", "arguments": ["text"]}
    assert wire.ask("workspace/executeCommand", wrong)["error"]["code"] == -32602
    wire.tell("no/such/notification", {})
    wire.tell("$/progress", {"token": 1, "value": None})
    wire.tell("textDocument/didChange", {"nonsense": True})
    wire.send({"jsonrpc": "2.0", "id": "nobody", "result": None})
    hover = {"textDocument": {"uri": "file:///never/opened.py"}, "position": {"line": 0, "character": 0}}
    assert wire.ask("textDocument/hover", hover)["result"] is None
    assert wire.ask("shutdown")["result"] is None
    assert wire.ask("textDocument/hover", hover)["error"]["code"] == -32600


@pytest.mark.parametrize(
    "answer",
    [{"result": None}, {"result": {"success": False}}, {"error": {"code": 1, "message": "no"}}, {"error": 5}],
)
def test_an_answer_that_does_not_help_keeps_nobody_waiting(wire: Wire, answer: dict[str, Any]) -> None:
    can_show = {"window": {"showDocument": {"support": True}}}
    wire.ask("initialize", {"processId": None, "rootUri": None, "capabilities": can_show})
    wire.tell("initialized", {})
    why = {"command": "energyLsp.server.why", "arguments": [{"rule": "pow2"}]}
    wire.send({"jsonrpc": "2.0", "id": "why", "method": "workspace/executeCommand", "params": why})
    while (request := wire.read()).get("method") != "window/showDocument":
        pass
    wire.send({"jsonrpc": "2.0", "id": request["id"], **answer})
    while (message := wire.read()).get("method") != "window/showMessage":
        pass
    assert "## Measured" in message["params"]["message"]
    assert wire.answer("why")["result"] is None


def test_documents_never_opened_closed_or_out_of_order(wire: Wire) -> None:
    wire.initialize()
    uri = "file:///tmp/some/where.py"
    document = {"textDocument": {"uri": uri}}
    position = {**document, "position": {"line": 1, "character": 8}}
    everything = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    for method, params, silent in (
        ("textDocument/hover", position, None),
        ("textDocument/codeLens", document, []),
        ("textDocument/inlayHint", {**document, "range": everything}, []),
        ("textDocument/codeAction", {**document, "range": everything, "context": {"diagnostics": []}}, []),
    ):
        assert wire.ask(method, params)["result"] == silent
    wire.tell("textDocument/didClose", document)
    change = {"textDocument": {"uri": uri, "version": 7}, "contentChanges": [{"text": "x"}]}
    wire.tell("textDocument/didChange", change)
    text = "import tensorflow as tf\ny = tf.matmul(a, b)\n"
    opened = {"uri": uri, "languageId": "python", "version": 5, "text": text}
    wire.tell("textDocument/didOpen", {"textDocument": opened})
    for version in (4, 4, -1):
        far = {"start": {"line": 500, "character": 900}, "end": {"line": 400, "character": 0}}
        edit = {"range": far, "text": "# end\n"}
        wire.tell(
            "textDocument/didChange",
            {"textDocument": {"uri": uri, "version": version}, "contentChanges": [edit]},
        )
    wire.tell("textDocument/didOpen", {"textDocument": opened})
    assert "matmul" in str(wire.ask("textDocument/hover", position)["result"])
    wire.tell("textDocument/didClose", document)
    assert wire.ask("textDocument/hover", position)["result"] is None


def test_a_thousand_edits_in_a_second(wire: Wire) -> None:
    wire.initialize()
    uri = "file:///tmp/some/where.py"
    text = "import tensorflow as tf\n" + "y = tf.matmul(a, b)\n" * 100
    opened = {"uri": uri, "languageId": "python", "version": 0, "text": text}
    wire.tell("textDocument/didOpen", {"textDocument": opened})
    start = {"line": 1, "character": 0}
    for version in range(1, 1001):
        edit = {"range": {"start": start, "end": start}, "text": "#" if version % 2 else "\n"}
        wire.tell(
            "textDocument/didChange",
            {"textDocument": {"uri": uri, "version": version}, "contentChanges": [edit]},
        )
    position = {"textDocument": {"uri": uri}, "position": {"line": 510, "character": 8}}
    answer = wire.ask("textDocument/hover", position)
    assert "matmul" in str(answer["result"])


def test_a_document_of_10_mb(wire: Wire) -> None:
    wire.initialize()
    uri = "file:///tmp/some/huge.py"
    opened = {"uri": uri, "languageId": "python", "version": 1, "text": "x = [1, 2, 3]\n" * 750_000}
    wire.tell("textDocument/didOpen", {"textDocument": opened})
    position = {"textDocument": {"uri": uri}, "position": {"line": 510, "character": 8}}
    assert wire.ask("textDocument/hover", position)["result"] is None
    other = {"uri": "file:///tmp/some/small.py", "languageId": "python", "version": 1}
    wire.tell(
        "textDocument/didOpen", {"textDocument": {**other, "text": "import tensorflow as tf\ntf.zeros(3)\n"}}
    )
    small = {"textDocument": {"uri": other["uri"]}, "position": {"line": 1, "character": 5}}
    assert "tensorflow.zeros" in str(wire.ask("textDocument/hover", small)["result"])


def test_a_document_of_10_mb_that_becomes_small(wire: Wire) -> None:
    """Edits of a text that is not read count once it is."""
    wire.initialize()
    uri = "file:///tmp/some/huge.py"
    text = "import tensorflow as tf\n" + "y = tf.matmul(a, b)\n" * 500_000
    opened = {"uri": uri, "languageId": "python", "version": 1, "text": text}
    wire.tell("textDocument/didOpen", {"textDocument": opened})
    first = {"textDocument": {"uri": uri}, "position": {"line": 1, "character": 9}}
    edits = [((1, 0, 1, 0), "z"), ((1, 8, 1, 14), "abs"), ((2, 0, 500_001, 0), "")]
    for version, (where, new) in enumerate(edits, 2):
        assert wire.ask("textDocument/hover", first)["result"] is None
        start, end = {"line": where[0], "character": where[1]}, {"line": where[2], "character": where[3]}
        change = {"range": {"start": start, "end": end}, "text": new}
        document = {"uri": uri, "version": version}
        wire.tell("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})
    assert "tensorflow.math.abs" in str(wire.ask("textDocument/hover", first)["result"])


@pytest.mark.asyncio
async def test_a_database_that_goes_and_comes_back(start: Any, database: Path, figures: Any) -> None:
    async with start("full") as session:
        uri = session.open("model.py")
        assert "12\\.0 J" in (await session.hover(uri, 14, 15) or "")
        for file in database.parent.glob("energy.db*"):
            file.unlink()
        await session.until(lambda: session.statuses[-1].meter != "rapl")
        assert "Measured here" not in (await session.hover(uri, 14, 15) or "")
        database.write_bytes(b"this is no database" * 500)
        await session.until(lambda: bool(session.client.messages))
        assert await session.hover(uri, 14, 15) is not None
        database.unlink()
        figures(database, {"keras.Sequential.fit": 3.0})
        await session.until(lambda: session.statuses[-1].known_joules == pytest.approx(30.0, abs=25))
        text = ""
        while "3\\.00 J" not in text:
            text = await session.hover(uri, 14, 15) or ""
            await asyncio.sleep(0.05)
        assert len(session.client.messages) == 1
        assert database.name in session.client.messages[0].message


@pytest.mark.asyncio
async def test_a_database_that_is_replaced_after_it_grew(start: Any, database: Path, figures: Any) -> None:
    """What was written while the server read the old file must not end up on top of the new one."""
    async with start("full") as session:
        uri = session.open("model.py")
        assert "12\\.0 J" in (await session.hover(uri, 14, 15) or "")
        figures(database, {"keras.Sequential.fit": 6.0}, run_id="run-2")
        await hover_says(session, uri, "J per call")
        figures(database.with_name("other.db"), {"keras.Sequential.fit": 3.0})
        database.with_name("other.db").replace(database)
        await hover_says(session, uri, "3\\.00 J per call")
        assert not session.client.messages


async def hover_says(session: Any, uri: str, words: str) -> None:
    text = ""
    while words not in text:
        text = await session.hover(uri, 14, 15) or ""
        await asyncio.sleep(0.05)


BROKEN_RULE = """
import runpy
import sys

from energy_code import rules

def fails(analysis, chosen):
    if any(rule.name == "pow2" for rule in chosen):
        raise ZeroDivisionError("a rule with a bug")
    return real(analysis, chosen)

real, rules.find = rules.find, fails
sys.argv = ["energy-lsp", "serve"]
runpy.run_module("energy_lsp", run_name="__main__")
"""

BROKEN_ROW = """
import runpy
import sys

from energy_data.database.store import EnergyStore

def fails(self, api, **place):
    if api == "keras.Sequential.fit":
        raise KeyError("a row with a bug")
    return real(self, api, **place)

real, EnergyStore.lookup = EnergyStore.lookup, fails
sys.argv = ["energy-lsp", "serve"]
runpy.run_module("energy_lsp", run_name="__main__")
"""


@pytest.mark.asyncio
@pytest.mark.parametrize(("program", "line"), [(BROKEN_RULE, 14), (BROKEN_ROW, 20)])
async def test_a_rule_or_row_that_raises_is_left_out(start: Any, program: str, line: int) -> None:
    async with start("full", command=[sys.executable, "-c", program]) as session:
        uri = session.open("model.py")
        for _ in range(3):
            session.change(uri, (0, 0, 0, 0), "#")
            assert (await session.pull(uri)).items
        assert "J per call" in (await session.hover(uri, line, 15 if line == 14 else 20) or "")
        assert len(session.client.messages) == 1


@pytest.mark.asyncio
async def test_nothing_in_a_file_or_database_becomes_a_link(
    start: Any, workspace: Path, database: Path
) -> None:
    import sqlite3

    with sqlite3.connect(database) as tables:
        for table in ("summaries",):
            tables.execute(
                f"UPDATE {table} SET machine = '[x](command:evil)', meter = '<a href=\"command:y\">'"
            )
    async with start("full") as session:
        uri = session.open("model.py")
        text = await session.hover(uri, 14, 15)
        assert text is not None
        assert "\\[x\\]\\(command\\:evil\\)" in text
        links = [part.split(")")[0] for part in text.split("](")[1:]]
        assert all(link.startswith("https://") for link in links)
        assert "<a" not in text.replace("\\<a", "")


@pytest.mark.asyncio
async def test_broken_code_gets_hints_where_it_can(start: Any) -> None:
    async with start("full") as session:
        uri = session.open(
            "model.py", "import tensorflow as tf\ny = tf.matmul(a, b)\ndef (:\n  ]]\n\0\ud800\n"
        )
        assert "matmul" in (await session.hover(uri, 1, 8) or "")
        report = await session.pull(uri)
        assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
