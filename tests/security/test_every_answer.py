"""Every answer and message of the server over the wire, with text of others in every place that it can come from.

Nothing of it breaks a line, turns the reading direction around, or becomes a link, an image, HTML or a command.
"""

from __future__ import annotations

import json
import os
import queue
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from energy_code.analysis.call_text import call_text
from energy_code.workspace.document import Document
from energy_data.database.database import Database
from energy_data.model import (
    Environment,
    InputSignature,
    Inside,
    Machine,
    Measurement,
    Part,
    Phase,
    Quantity,
    Run,
)

MARKUP = "[l](command:evil) ![i](https://evil.example/i.png) <img src=evil> <https://evil.example> https://evil.example `c` **b**"
TEXT = f"{MARKUP}\n\n# evil\r\n- x\x1b]0;t\x07\x9b1m\u202e\u2066\u200b\u2028\x85```\n<script>evil()</script>"
NAME = "n[l](command:evil)![i](evil)<img src=evil>\n# evil\r\x1b[31m\x9b1m\u202e`c`"
"""As much as the name of a file can hold."""
SOURCE = f"""import keras
import tensorflow as tf


def f(x, y='{MARKUP} \u202e\x1b[31m\x9b'):  # {MARKUP} \u202e
    return tf.pow(tf.abs(x, name='{MARKUP} \u202e\x1b'), 2)


model = keras.Sequential([keras.layers.Dense(3, name='{MARKUP}\u202e')])
model.compile(loss='{MARKUP} \u202e')
for \u0061 in range(3):
    model.fit(f(tf.ones((3, 3))))
"""
PATIENCE = 30.0
RUNNING = ("measure", "tune", "showTuned")
"""Commands that run programs: they are asked for such as are not there."""
OURS = (
    "newText",
    "uri",
    "targetUri",
    "data",
    "arguments",
    "changes",
    "target",
    "resultId",
    "printed",
    "programs",
    "html",
)
"""Fields that no person reads: text of the document itself, addresses, what the client hands back."""


class Wire:
    """The server as a program, and all that it says."""

    def __init__(self, root: Path, database: Path, *arguments: str) -> None:
        environment = {**os.environ, "ENERGY_LSP_DB": str(database), "HOME": str(root.parent)}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "energy_lsp", "serve", *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
        )  # fmt: skip
        self.said: list[dict[str, Any]] = []
        self.log = b""
        self._heard: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._number = 0
        self._readers = [threading.Thread(target=self._read), threading.Thread(target=self._read_log)]
        for reader in self._readers:
            reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        while head := self.process.stdout.readline():
            length = 0
            while head.strip():
                name, _, value = head.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
                head = self.process.stdout.readline()
            self._heard.put(json.loads(self.process.stdout.read(length)))
        self._heard.put(None)

    def _read_log(self) -> None:
        assert self.process.stderr is not None
        self.log = self.process.stderr.read()

    def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def ask(self, method: str, params: Any) -> dict[str, Any]:
        self._number += 1
        mine = self._number
        self.send({"id": mine, "method": method, "params": params})
        while True:
            message = self._heard.get(timeout=PATIENCE)
            assert message is not None, "the server ended"
            self.said.append(message)
            if "method" in message and "id" in message:  # a request of the server's
                answers: dict[str, Any] = {
                    "workspace/configuration": [{} for _ in (message.get("params") or {}).get("items", [])],
                    "window/showDocument": {"success": False},
                }
                self.send({"id": message["id"], "result": answers.get(message["method"])})
            elif message.get("id") == mine:
                return message

    def end(self) -> None:
        self.ask("shutdown", None)
        self.send({"method": "exit"})
        self.process.wait(PATIENCE)
        for reader in self._readers:
            reader.join(PATIENCE)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()


def a_run(root: Path, name: str) -> Run:
    return Run(
        id=name, machine=Machine(f"cpu {TEXT}", f"gpu {TEXT}", 1, TEXT, TEXT), command=f"python {TEXT}",
        environment=Environment(f"3 {TEXT}", f"2 {TEXT}", TEXT, TEXT), started="2026-05-01T10:00:00Z", meter=f"m {TEXT}",
        estimated=False, stable=True, commit=TEXT, project=root.name, seconds=1.0, joules={"cpu": Quantity(9.0, 0.1)},
        status="failed" if name == "run-b" else "finished", error=TEXT, branch=TEXT, owner=TEXT,
    )  # fmt: skip


