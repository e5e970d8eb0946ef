"""Diagnostics and summaries of files that are not open: few are read by the server, many by a process of its own."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import psutil
import pytest
from lsprotocol import types

from energy_code.workspace.project import Project
from energy_lsp.features.unopened.background_reader import FEW

pytestmark = pytest.mark.asyncio

PROJECT = '[tool.energy-lsp]\nhotspots = 2\nselect = ["pow2"]\nworkspace-diagnostics = true\n'
USES = "from helper import tf\n\ny = tf.pow(tf.abs(x), 2)\n"
OTHER = "import tensorflow as tf\n\ny = tf.pow(tf.abs(x), 2)\n"


@pytest.fixture
def workspace(workspace: Path) -> Path:
    """A workspace that wants to hear of all its files."""
    (workspace / "pyproject.toml").write_text(PROJECT)
    return workspace


@pytest.fixture(params=[2, FEW + 10], ids=["few", "many"])
def files(request: Any, workspace: Path, database: Path, figures: Any) -> list[str]:
    """The files of a workspace, all of them measured; one imports another."""
    measured = {"tensorflow.math.pow": 1e-5, "tensorflow.math.abs": 1e-5}
    for name in ("uses.py", "new.py", *(f"other{number}.py" for number in range(request.param - 2))):
        figures(database, measured, run_id=name, file=name, source=OTHER)
    (workspace / "model.py").unlink()
    (workspace / "helper.py").write_text("import tensorflow as tf\n")
    (workspace / "uses.py").write_text(USES)
    others = [f"other{number}.py" for number in range(request.param - 2)]
    for name in others:
        (workspace / name).write_text(OTHER)
    return ["helper.py", "uses.py", *others]


async def pull(session: Any, previous: dict[str, Any] | None = None) -> dict[str, Any]:
    seen = [
        types.PreviousResultId(session.uri(name), one.result_id) for name, one in (previous or {}).items()
    ]
    report = await session.client.workspace_diagnostic_async(types.WorkspaceDiagnosticParams(seen))
    return {item.uri.rpartition("/")[2]: item for item in report.items}


async def test_what_is_not_open_is_reported_and_read_again_when_it_changes(
    start: Any, workspace: Path, files: list[str]
) -> None:
    async with start("full") as session:
        first = await pull(session)
        assert sorted(first) == sorted(files)
        assert {name: len(one.items) for name, one in first.items()} == {
            name: 0 if name == "helper.py" else 3 for name in files
        }
        assert {one.kind for one in (await pull(session, first)).values()} == {"unchanged"}
        (workspace / "helper.py").write_text("tf = None\n")
        (workspace / "new.py").write_text(OTHER)
        second = await pull(session, first)
        assert {name: len(one.items) for name, one in second.items() if one.kind == "full"} == {
            "uses.py": 0,
            "new.py": 3,
        }
        (workspace / "new.py").unlink()
        assert "new.py" not in await pull(session)


async def test_what_did_not_change_on_disk_is_not_read_again(
    start: Any, workspace: Path, files: list[str]
) -> None:
    async with start("full") as session:
        first = await pull(session)
        path = workspace / "uses.py"
        state = path.stat()
        path.write_text("#" * len(USES))
        os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
        assert {one.kind for one in (await pull(session, first)).values()} == {"unchanged"}


async def test_an_open_file_counts_as_it_is_in_the_editor(start: Any, files: list[str]) -> None:
    async with start("full") as session:
        uri = session.open("uses.py", "import tensorflow as tf\n")
        await session.pull(uri)
        reports = await pull(session)
        assert sorted(reports) == sorted(files)
        assert (len(reports["uses.py"].items), reports["uses.py"].version) == (0, 1)
        session.client.text_document_did_close(
            types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri))
        )
        closed = await pull(session)
        assert (len(closed["uses.py"].items), closed["uses.py"].version) == (3, None)


async def test_the_summary_of_a_workspace(start: Any, files: list[str]) -> None:
    async with start("full") as session:
        summary = await session.command("energyLsp.server.summary", {})
        found = {file["uri"].rpartition("/")[2]: file for file in summary["files"]}
        assert sorted(found) == sorted(set(files) - {"helper.py"})
        calls = [call for file in summary["files"] for one in file["functions"] for call in one["calls"]]
        shares = [call["share"] for call in calls]
        assert len(shares) == 2 * len(found)
        assert sum(shares) == pytest.approx(1.0)
        assert summary["known_joules"] == pytest.approx(2e-5 * len(found))
        for file in summary["files"]:
            assert (file["known_joules"], file["text"]) == (pytest.approx(2e-5), "20.0 µJ in 2 calls")
            assert [one["text"] for one in file["functions"]] == ["20.0 µJ in 2 calls"]


async def test_a_cancelled_question_leaves_no_process(start: Any, workspace: Path) -> None:
    for number in range(20 * FEW):
        (workspace / f"other{number}.py").write_text(OTHER)
    async with start("full") as session:
        before = children()
        request = asyncio.ensure_future(
            session.client.protocol.send_request_async(
                types.WORKSPACE_DIAGNOSTIC, types.WorkspaceDiagnosticParams([]), msg_id="all"
            )
        )
        await session.until(lambda: children() > before)
        session.client.cancel_request(types.CancelParams("all"))
        with pytest.raises(Exception, match="all"):
            await request
        await session.until(lambda: not children() - before)


def children() -> set[int]:
    """The processes that read for servers of this test."""
    found = set()
    for process in psutil.Process().children(recursive=True):
        try:
            if any("energy_lsp.features.unopened.background_reader" in word for word in process.cmdline()):
                found.add(process.pid)
        except psutil.Error:
            continue
    return found


async def test_a_change_affects_importers_and_what_is_imported(tmp_path: Path) -> None:
    for name, text in {
        "base.py": "",
        "middle.py": "import base\n",
        "top.py": "from middle import x\n",
        "other.py": "import numpy\n",
    }.items():
        (tmp_path / name).write_text(text)
    project = Project(tmp_path, store=tmp_path / "index.json")
    project.index()

    def affected(name: str) -> list[str]:
        return sorted(path.name for path in project.affected_by([tmp_path / name]))

    assert affected("base.py") == ["base.py", "middle.py", "top.py"]
    assert affected("middle.py") == ["base.py", "middle.py", "top.py"]
    assert affected("top.py") == ["middle.py", "top.py"]
    assert affected("other.py") == ["other.py"]


async def test_what_is_given_to_a_function_may_be_made_in_a_third_file(
    start: Any, workspace: Path, database: Path, figures: Any
) -> None:
    source = "import tensorflow as tf\ndef show(x: tf.Tensor):\n    return x.numpy()\n"
    figures(database, {"tensorflow.Tensor.numpy": 5.0}, run_id="more", file="gives.py", source=source)
    (workspace / "model.py").unlink()
    (workspace / "made.py").write_text("import tensorflow as tf\n\nmake = tf.ones\n")
    (workspace / "uses.py").write_text("from made import make\nfrom gives import show\n\nshow(make(3))\n")
    (workspace / "gives.py").write_text("def show(x):\n    return x.numpy()\n")
    async with start("full") as session:
        assert [one.code for one in (await pull(session))["gives.py"].items] == ["hotspot"]
        (workspace / "made.py").write_text("make = float\n")
        assert not (await pull(session))["gives.py"].items


async def test_a_change_reaches_an_open_file_through_another(start: Any, workspace: Path) -> None:
    made = "import tensorflow as tf\n\nmake = tf.abs\n"
    (workspace / "made.py").write_text(made)
    (workspace / "between.py").write_text("from made import make\n\npassed = make\n")
    async with start("full") as session:
        await session.until(lambda: bool(session.registrations))
        uses = session.open("uses.py", "from between import passed\n\nprint(passed(1))\n")
        assert "tensorflow.math.abs" in (await session.hover(uses, 2, 7) or "")
        uri = session.open("made.py")
        await session.pull(uri)
        before = session.refreshes.get(types.WORKSPACE_INLAY_HINT_REFRESH, 0)
        session.change(uri, None, made.replace("tf.abs", "tf.matmul"))
        await session.until(lambda: session.refreshes.get(types.WORKSPACE_INLAY_HINT_REFRESH, 0) > before)
        assert "tensorflow.linalg.matmul" in (await session.hover(uses, 2, 7) or "")
