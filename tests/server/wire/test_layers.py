"""Layers in the editor: hover on `fit` and on a layer's line, inlays, the view, and what an edit does to them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from energy_data.database.database import Database
from energy_data.model import Environment, InputSignature, Inside, Machine, Measurement, Part, Quantity, Run
from energy_lsp.presentation.figures.layers import moved_lines

from .test_notebooks import open_notebook

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


def measurement(api: str, line: int, *, call: int = 0, file: str = "net.py") -> Measurement:
    joules = {"cpu": Quantity(4.0, 0.1)}
    return Measurement(
        f"{RUN}-{call}", RUN, api, file, line, InputSignature(), 1.0, joules, 1, 3, True, "in place"
    )


def part(
    path: str, kind: str, direction: Any, joules: float, line: int = 0, *, call: int = 0, file: str = "net.py"
) -> Part:
    at = file if line else ""
    return Part(RUN, f"{RUN}-{call}", path, kind, direction, at, line, joules, 0.1, 5, 5)


def keep(
    database: Path,
    workspace: Path,
    file: str,
    text: str,
    calls: list[Measurement],
    parts: list[Part],
    lines: tuple[int, ...],
) -> None:
    """Store a run of a program whose calls were looked into."""
    machine = Machine("Test CPU", "", 8 << 30, "Linux", "")
    environment = Environment("3.11", "2.21.0", "3.15")
    run = Run(
        RUN,
        machine,
        environment,
        f"python {file}",
        "2026-11-17T00:00:00+00:00",
        "rapl",
        False,
        True,
        project=str(workspace),
    )
    texts = {file: {line: text.split("\n")[line - 1].strip() for line in lines}}
    with Database.open(database) as open_:
        open_.replace_run(
            run, calls, parts=parts, inside=Inside(RUN, "Every step was profiled.", 1.0, lines=texts)
        )


@pytest.fixture
def inside(workspace: Path, database: Path) -> None:
    """A run in which `fit` was looked into."""
    (workspace / "net.py").write_text(TEXT)
    parts = [
        part("sequential/dense", "Dense", "forward", 1.0, 10),
        part("sequential/dense", "Dense", "backward", 1.5, 10),
        part("sequential/[odd](x)", "Odd", "forward", 0.5, 11),
        part("optimizer", "optimizer", "optimizer", 0.6),
        part("TensorFlow runtime and Python", "runtime", "runtime", 0.1),
        part("building graphs (tracing)", "tracing", "runtime", 0.3),
    ]
    keep(database, workspace, "net.py", TEXT, [measurement("keras.Sequential.fit", 13)], parts, (10, 11, 13))


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
        assert "8%    300 mJ  tracing, once" in text
        assert "2%    100 mJ  runtime" in text
        assert f"[line 10]({uri}#L10)" in text
        session.change(uri, (0, 0, 0, 0), "import os\n\n")
        moved = await session.hover(uri, 14, 8)
        assert "sequential/dense  (net.py:12)" in moved
        assert f"[line 12]({uri}#L12)" in moved
        session.change(uri, (11, 23, 11, 24), "16")
        changed = await session.hover(uri, 14, 8)
        assert "sequential/dense  (its line was changed since)" in changed
        assert "#L12" not in changed


async def test_a_layers_line_says_what_the_layer_had(start: Any, inside: None) -> None:
    async with start("full") as session:
        uri = session.open("net.py")
        text = await session.hover(uri, 9, 20)
        assert text.startswith(f"**⚡ 2\\.50 J · 62% of `fit`** ([line 13]({uri}#L13))")
        assert "backward" in text
        assert text.index("Creating it") > text.index("Apportioned")
        # A class of the program's own is no API, but its line has a layer.
        assert "12% of `fit`" in await session.hover(uri, 10, 11)
        shown = await inlays(session, uri)
        assert shown[9] == "2.5 J · 62% of fit"
        assert shown[10] == "500 mJ · 12% of fit"


async def test_figures_follow_their_line_and_go_with_it(start: Any, inside: None) -> None:
    async with start("full") as session:
        uri = session.open("net.py")
        assert 9 in await inlays(session, uri)
        session.change(uri, (0, 0, 0, 0), "import os\n\n")
        moved = await inlays(session, uri)
        assert moved[11].startswith("2.5 J")
        session.change(uri, (11, 23, 11, 24), "16")
        changed = await inlays(session, uri)
        assert not any("2.5 J" in label for label in changed.values())
        assert changed[12].startswith("500 mJ")


async def test_a_figure_goes_with_the_line_that_is_taken_out_and_comes_back_with_it(
    start: Any, inside: None
) -> None:
    async with start("full") as session:
        uri = session.open("net.py")
        line = TEXT.split("\n")[9] + "\n"
        session.change(uri, (9, 0, 10, 0), "")
        left = await inlays(session, uri)
        assert left[9] == "500 mJ · 12% of fit"
        assert not any("2.5 J" in label for label in left.values())
        session.change(uri, (10, 0, 10, 0), line)
        moved = await inlays(session, uri)
        assert (moved[9], moved[10]) == ("500 mJ · 12% of fit", "2.5 J · 62% of fit")


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
            "pass": "backward",
            "joules": 1.5,
            "text": "1.50 J",
            "layer_text": "2.50 J",
            "share": 0.375,
            "count": 5,
            "file": "net.py",
            "line": 9,
            "uri": uri,
        }
        assert sum(one["share"] for one in fit["inside"]) == pytest.approx(1.0)
        assert [(one["line"], one["joules"], one["text"]) for one in file["layers"]] == [
            (9, 2.5, "2.50 J"),
            (10, 0.5, "500 mJ"),
        ]
        first = file["layers"][0]
        assert first["of_all"] == pytest.approx(2.5 / summary["known_joules"])
        assert first["label"] == "2.5 J · 62% of fit"
        (use,) = first["uses"]
        assert (use["uri"], use["row"], use["forward"], use["backward"]) == (uri, 12, 1.0, 1.5)
        makers = {call["api"] for call in calls if call["creates_layer"]}
        assert makers == {"keras.layers.Dense"}


async def test_a_changed_line_leaves_nothing_to_jump_to(start: Any, inside: None) -> None:
    async with start("full") as session:
        uri = session.open("net.py")
        session.change(uri, (9, 23, 9, 24), "16")
        summary = await session.command("energyLsp.server.summary", {"uri": uri})
        (file,) = [file for file in summary["files"] if file["uri"] == uri]
        calls = [call for function in file["functions"] for call in function["calls"]]
        (fit,) = [call for call in calls if call["api"] == "keras.Sequential.fit"]
        assert (fit["inside"][0]["uri"], fit["inside"][0]["line"]) == (None, None)
        assert [one["line"] for one in file["layers"]] == [10]


async def test_each_call_on_a_line_has_its_own_layers(start: Any, workspace: Path, database: Path) -> None:
    text = "import keras\nfrom keras import layers\n\nx = keras.Input((4,))\ny = layers.Dense(4)(layers.Flatten()(x))\n"
    text += "model = keras.Model(x, y)\nmodel.fit([1])\nmodel.predict([1])\n"
    (workspace / "net.py").write_text(text)
    parts = [
        part("functional/dense", "Dense", "forward", 3.0, 5),
        part("functional/flatten", "Flatten", "forward", 1.0, 5),
        part("functional/dense", "Dense", "forward", 0.5, 5, call=1),
    ]
    calls = [measurement("keras.Model.fit", 7), measurement("keras.Model.predict", 8, call=1)]
    keep(database, workspace, "net.py", text, calls, parts, (5, 7, 8))
    async with start("full") as session:
        uri = session.open("net.py")
        dense = await session.hover(uri, 4, 12)
        assert dense.startswith(f"**⚡ 3\\.00 J · 75% of `fit`** ([line 7]({uri}#L7))")
        assert f"100% of `predict`** ([line 8]({uri}#L8))" in dense
        assert "25% of `fit`" in await session.hover(uri, 4, 29)
        assert (await inlays(session, uri))[4] == "4.0 J · 100% of fit"


async def test_layers_of_another_file_can_be_jumped_to(start: Any, workspace: Path, database: Path) -> None:
    text = "import keras\nfrom blocks import build\n\nmodel: keras.Model = build()\nmodel.fit([1])\n"
    (workspace / "main.py").write_text(text)
    parts = [
        part("net/dense", "Dense", "forward", 3.0, 12, file="blocks.py"),
        part("net/evil", "Dense", "forward", 1.0, 2, file="../../etc/evil.py"),
    ]
    fit = measurement("keras.Model.fit", 5, file="main.py")
    keep(database, workspace, "main.py", text, [fit], parts, (5,))
    async with start("full") as session:
        uri = session.open("main.py")
        text = await session.hover(uri, 4, 8)
        blocks = uri.replace("main.py", "blocks.py")
        assert f"[blocks\\.py\\:12]({blocks}#L12)" in text
        assert "evil.py#" not in text
        summary = await session.command("energyLsp.server.summary", {"uri": uri})
        (call,) = [
            call
            for function in summary["files"][0]["functions"]
            for call in function["calls"]
            if call["inside"]
        ]
        assert [(one["uri"], one["line"]) for one in call["inside"]] == [(blocks, 11), (None, None)]


async def test_cells_of_a_notebook_show_layers_too(start: Any, workspace: Path, database: Path) -> None:
    cells = [
        "import keras\nfrom keras import layers\n%matplotlib inline",
        "model = keras.Sequential()\nmodel.add(layers.Dense(8))",
        "model.fit([1])",
    ]
    text = "\n".join(cells)
    parts = [
        part("sequential/dense", "Dense", "forward", 3.0, 5, file="study.ipynb"),
        part("TensorFlow runtime and Python", "runtime", "runtime", 1.0),
    ]
    fit = measurement("keras.Sequential.fit", 6, file="study.ipynb")
    keep(database, workspace, "study.ipynb", text, [fit], parts, (5, 6))
    async with start("full") as session:
        _, uris = open_notebook(session, cells)
        shown = await inlays(session, uris[1])
        assert shown[1] == "3.0 J · 75% of fit"
        text = await session.hover(uris[2], 0, 7)
        assert "75%    3.00 J  sequential/dense  (cell 2, line 2)" in text
        assert "forward" in await session.hover(uris[1], 1, 17)
        summary = await session.command("energyLsp.server.summary", {"uri": session.uri("study.ipynb")})
        by_uri = {file["uri"]: file for file in summary["files"]}
        assert [one["line"] for one in by_uri[uris[1]]["layers"]] == [1]
        (call,) = by_uri[uris[2]]["functions"][0]["calls"]
        assert (call["inside"][0]["uri"], call["inside"][0]["line"]) == (uris[1], 1)


async def test_lines_that_look_alike_keep_their_order() -> None:
    measured = {3: "a()", 5: "a()", 7: "b()"}
    assert moved_lines(measured, ["x", "a()", "", "a()", "b()"]) == {3: 1, 5: 3, 7: 4}
    assert moved_lines(measured, ["", "", "a()", "", ""]) == {3: 2}
    assert moved_lines({}, ["a()"]) == {}


FUSED = """\
import keras
from keras import layers

inputs = keras.Input((8,))
hidden = layers.Dense(8)(inputs)
outputs = layers.ReLU()(hidden)
keras.Model(inputs, outputs).predict([1])
"""


async def test_a_layer_that_runs_as_part_of_another_says_where(
    start: Any, workspace: Path, database: Path
) -> None:
    """Its constructor's joules would be taken for what the layer costs."""
    (workspace / "net.py").write_text(FUSED)
    dense = part("functional/dense", "Dense", "forward", 3.0, 5)
    dense = replace(dense, fused=(("functional/re_lu", "net.py", 6),))
    calls = [measurement("keras.Model.predict", 7), measurement("keras.layers.ReLU", 6, call=1)]
    keep(database, workspace, "net.py", FUSED, calls, [dense], (5, 6, 7))
    async with start("full") as session:
        uri = session.open("net.py")
        assert "fused `re_lu` into it" in await session.hover(uri, 4, 18)
        text = await session.hover(uri, 5, 18)
        assert "TensorFlow fused `re_lu` into `dense` ([line 5](" in text
        assert 5 not in await inlays(session, uri)
