"""Pages and runs over the wire: evidence with its picture, what is offered at a hotspot, runs listed, compared, deleted."""

from __future__ import annotations

import asyncio
import base64
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from answer_shapes import as_dict, fits
from energy_lsp.features import answers
from energy_lsp.features.programs.failed_run import FailedLine, place_of_failure, sentence

pytestmark = pytest.mark.asyncio

FIT = (14, 15)


async def test_a_hotspot_offers_what_one_wants_there(start: Any) -> None:
    async with start("full") as session:
        uri = session.open("model.py")
        titles = [one.title for one in await session.actions(uri, FIT[0])]
        for title in (
            "Measure here again: fit",
            "Measure and look inside fit",
            "Open the report of the last run",
            "What could cost less?",
            "Ignore hotspot here",
        ):
            assert title in titles
        await session.command("energyLsp.server.cheaper", {"uri": uri, "line": FIT[0]})
        [shown] = session.client.shown_documents
        text = Path(shown.uri.removeprefix("file://")).read_text()
        assert "[Line 16](" in text
        assert "energy-lsp tune" in text
        with pytest.raises(Exception, match="Nobody has looked inside"):
            await session.command("energyLsp.server.page", {"about": "inside", "uri": uri, "line": FIT[0]})


async def test_evidence_has_a_picture_for_who_renders_it_and_bars_for_who_reads_it(start: Any) -> None:
    async with start("full") as session:
        uri = session.open("model.py")
        await session.pull(uri)
        page = as_dict(await session.command("energyLsp.server.evidence", {"rule": "pow2"}))["markdown"]
        [drawn] = re.findall(r"\(data:image/svg\+xml;base64,([^)]+)\)", page)
        svg = base64.b64decode(drawn).decode()
        assert "<script" not in svg
        assert "before" in svg
        assert "after ×" in svg
        await session.command("energyLsp.server.why", {"rule": "pow2", "uri": uri})
        [shown] = session.client.shown_documents
        text = Path(shown.uri.removeprefix("file://")).read_text()
        assert "data:image" not in text
        assert "before ██████████  after ██" in text


async def test_runs_are_listed_compared_and_deleted(start: Any, database: Path, figures: Any) -> None:
    figures(database, {"keras.Sequential.fit": 6.0}, run_id="second", file="model.py")
    async with start("full") as session:
        uri = session.open("model.py")
        await session.pull(uri)
        runs = [as_dict(one) for one in await session.command("energyLsp.server.runs", {})]
        for one in runs:
            fits(one, answers.RunSummary, "run")
        ids = {one["id"] for one in runs}
        assert "second" in ids
        other = next(iter(ids - {"second"}))
        page = as_dict(
            await session.command("energyLsp.server.compareRuns", {"before": "second", "after": other})
        )
        assert "`keras.Sequential.fit`" in page["markdown"]
        assert "energy-lsp compare" in page["markdown"]
        history = as_dict(await session.command("energyLsp.server.history", {"run": "second"}))["markdown"]
        assert "data:image/svg+xml" in history
        asked = {"about": "history", "uri": uri, "line": FIT[0]}
        of_call = as_dict(await session.command("energyLsp.server.page", asked))["markdown"]
        assert of_call.startswith("# `keras.Sequential.fit` in model\\.py")
        await session.command("energyLsp.server.deleteRun", {"run": "second"})
        left = [as_dict(one)["id"] for one in await session.command("energyLsp.server.runs", {})]
        assert left == [one["id"] for one in runs if one["id"] != "second"]
        with pytest.raises(Exception, match="no run"):
            await session.command("energyLsp.server.deleteRun", {"run": "second"})


