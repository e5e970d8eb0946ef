"""The answer to `initialize`, sent before the server itself is loaded.

The types of the protocol alone take most of a second to import. An editor that has its answer goes on
starting meanwhile. What is said here is what pygls makes of the registered features: a test compares them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import metadata
from typing import Any, NamedTuple

from energy_lsp.wire.transport import Wire, frame

NAME = "energy-lsp"
ENCODINGS = ("utf-8", "utf-16", "utf-32")
ALWAYS: Mapping[str, Any] = {
    "textDocumentSync": {"openClose": True, "change": 2, "save": False},
    "hoverProvider": True,
    "codeActionProvider": {
        "codeActionKinds": ["quickfix", "source.fixAll.energyLsp", "source"],
        "resolveProvider": True,
    },
    "codeLensProvider": {"resolveProvider": False},
    "executeCommandProvider": {
        "commands": [
            f"energyLsp.server.{name}"
            for name in (
                "measure",
                "tune",
                "showTuned",
                "refresh",
                "summary",
                "showSummary",
                "measurePart",
                "programs",
                "calibrate",
                "meters",
                "evidence",
                "why",
                "page",
                "inside",
                "callHistory",
                "cheaper",
                "report",
                "showReport",
                "runs",
                "compareRuns",
                "history",
                "deleteRun",
            )
        ]
    },
    "inlayHintProvider": {"resolveProvider": False},
    "workspace": {
        "workspaceFolders": {"supported": True, "changeNotifications": True},
        "fileOperations": {},
    },
}
PULLED: Mapping[str, Any] = {
    "diagnosticProvider": {
        "interFileDependencies": True,
        "workspaceDiagnostics": True,
        "identifier": NAME,
    }
}
NOTEBOOKS: Mapping[str, Any] = {
    "notebookDocumentSync": {
        "notebookSelector": [
            {"notebook": {"notebookType": "jupyter-notebook"}, "cells": [{"language": "python"}]}
        ]
    }
}


class First(NamedTuple):
    """The first message of a client, and whether it has its answer."""

    body: bytearray
    answered: bool


def greet(wire: Wire) -> First | None:
    """Read the first message and answer it if it is a sound `initialize`; None when there is none."""
    body = wire.wait_for_message()
    if body is None:
        return None
    answer = answer_to(body)
    if answer is not None:
        wire.write(frame(json.dumps(answer)))
    return First(body, answer is not None)


def answer_to(body: bytes | bytearray) -> dict[str, Any] | None:
    """The answer to an `initialize`; None for everything else, which the server judges."""
    try:
        message = json.loads(body)
        if message["jsonrpc"] != "2.0" or message["method"] != "initialize":
            return None
        if not isinstance(message["id"], (int, str)):
            return None
        offered = capabilities(message["params"]["capabilities"])
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return None
    about = {"name": NAME, "version": metadata.version(NAME)}
    return {
        "id": message["id"],
        "jsonrpc": "2.0",
        "result": {"capabilities": offered, "serverInfo": about},
    }


def capabilities(client: Mapping[str, Any]) -> dict[str, Any]:
    """What the server can do for a client that can do this."""
    offered = {"positionEncoding": position_encoding(client), **ALWAYS}
    if (client.get("textDocument") or {}).get("diagnostic") is not None:
        offered |= PULLED
    if client.get("notebookDocument") is not None:
        offered |= NOTEBOOKS
    return offered


def position_encoding(client: Mapping[str, Any]) -> str:
    """The first encoding that both sides know, in the client's order."""
    wanted = (client.get("general") or {}).get("positionEncodings") or ()
    return next((one for one in wanted if one in ENCODINGS), "utf-16")
