"""`initialize` is answered before the server is loaded, with what the server then does."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import Any

import pytest

from energy_lsp.wire.greeting import answer_to

FULL = {
    "general": {"positionEncodings": ["utf-7", "utf-8", "utf-16"]},
    "textDocument": {"diagnostic": {}, "hover": {"contentFormat": ["markdown"]}},
    "notebookDocument": {"synchronization": {}},
    "workspace": {"workspaceFolders": True, "fileOperations": {"didCreate": True}},
}
CLIENTS: list[dict[str, Any]] = [
    {},
    FULL,
    {"textDocument": None, "general": None, "notebookDocument": None},
    {"textDocument": {"diagnostic": {"dynamicRegistration": False}}},
    {"general": {"positionEncodings": ["utf-32"]}},
]


def initialize(capabilities: Any, number: Any = 1) -> bytes:
    params = {"processId": None, "rootUri": None, "capabilities": capabilities}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "initialize", "params": params}).encode()


class Kept:
    """A writer that keeps what is written."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []

    def write(self, data: bytes) -> None:
        self.messages.append(json.loads(data.partition(b"\r\n\r\n")[2]))

    def close(self) -> None:
        pass


def answers_of_the_server(body: bytes, *, answered: bool) -> list[dict[str, Any]]:
    """What the loaded server itself writes for a first message."""

    async def ask() -> list[dict[str, Any]]:
        from energy_lsp.session.server import EnergyServer

        server, kept = EnergyServer({}), Kept()
        server.protocol.set_writer(kept)
        server.protocol.receive(lambda: json.loads(body), answered)
        assert server.protocol.workspace is not None
        return kept.messages

    return asyncio.run(ask())


@pytest.mark.parametrize("client", CLIENTS)
def test_the_greeting_says_what_the_server_would(client: dict[str, Any]) -> None:
    body = initialize(client)
    assert [answer_to(body)] == answers_of_the_server(body, answered=False)
    assert answers_of_the_server(body, answered=True) == []


@pytest.mark.parametrize(
    "body",
    [
        b"no JSON",
        b"[]",
        b'{"jsonrpc": "2.0", "method": "exit"}',
        b'{"jsonrpc": "1.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "initialize"}',
        initialize(None),
        initialize({"general": 5}),
        initialize({}, None),
    ],
)
def test_whatever_else_comes_first_is_left_to_the_server(body: bytes) -> None:
    assert answer_to(body) is None


def test_capabilities_that_are_none_are_not_answered_twice() -> None:
    odd = initialize({"textDocument": {"hover": {"contentFormat": 5}}, "workspace": 7})
    assert answer_to(odd) is not None
    assert answers_of_the_server(odd, answered=True) == []


def test_greeting_waits_for_nothing_heavy() -> None:
    script = "import sys, energy_lsp.cli.serve, energy_lsp.session.serving; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert loaded.isdisjoint({"asyncio", "attrs", "cattrs", "lsprotocol", "pygls", "rich", "tree_sitter"})