def fill(database: Path, root: Path, file: str) -> None:
    document = Document(SOURCE)
    with Database.open(database) as opened:
        for name in ("run-a", "run-b"):
            calls = [
                Measurement(
                    id=f"{name}-{number}", run_id=name, api=call.api, file=file, line=call.span.start.row + 1,
                    signature=InputSignature((f"float32[3,3] {TEXT}",)), seconds=1.0, joules={"cpu": Quantity(3.0, 0.1)},
                    count=1, repeats=5, resolved=True, method="in place", column=call.span.start.column + 1,
                    function=call.function,
                    text=call_text(document.source[call.span.start_byte : call.span.end_byte]),
                )
                for number, call in enumerate(document.analyse().calls())
            ]  # fmt: skip
            fit = next(call for call in calls if call.api.endswith("fit"))
            calls.append(replace(fit, id=f"{name}-x", text=TEXT, function=TEXT))
            parts = [
                Part(name, fit.id, f"{TEXT}/{number}", TEXT, "forward", file, 9, 1.0, 1.0, 1, 1, 0.5, 1.5, file, 12, {TEXT: 1.0})
                for number in range(2)
            ]  # fmt: skip
            inside = Inside(name, TEXT, 1.0, (), {}, {file: {9: TEXT, 12: TEXT}})
            phases = [Phase(name, "calls", 3.0, 1.0, {TEXT: 1.0})]
            opened.replace_run(a_run(root, name), calls, [], [], phases, parts=parts, inside=inside)


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict[str, Any]], str]:
    """All messages of a session that asks for everything, and the log."""
    root = tmp_path_factory.mktemp("wire") / f"p{NAME}"
    root.mkdir()
    file = f"{NAME}.py"
    (root / file).write_text(SOURCE, "utf-8")
    (root / f"{NAME}.ipynb").write_text(
        json.dumps(
            {"cells": [{"cell_type": "code", "source": SOURCE, "metadata": {}, "outputs": []}], "nbformat": 4}
        )
    )
    (root / f"{NAME}2.ipynb").write_text(f"{{{TEXT}")
    settings = f"{json.dumps(TEXT)} = 1\nselect = ['pow2', {json.dumps(TEXT)}]\nhotspot-severity = {json.dumps(TEXT)}\n"
    (root / "pyproject.toml").write_text(f"[tool.energy-lsp]\n{settings}")
    (root / ".energy").mkdir()
    (root / ".energy" / "energy.db").write_text(f"not a database {TEXT}")
    database = root.parent / "energy.db"
    fill(database, root, file)
    wire = Wire(root, database, "--log-level", "debug")
    try:
        ask_everything(wire, root, file)
        wire.end()
    finally:
        wire.process.kill()
    return wire.said, wire.log.decode("utf-8", "surrogateescape")


def ask_everything(wire: Wire, root: Path, file: str) -> None:
    markdown = {"contentFormat": ["markdown"]}
    started = wire.ask(
        "initialize",
        {
            "processId": None,
            "rootUri": root.as_uri(),
            "workspaceFolders": [{"uri": root.as_uri(), "name": TEXT}],
            "initializationOptions": {TEXT: TEXT, "select": [TEXT], "pythonPath": TEXT},
            "capabilities": {
                "textDocument": {"hover": markdown, "publishDiagnostics": {"relatedInformation": True}},
                "window": {"workDoneProgress": True},
                "workspace": {"configuration": True},
            },
        },
    )
    commands = started["result"]["capabilities"]["executeCommandProvider"]["commands"]
    wire.send({"method": "initialized", "params": {}})
    uri = (root / file).as_uri()
    opened = {"uri": uri, "languageId": "python", "version": 1, "text": SOURCE}
    wire.send({"method": "textDocument/didOpen", "params": {"textDocument": opened}})
    document = {"textDocument": {"uri": uri}}
    lines = SOURCE.splitlines()
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": len(lines), "character": 0}}
    for line, column in ((5, 15), (5, 22), (8, 12), (8, 35), (9, 8), (11, 12), (11, 16), (11, 22)):
        wire.ask("textDocument/hover", {**document, "position": {"line": line, "character": column}})
    for method in ("diagnostic", "codeLens", "documentSymbol", "codeAction"):
        params = {**document, "range": whole, "context": {"diagnostics": []}}
        found = wire.ask(f"textDocument/{method}", params).get("result")
        for one in found if isinstance(found, list) and method in ("codeLens", "codeAction") else ():
            wire.ask(f"{method}/resolve", one)
    for hint in wire.ask("textDocument/inlayHint", {**document, "range": whole}).get("result") or ():
        wire.ask("inlayHint/resolve", hint)
    wire.ask("workspace/diagnostic", {"previousResultIds": []})
    wire.ask("workspace/symbol", {"query": TEXT})
    missing = (root / f"{NAME}.missing.py").as_uri()
    for command in (one for one in commands if not one.endswith("calibrate")):  # it runs whatever it is told
        runs = command.rpartition(".")[2].startswith(RUNNING)
        places = [missing, TEXT] if runs else [uri, missing, TEXT]
        for place in places:
            for about in ("inside", "cheaper", "history") if command.endswith("page") else (TEXT,):
                argument = {
                    "uri": place, "workspace": place, "line": 11, "about": about, "rule": "pow2", "run": "run-a", "api": TEXT,
                    "before": "run-a", "after": "run-b", "id": TEXT if "delete" in command else "run-a", "python": TEXT,
                }  # fmt: skip
                wire.ask("workspace/executeCommand", {"command": command, "arguments": [argument]})
    wire.ask("workspace/executeCommand", {"command": TEXT, "arguments": [{}]})
    wire.ask(TEXT, {})


