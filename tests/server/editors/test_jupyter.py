"""The entry for Jupyter's server that the wheel installs, and that what it starts is a language server."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[3]
ENTRY = ROOT / "server" / "jupyter" / "energy-lsp.json"


def test_the_entry_is_shipped_where_jupyter_looks() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    shared = project["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"]
    assert shared["server/jupyter/energy-lsp.json"] == "etc/jupyter/jupyter_server_config.d/energy-lsp.json"
    assert json.loads(ENTRY.read_text("utf-8"))["LanguageServerManager"]


def test_the_documented_entry_is_the_shipped_one() -> None:
    page = (ROOT / "docs" / "how-to" / "editors.md").read_text("utf-8")
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


SOURCE = "import tensorflow as tf\ny = tf.pow(x, 2)\n"


@pytest.fixture
def jupyter(tmp_path: Path) -> Iterator[str]:
    """Jupyter's own server with our entry, as JupyterLab uses it; its address without the scheme."""
    pytest.importorskip("jupyter_lsp", reason="pip install jupyter-lsp to try the entry in Jupyter's server")
    configuration = tmp_path / "etc" / "jupyter_server_config.d"
    configuration.mkdir(parents=True)
    (configuration / "energy-lsp.json").write_bytes(ENTRY.read_bytes())
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    changed = {"JUPYTER_CONFIG_PATH": str(tmp_path / "etc"), "HOME": str(tmp_path), "PATH": programs}
    options = {
        "token": "secret",
        "port": port,
        "open_browser": False,
        "allow_root": True,
        "root_dir": tmp_path,
    }
    arguments = [f"--ServerApp.{name}={value}" for name, value in options.items()]
    command = [sys.executable, "-m", "jupyter_server", *arguments]
    with subprocess.Popen(command, env={**os.environ, **changed}, stderr=subprocess.DEVNULL) as process:
        yield f"127.0.0.1:{port}"
        process.terminate()


def test_jupyter_finds_and_starts_the_server(jupyter: str, tmp_path: Path) -> None:
    import websocket

    assert status(jupyter) == "not_started"
    uri = (tmp_path / "model.py").as_uri()
    talk = websocket.create_connection(f"ws://{jupyter}/lsp/ws/energy-lsp?token=secret", timeout=120)

    def send(**message: Any) -> None:
        talk.send(json.dumps({"jsonrpc": "2.0", **message}))

    def until(wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        while not wanted(message := json.loads(talk.recv())):
            pass
        return dict(message)

    send(id=1, method="initialize", params={"processId": None, "rootUri": None, "capabilities": {}})
    assert until(lambda one: one.get("id") == 1)["result"]["serverInfo"]["name"] == "energy-lsp"
    send(method="initialized", params={})
    document = {"uri": uri, "languageId": "python", "version": 1, "text": SOURCE}
    send(method="textDocument/didOpen", params={"textDocument": document})
    published = until(lambda one: one.get("method") == "textDocument/publishDiagnostics")
    assert "pow2" in [one["code"] for one in published["params"]["diagnostics"]]
    assert status(jupyter) == "started"
    talk.close()


def status(jupyter: str) -> str:
    """What Jupyter says of our server, once it answers at all."""
    end = time.monotonic() + 120
    while True:
        try:
            with urllib.request.urlopen(f"http://{jupyter}/lsp/status?token=secret", timeout=120) as answer:
                return str(json.load(answer)["sessions"]["energy-lsp"]["status"])
        except OSError:
            assert time.monotonic() < end
            time.sleep(0.2)
