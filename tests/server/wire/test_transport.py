"""Messages over real pipes, sockets and files: cut anywhere, many at once, and a client that does not read for a while."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

SERVE = [sys.executable, "-m", "energy_lsp", "serve"]
URI = "file:///nowhere/model.py"
TEXT = "import tensorflow as tf\nx = tf.abs(1.0)  # " + "é" * 2_000 + "\n"
HOVER = {"textDocument": {"uri": URI}, "position": {"line": 1, "character": 9}}


def message(method: str, params: Any, number: int | None = None) -> bytes:
    """One message in its frame."""
    named = {} if number is None else {"id": number}
    body = json.dumps({"jsonrpc": "2.0", **named, "method": method, "params": params}, ensure_ascii=False)
    return b"Content-Length: %d\r\n\r\n" % len(body.encode()) + body.encode()


def conversation(hovers: int) -> bytes:
    """All that a client says that never waits for an answer."""
    opened = {"uri": URI, "languageId": "python", "version": 1, "text": TEXT}
    said = message("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, 0)
    said += message("initialized", {}) + message("textDocument/didOpen", {"textDocument": opened})
    said += b"".join(message("textDocument/hover", HOVER, number) for number in range(1, hovers + 1))
    return said


GOODBYE = message("shutdown", None, -1) + message("exit", None)


def read_answers(read: Callable[[int], bytes], count: int) -> dict[int, Any]:
    """Read until so many requests are answered."""
    heard = b""
    while len(found := answers(heard)) < count:
        data = read(1 << 20)
        assert data
        heard += data
    return found


def answers(data: bytes) -> dict[int, Any]:
    """Results by the number of their request."""
    found = {}
    while length := re.match(rb"Content-Length: (\d+)\r\n(?:Content-Type: [^\r]*\r\n)?\r\n", data):
        size, rest = int(length[1]), data[length.end() :]
        if len(rest) < size:
            break
        one = json.loads(rest[:size])
        if "id" in one and "method" not in one:
            found[one["id"]] = one["result"]
        data = rest[size:]
    return found


def holds(found: dict[int, Any], hovers: int) -> None:
    """Every request has its own answer, and the hovers say what they should."""
    assert sorted(found) == list(range(hovers + 1))
    assert found[0]["capabilities"]["hoverProvider"] is True
    assert all("tensorflow.math.abs" in str(found[number]) for number in range(1, hovers + 1))


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {**os.environ, "HOME": str(tmp_path), "ENERGY_LSP_DB": str(tmp_path / "energy.db")}


@pytest.fixture
def served(environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(SERVE, env=environment, **streams) as process:  # type: ignore[call-overload]
        yield process
        process.kill()


def test_messages_may_be_cut_anywhere(served: subprocess.Popen[bytes]) -> None:
    assert served.stdin is not None
    assert served.stdout is not None
    said = conversation(3)
    for start in range(0, len(said), 101):
        served.stdin.write(said[start : start + 101])
        served.stdin.flush()
    holds(read_answers(served.stdout.read1, 4), 3)
    served.stdin.write(GOODBYE)
    served.stdin.close()
    assert served.wait(60) == 0


def test_a_client_that_reads_nothing_until_it_has_said_all_holds_up_nobody(
    served: subprocess.Popen[bytes],
) -> None:
    assert served.stdin is not None
    assert served.stdout is not None
    said = conversation(1_000)  # more answers than any pipe takes
    served.stdin.write(said)
    served.stdin.flush()
    holds(read_answers(served.stdout.read1, 1_001), 1_000)
    served.stdin.write(GOODBYE)
    served.stdin.close()
    assert served.wait(60) == 0


def test_files_can_be_the_client(environment: dict[str, str], tmp_path: Path) -> None:
    said, heard = tmp_path / "said", tmp_path / "heard"
    said.write_bytes(conversation(0) + GOODBYE)
    with said.open("rb") as incoming, heard.open("wb") as outgoing:
        done = subprocess.run(
            SERVE, env=environment, stdin=incoming, stdout=outgoing, stderr=subprocess.DEVNULL, timeout=120
        )
    assert done.returncode == 0
    assert set(answers(heard.read_bytes())) == {0, -1}


def test_over_a_socket(environment: dict[str, str]) -> None:
    command = [*SERVE, "--tcp", "127.0.0.1:0"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        port = int(process.stderr.readline().rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(conversation(200))
            holds(read_answers(connection.recv, 201), 200)
            connection.sendall(GOODBYE)
        assert process.wait(60) == 0


@pytest.mark.parametrize("side", ["stdin", "stdout"])
def test_a_client_that_goes_away_ends_the_server(served: subprocess.Popen[bytes], side: str) -> None:
    assert served.stdin is not None
    assert served.stdout is not None
    served.stdin.write(message("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, 0))
    served.stdin.flush()
    served.stdout.read(20)
    time.sleep(0.1)
    (served.stdin if side == "stdin" else served.stdout).close()
    assert served.wait(60) == 1


@pytest.mark.parametrize(
    ("capabilities", "encoding"),
    [
        ({}, "utf-16"),
        ({"general": {"positionEncodings": ["utf-7", "utf-8", "utf-16"]}}, "utf-8"),
        ({"textDocument": None, "general": None, "notebookDocument": None}, "utf-16"),
        ({"textDocument": {"hover": {"contentFormat": 5}}, "workspace": 7}, "utf-16"),
    ],
)
def test_capabilities_of_all_kinds_are_answered(
    served: subprocess.Popen[bytes], capabilities: Any, encoding: str
) -> None:
    assert served.stdin is not None
    assert served.stdout is not None
    params = {"processId": None, "rootUri": None, "capabilities": capabilities}
    served.stdin.write(message("initialize", params, 0) + GOODBYE)
    served.stdin.flush()
    offered = answers(served.stdout.read())[0]["capabilities"]
    assert offered["positionEncoding"] == encoding
    assert "diagnosticProvider" not in offered
    assert "energyLsp.server.measure" in offered["executeCommandProvider"]["commands"]
