"""The entry for Jupyter's server that the wheel installs, and that what it starts is a language server."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
ENTRY = ROOT / "server" / "jupyter" / "energy-lsp.json"


def test_the_entry_is_shipped_where_jupyter_looks() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    shared = project["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"]
    assert shared["server/jupyter/energy-lsp.json"] == "etc/jupyter/jupyter_server_config.d/energy-lsp.json"
    assert json.loads(ENTRY.read_text("utf-8"))["LanguageServerManager"]


def test_the_documented_entry_is_the_shipped_one() -> None:
    page = (ROOT / "docs" / "editors.md").read_text("utf-8")
    blocks = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", page, re.DOTALL)]
    assert json.loads(ENTRY.read_text("utf-8")) in blocks


def test_the_command_of_the_entry_is_a_language_server() -> None:
    entry = json.loads(ENTRY.read_text("utf-8"))["LanguageServerManager"]["language_servers"]["energy-lsp"]
    program = Path(sys.executable).with_name(entry["argv"][0])
    body = json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {"processId": None, "rootUri": None, "capabilities": {}},
        }
    )
    message = f"Content-Length: {len(body)}\r\n\r\n{body}".encode()
    done = subprocess.run([program, *entry["argv"][1:]], input=message, capture_output=True, timeout=60)
    assert b'"hoverProvider"' in done.stdout
