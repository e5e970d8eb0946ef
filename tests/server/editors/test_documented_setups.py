"""The set-ups of docs/how-to/editors.md for editors that do not run here: each command and its options, as that editor sends them."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PAGE = (Path(__file__).parents[3] / "docs/how-to/editors.md").read_text("utf-8")
COMMAND = [str(Path(sys.executable).with_name("energy-lsp")), "serve"]


def section(title: str) -> str:
    """The text under a heading."""
    return PAGE.partition(f"\n## {title}")[2].partition("\n## ")[0]


def block(title: str, language: str) -> str:
    """The first piece of code under a heading."""
    found = re.search(rf"```{language}\n(.*?)```", section(title), re.S)
    assert found is not None, title
    return found[1]


def field(name: str) -> str:
    """What is written into a field of LSP4IJ's dialogue."""
    found = re.search(rf"\| {name} \| `([^`]*)`", section("PyCharm"))
    assert found is not None, name
    return found[1]


def helix() -> tuple[list[str], Any, Any]:
    server = tomllib.loads(block("Helix", "toml"))["language-server"]["energy-lsp"]
    return [server["command"], *server["args"]], server["config"]["energyLsp"], server["config"]


def sublime() -> tuple[list[str], Any, Any]:
    client = json.loads(block("Sublime Text", "json"))["clients"]["energy-lsp"]
    nested = {key.removeprefix("energyLsp."): value for key, value in client["settings"].items()}
    return client["command"], nested, None


def lsp4ij() -> tuple[list[str], Any, Any]:
    return field("Command").split(), json.loads(field("Configuration"))["energyLsp"], None


def zed() -> tuple[list[str], Any, Any]:
    settings = json.loads(block("Zed", "json"))
    server = settings["lsp"]["pylsp"]
    assert set(server) <= {"binary", "initialization_options", "settings"}
    assert set(server["binary"]) <= {"path", "arguments", "env"}
    assert "pylsp" in settings["languages"]["Python"]["language_servers"]
    # It asks for `energyLsp`, and Zed knows a section `pylsp` alone.
    return [server["binary"]["path"], *server["binary"]["arguments"]], None, server["initialization_options"]


@pytest.mark.asyncio
@pytest.mark.parametrize("editor", [helix, sublime, lsp4ij, zed])
async def test_the_documented_command_and_options_work(editor: Any, start: Any, workspace: Path) -> None:
    (workspace / "pyproject.toml").unlink()
    command, answer, initialization = editor()
    assert command == ["energy-lsp", "serve"]
    hotspots = {"hotspots": 1}
    if answer is not None:
        assert answer == {"hotspots": 5}
        answer = hotspots
    else:
        assert initialization == {"energyLsp": {"hotspots": 5}}
        initialization = {"energyLsp": hotspots}
    async with start("full", command=COMMAND, configuration=answer, options=initialization) as session:
        uri = session.open("model.py")
        await session.hover(uri, 14, 15)
        marked = [one for one in (await session.pull(uri)).items if one.code == "hotspot"]
        assert [one.message for one in marked] == ["fit: 120 J, 100% of this file"]


@pytest.mark.asyncio
async def test_a_client_without_settings_gives_them_when_it_begins(start: Any, workspace: Path) -> None:
    (workspace / "pyproject.toml").unlink()
    async with start(
        "minimal", options={"energyLsp": {"hotspotSeverity": "off", "select": ["pow2"]}}
    ) as session:
        uri = session.open("model.py")
        await session.until(lambda: len(session.client.diagnostics.get(uri, ())) > 0)
        assert [one.code for one in session.client.diagnostics[uri]] == ["pow2"]
