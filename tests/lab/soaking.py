"""Random editing steps against a real server, for the test and for benchmarks/fuzzing/soak.py."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import psutil

ROOT = Path(__file__).resolve().parents[2]
WARM_UP = 0.15
"""The share of the steps after which memory counts: caches have filled by then."""
REST_SECONDS = 4.0
PIECES = [
    "x",
    "(",
    ")",
    "\n",
    "    ",
    "tf.",
    "tf.pow(x, 2)",
    "# note",
    '"',
    "for i in range(3):\n",
    "é😀",
    "",
    "",
    "",
]


class Outcome(NamedTuple):
    """How a soak went."""

    steps: int
    seconds: float
    files: int
    memory_before: float
    memory_after: float
    differences: list[str]


class Server:
    """A server that is asked one thing at a time."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "energy_lsp", "serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.number = 0
        general = {"positionEncodings": ["utf-32"]}
        capabilities = {"general": general, "textDocument": {"diagnostic": {}}}
        self.ask("initialize", {"processId": None, "rootUri": None, "capabilities": capabilities})
        self.tell("initialized", {})

    def tell(self, method: str, params: Any) -> None:
        self._send({"method": method, "params": params})

    def ask(self, method: str, params: Any) -> Any:
        self.number += 1
        self._send({"id": self.number, "method": method, "params": params})
        while (message := self._read()).get("id") != self.number or "method" in message:
            pass
        if "error" in message:
            raise AssertionError(f"{method}: {message['error']}")
        return message["result"]

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def _read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        length = 0
        while (line := self.process.stdout.readline().strip()) != b"":
            if line.lower().startswith(b"content-length"):
                length = int(line.split(b":")[1])
        message: dict[str, Any] = json.loads(self.process.stdout.read(length))
        return message

    def open(self, uri: str, text: str) -> None:
        document = {"uri": uri, "languageId": "python", "version": 1, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": document})

    def diagnostics(self, uri: str) -> Any:
        report = self.ask("textDocument/diagnostic", {"textDocument": {"uri": uri}})
        return [(one["code"], one["range"], one["message"]) for one in report["items"]]

    def memory(self) -> float:
        return float(psutil.Process(self.process.pid).memory_info().rss) / 1e6

    def memory_at_rest(self) -> float:
        """Megabytes after a moment of silence, in which the server collects garbage."""
        time.sleep(REST_SECONDS)
        return self.memory()

    def end(self) -> None:
        self.ask("shutdown", None)
        self.tell("exit", None)
        assert self.process.wait(120) == 0


class Text:
    """What the client holds of one file."""

    def __init__(self, uri: str, source: str) -> None:
        self.uri = uri
        self.original = source
        self.lines = source.split("\n")
        self.version = 1

    @property
    def source(self) -> str:
        return "\n".join(self.lines)

    def edit(self, dice: random.Random) -> dict[str, Any]:
        """Replace a random stretch, here and in what the server is told."""
        row = dice.randrange(len(self.lines))
        column = dice.randint(0, len(self.lines[row]))
        last = min(len(self.lines) - 1, row + dice.choice([0, 0, 0, 0, 1, 2]))
        end = dice.randint(column if last == row else 0, len(self.lines[last]))
        if dice.random() < 0.6:
            last, end = row, column
        text = dice.choice(PIECES)
        joined = self.lines[row][:column] + text + self.lines[last][end:]
        self.lines[row : last + 1] = joined.split("\n")
        self.version += 1
        start = {"line": row, "character": column}
        return {"range": {"start": start, "end": {"line": last, "character": end}}, "text": text}


def soak(steps: int, seconds: float, seed: int) -> Outcome:
    """Edit at random until the steps or the time are used up, then compare with a fresh start."""
    dice = random.Random(seed)
    sources = (
        sorted((ROOT / "examples").glob("*.py")) + sorted((ROOT / "tests/code/corpus").rglob("*.py"))[:6]
    )
    texts = [
        Text(f"file:///soak/part{number}.py", path.read_text("utf-8")) for number, path in enumerate(sources)
    ]
    server = Server()
    for text in texts:
        server.open(text.uri, text.original)
    begun, done, before = time.monotonic(), 0, 0.0
    while done < steps and time.monotonic() - begun < seconds:
        step(server, dice.choice(texts), dice)
        done += 1
        passed = max(done / steps, (time.monotonic() - begun) / seconds)
        if not before and passed > WARM_UP:
            before = server.memory_at_rest()
    found = {text.uri: server.diagnostics(text.uri) for text in texts}
    after = server.memory_at_rest()
    server.end()
    fresh = Server()
    for text in texts:
        fresh.open(text.uri, text.source)
    differences = [text.uri for text in texts if fresh.diagnostics(text.uri) != found[text.uri]]
    fresh.end()
    return Outcome(done, time.monotonic() - begun, len(texts), before, after, differences)


def step(server: Server, text: Text, dice: random.Random) -> None:
    """One thing that happens in an editor."""
    choice = dice.random()
    place = {"textDocument": {"uri": text.uri}}
    if choice < 0.85:
        changes = [text.edit(dice) for _ in range(dice.choice([1, 1, 1, 2, 5]))]
        document = {"uri": text.uri, "version": text.version}
        server.tell("textDocument/didChange", {"textDocument": document, "contentChanges": changes})
    elif choice < 0.93:
        row = dice.randrange(len(text.lines))
        position = {"line": row, "character": dice.randint(0, len(text.lines[row]))}
        server.ask("textDocument/hover", {**place, "position": position})
    elif choice < 0.96:
        server.ask("textDocument/codeLens", place)
    elif choice < 0.98:
        server.diagnostics(text.uri)
    elif choice < 0.99:
        server.tell("textDocument/didClose", place)
        text.lines, text.version = text.original.split("\n"), 1
        server.open(text.uri, text.original)
    else:
        text.lines, text.version = text.original.split("\n"), text.version + 1
        document = {"uri": text.uri, "version": text.version}
        change = {"text": text.original}
        server.tell("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})
