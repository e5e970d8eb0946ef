"""Layers in the editor: hover on `fit` and on a layer's line, inlays, the view, and what an edit does to them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from energy_data.database.database import Database
from energy_data.model import Environment, InputSignature, Inside, Machine, Measurement, Part, Quantity, Run
from energy_lsp.presentation.layers import moved_lines

pytestmark = pytest.mark.asyncio

TEXT = """\
import keras
from keras import layers


class Odd(layers.Layer):
    pass


model = keras.Sequential()
model.add(layers.Dense(8))
model.add(Odd())
model.compile("adam")
model.fit([1])
"""
RUN = "run-inside"
WHOLE = types.Range(types.Position(0, 0), types.Position(30, 0))


@pytest.fixture
def inside(workspace: Path, database: Path) -> None:
    """A run in which `fit` was looked into."""
    (workspace / "net.py").write_text(TEXT)
    machine = Machine("Test CPU", "", 8 << 30, "Linux", "")
    environment = Environment("3.11", "2.21.0", "3.15")
    run = Run(
        RUN,
        machine,
        environment,
        "python net.py",
        "2026-11-17T00:00:00+00:00",
        "rapl",
        False,
        True,
        project=str(workspace),
    )
    fit = Measurement(
        f"{RUN}-0",
        RUN,
        "keras.Sequential.fit",
        "net.py",
        13,
        InputSignature(),
        1.0,
        {"cpu": Quantity(4.0, 0.1)},
        1,
        3,
        True,
        "in place",
    )
    parts = [
        part("sequential/dense", "Dense", "forward", 1.0, 10),
        part("sequential/dense", "Dense", "backward", 1.5, 10),
        part("sequential/[odd](x)", "Odd", "forward", 0.5, 11),
        part("optimizer", "optimizer", "optimizer", 0.6),
        part("TensorFlow runtime and Python", "runtime", "runtime", 0.4),
    ]
    lines = {"net.py": {line: TEXT.splitlines()[line - 1].strip() for line in (10, 11, 13)}}
    with Database.open(database) as open_:
        open_.replace_run(
            run, [fit], parts=parts, inside=Inside(RUN, "Every step was profiled.", 1.0, lines=lines)
        )


def part(path: str, kind: str, direction: Any, joules: float, line: int = 0) -> Part:
    return Part(RUN, f"{RUN}-0", path, kind, direction, "net.py" if line else "", line, joules, 0.1, 5, 5)


async def inlays(session: Any, uri: str) -> dict[int, str]:
    found = await session.client.text_document_inlay_hint_async(
        types.InlayHintParams(types.TextDocumentIdentifier(uri), WHOLE)
    )
    return {hint.position.line: hint.label for hint in found or []}


async def test_fit_lists_its_costliest_layers_and_passes(start: Any, inside: None) -> None:
    async with start("full") as session:
        uri = session.open("net.py")
        text = await session.hover(uri, 12, 8)
        assert "62%    2.50 J  sequential/dense  (net.py:10)" in text
        assert "38%    1.50 J  backward" in text
        assert f"[line 10]({uri}#L10)" in text


async def test_a_layers_line_says_what_the_layer_had(start: Any, inside: None) -> None:
    async with start("full") as session:
        uri = session.open("net.py")
        text = await session.hover(uri, 9, 20)
        assert text.startswith("**⚡ 2\\.50 J · 62% of `fit`** \\(net\\.py, line 13\\)")
        assert "backward" in text
        assert text.index("Creating it") > text.index("Apportioned")
        # A class of the program's own is no API, but its line has a layer.
        assert "12% of `fit`" in await session.hover(uri, 10, 11)
        shown = await inlays(session, uri)
        assert shown[9] == "⚡ 2.50 J · 62% of fit, line 13"
        assert shown[10] == "⚡ 500 mJ · 12% of fit, line 13"


async def test_figures_follow_their_line_and_go_with_it(start: Any, inside: None) -> None:
    async with start("full") as session:
        uri = session.open("net.py")
        assert 9 in await inlays(session, uri)
        session.change(uri, (0, 0, 0, 0), "import os\n\n")
        moved = await inlays(session, uri)
        assert moved[11].startswith("⚡ 2.50 J")
        session.change(uri, (11, 23, 11, 24), "16")
        changed = await inlays(session, uri)
        assert not any("2.50 J" in label for label in changed.values())
        assert changed[12].startswith("⚡ 500 mJ")


async def test_the_view_opens_a_call_into_its_layers(start: Any, inside: None) -> None:
    async with start("full") as session:
        uri = session.open("net.py")
        summary = await session.command("energyLsp.server.summary", {"uri": uri})
        (file,) = [file for file in summary["files"] if file["uri"] == uri]
        calls = [call for function in file["functions"] for call in function["calls"]]
        (fit,) = [call for call in calls if call["api"] == "keras.Sequential.fit"]
        assert fit["inside"][0] == {
            "path": "sequential/dense",
            "kind": "Dense",
            "pass": "forward",
            "joules": 1.0,
            "share": 0.25,
            "file": "net.py",
            "line": 9,
        }
        assert [(one["line"], one["joules"]) for one in file["layers"]] == [(9, 2.5), (10, 0.5)]


async def test_lines_that_look_alike_keep_their_order() -> None:
    measured = {3: "a()", 5: "a()", 7: "b()"}
    assert moved_lines(measured, ["x", "a()", "", "a()", "b()"]) == {3: 1, 5: 3, 7: 4}
    assert moved_lines(measured, ["", "", "a()", "", ""]) == {3: 2}
    assert moved_lines({}, ["a()"]) == {}