def texts_in(value: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """What people read of a message, and where it stands."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key not in OURS:
                yield from texts_in(item, f"{place}.{key}")
    elif isinstance(value, list):
        for item in value:
            yield from texts_in(item, place)
    elif isinstance(value, str):
        yield place, value


def all_texts(messages: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [found for message in messages for found in texts_in(message)]


def test_the_session_showed_what_it_was_to_show(said: Any) -> None:
    texts = all_texts(said[0])
    for place in (
        ".result.contents.value",
        ".result.label",
        ".result.markdown",
        ".params.message",
        ".error.message",
    ):
        assert any(where == place for where, _ in texts), (place, sorted({where for where, _ in texts}))
    assert sum("evil" in text for _, text in texts) > 20


def test_nothing_that_a_screen_acts_on_is_sent(said: Any) -> None:
    bad = {
        (place, text[:300])
        for place, text in all_texts(said[0])
        if any(not c.isprintable() and c != "\n" for c in text)
    }
    assert not bad


def test_one_line_answers_are_one_line(said: Any) -> None:
    """A message of several lines could show a line that seems to be ours."""
    several = {
        (place, text[:300])
        for place, text in all_texts(said[0])
        if "evil" in text.partition("\n")[2]
        and not re.search(r"markdown|contents|tooltip", place)
        and not text.startswith("# ")  # a page, for a client that opens no documents
    }
    assert not several


def test_no_text_of_others_becomes_markup(said: Any) -> None:
    rendered = [
        (place, text) for place, text in all_texts(said[0]) if re.search(r"contents\.value|markdown", place)
    ]
    assert rendered
    parser = MarkdownIt("commonmark", {"html": True})
    for place, text in rendered:
        for token in parser.parse(text):
            for one in (token, *(token.children or ())):
                assert not (one.type.startswith("html") and "evil" in one.content), (place, text)
                address = str(one.attrs.get("href") or one.attrs.get("src") or "")
                assert not re.match(r"(?!file:)\w+:.*evil|evil", address, re.S), (place, address, text)
            if token.type == "heading_open":
                heading = text.splitlines()[token.map[0]] if token.map else ""
                assert not re.match(r"#+ evil", heading), (place, text)


def test_the_log_is_fit_for_a_terminal(said: Any) -> None:
    odd = [line for line in said[1].split("\n") if not all(c.isprintable() for c in line)]
    assert not odd
    assert not [line for line in said[1].split("\n") if line.startswith("# evil")]


def test_a_restricted_session_opens_nothing_of_the_workspace_but_its_code(tmp_path: Path) -> None:
    root = tmp_path / "p"
    (root / ".energy").mkdir(parents=True)
    (tmp_path / "outside.py").write_text("import tensorflow as tf\ndef outside(): return tf.ones(3)\n")
    (root / "helper.py").symlink_to(tmp_path / "outside.py")
    (root / "zero.py").symlink_to("/dev/zero")
    for name in ("pipe.py", "pyproject.toml", ".energy/energy.db"):  # whoever opens one waits for ever
        os.mkfifo(root / name)
    (root / "evil.db").write_text("whoever opens this complains of it")
    source = (
        "import tensorflow as tf\nfrom helper import outside\nimport zero, pipe\ny = tf.pow(tf.ones(2), 2)\n"
    )
    (root / "m.py").write_text(source)
    uri = (root / "m.py").as_uri()
    wire = Wire(root, tmp_path / "own.db")
    try:
        options = {"trusted": False, "database": str(root / "evil.db"), "measurePython": str(root / "m.py")}
        begin = {
            "processId": None,
            "rootUri": root.as_uri(),
            "capabilities": {},
            "initializationOptions": options,
        }
        started = wire.ask("initialize", begin)
        wire.send({"method": "initialized", "params": {}})
        opened = {"uri": uri, "languageId": "python", "version": 1, "text": source}
        wire.send({"method": "textDocument/didOpen", "params": {"textDocument": opened}})
        place = {"textDocument": {"uri": uri}, "position": {"line": 3, "character": 8}}
        assert "tensorflow.math.pow" in str(wire.ask("textDocument/hover", place))
        for command in started["result"]["capabilities"]["executeCommandProvider"]["commands"]:
            asked = {
                "command": command,
                "arguments": [{"uri": uri, "first": 0, "last": 3, "line": 3, "id": "x"}],
            }
            answer = wire.ask("workspace/executeCommand", asked)
            if command.rpartition(".")[2] in (
                "measure",
                "tune",
                "showTuned",
                "measurePart",
                "programs",
                "calibrate",
            ):
                assert "restricted" in answer["error"]["message"], command
        wire.end()
    finally:
        wire.process.kill()
    assert "evil.db" not in json.dumps(wire.said)
    assert not (tmp_path / "own.db").exists()