async def test_the_report_is_of_the_program_in_front_else_of_this_workspace(
    start: Any, workspace: Path, database: Path, figures: Any
) -> None:
    known = {"keras.Sequential.fit": 6.0}
    figures(database, known, run_id="model", project=str(workspace), started="2026-11-17T02:00:00+00:00")
    later = {"project": str(workspace), "started": "2026-11-18T02:00:00+00:00"}
    figures(database, known, run_id="train", file="train.py", **later)
    away = {"project": "/elsewhere", "project_id": "other", "started": "2026-11-19T02:00:00+00:00"}
    figures(database, known, run_id="away", file="model.py", **away)
    async with start("full") as session:
        shown = [
            as_dict(await session.command("energyLsp.server.report", asked))["html"]
            for asked in ({"uri": session.uri("model.py")}, {"uri": session.uri("new.py")}, {})
        ]
    titles = [re.search("<h1[^>]*>([^<]*)", page) for page in shown]
    assert [title and title[1] for title in titles] == [
        "python model.py",
        "python train.py",
        "python train.py",
    ]


async def test_programs_and_interpreters_can_be_chosen(start: Any, workspace: Path) -> None:
    (workspace / "train.py").write_text("import tensorflow as tf\nprint(tf.abs(1.0))\n")
    async with start("full", configuration={"measurePython": sys.executable}) as session:
        await session.until(lambda: bool(session.registrations))
        found = as_dict(await asyncio.wait_for(session.command("energyLsp.server.programs", {}), 200))
        fits(found, answers.Programs, "programs")
        assert "train.py" in [one["file"] for one in found["programs"]]
        assert found["python"] == sys.executable
        [mine] = [one for one in found["interpreters"] if one["path"] == sys.executable]
        assert mine["tensorflow"]
        with pytest.raises(Exception, match="quick or full"):
            await session.command(
                "energyLsp.server.measure", {"uri": session.uri("train.py"), "howOften": "often"}
            )


FAILING = (
    "import tensorflow as tf\n\n\ndef load():\n    raise OSError('no data')\n\n\nx = tf.ones(3)\nload()\n"
)


@pytest.mark.tensorflow
@pytest.mark.xdist_group("tensorflow")
async def test_a_program_that_fails_is_told_with_its_line(start: Any, workspace: Path) -> None:
    (workspace / "fails.py").write_text(FAILING)
    async with start("full", configuration={"measurePython": sys.executable}) as session:
        uri = session.open("fails.py")
        await session.until(lambda: bool(session.registrations))
        asked = session.command(
            "energyLsp.server.measure", {"uri": uri, "howOften": "quick", "arguments": ["--epochs", "1"]}
        )
        result = as_dict(await asyncio.wait_for(asked, 300))
        fits(result, answers.Measured, "measured")
        assert result["problem"] == "fails.py stopped: OSError: no data (line 5)."
        assert result["place"] == {"uri": uri, "line": 4}
        assert result["run"], "what ran until then is kept"
        assert "Traceback" in Path(result["output"].removeprefix("file://")).read_text()
        command = next(one.message for one in session.client.log_messages if "Running" in one.message)
        assert command.endswith("--quick -- --epochs 1")


async def test_where_a_program_failed(tmp_path: Path) -> None:
    output = (
        f'Traceback (most recent call last):\n  File "{tmp_path}/other.py", line 3, in <module>\n'
        "During handling of the above exception, another exception occurred:\n"
        f'Traceback (most recent call last):\n  File "{tmp_path}/train.py", line 31, in <module>\n'
        '  File "/usr/lib/python3/urllib/request.py", line 9, in do_open\n'
        "urllib.error.URLError: <urlopen error>\n"
    )
    place = place_of_failure(output, tmp_path)
    assert place == FailedLine(tmp_path / "train.py", 31)
    assert sentence("train.py", "failed", "URLError", place) == "train.py stopped: URLError (line 31)."
    assert sentence("main.py", "failed", "URLError: " + "x" * 90, place) == (
        "main.py stopped: URLError (train.py, line 31)."
    )
    assert place_of_failure("Killed", tmp_path) is None
