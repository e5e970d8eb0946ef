"""Measuring from the client: a real measurement, progress, cancel, and nothing left behind."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
import venv
from pathlib import Path
from typing import Any

import psutil
import pytest
from lsprotocol import types

from answer_shapes import as_dict, fits
from energy_lsp.features import answers

FOREVER = "import time\nwhile True:\n    time.sleep(0.1)\n"
PROGRAM = """\
import os, tensorflow as tf
assert os.environ["SIZE"] == "2 5 6"
x = tf.random.normal((256, 256))
for step in range(20):
    x = tf.tanh(tf.matmul(x, x))
print(float(tf.reduce_sum(x)))
"""


def running(path: Path) -> list[int]:
    """Processes that have to do with a file."""
    found = []
    for process in psutil.process_iter(["pid", "cmdline"]):
        if process.pid != os.getpid() and any(str(path) in word for word in process.info["cmdline"] or ()):
            found.append(process.pid)
    return found


@pytest.mark.tensorflow
@pytest.mark.xdist_group("tensorflow")
@pytest.mark.asyncio
async def test_a_measurement_shows_up_in_the_hover(start: Any, workspace: Path) -> None:
    (workspace / "program.py").write_text(PROGRAM)
    configuration = {"measureArguments": ["--quick"], "measurePython": sys.executable}
    async with start("full", configuration=configuration) as session:
        uri = session.open("program.py")
        await session.until(lambda: bool(session.registrations))
        text = await session.hover(uri, 4, 22)
        assert text is not None
        assert "here, at this call" not in text
        asked = {"uri": uri, "environment": {"SIZE": "2 5 6"}}
        result = await asyncio.wait_for(session.command("energyLsp.server.measure", asked), 200)
        result = result if isinstance(result, dict) else result._asdict()
        assert (result["status"], result["problem"], result["place"]) == ("finished", "", None)
        assert result["seconds"] > 0
        [reports] = session.client.progress_reports.values()
        assert isinstance(reports[0], types.WorkDoneProgressBegin)
        assert reports[0].cancellable
        assert reports[0].message.startswith("runs program.py")
        assert isinstance(reports[-1], types.WorkDoneProgressEnd)
        log = "\n".join(one.message for one in session.client.log_messages)
        assert "Running energy-lsp measure" in log
        assert "SIZE=…" in log
        assert "2 5 6" not in log, "a variable may be a secret"
        of_file = next(status.short for status in reversed(session.statuses) if status.uri == uri)
        assert result["said"].startswith(f"Estimated here: {result['text']} for the whole run in ")
        assert result["said"].endswith(f", {of_file} of it in the calls of this file.")
        await session.until(lambda: session.client.diagnostic_refresh_count > 0)
        while "here, at this call" not in (await session.hover(uri, 4, 22) or ""):
            await asyncio.sleep(0.1)
        assert {"measuring", "ready"} <= {status.state for status in session.statuses}


@pytest.mark.asyncio
async def test_a_measurement_can_be_cancelled(start: Any, workspace: Path) -> None:
    program = workspace / "forever.py"
    program.write_text(FOREVER)
    async with start("full", configuration={"measurePython": sys.executable}) as session:
        uri = session.open("model.py")
        await session.until(lambda: bool(session.registrations))
        asked = asyncio.ensure_future(session.command("energyLsp.server.measure", {"uri": program.as_uri()}))
        await session.until(lambda: bool(running(program)), 200)
        assert await session.hover(uri, 14, 15) is not None  # the server stays responsive
        with pytest.raises(Exception, match="already"):
            await session.command("energyLsp.server.measure", {"uri": program.as_uri()})
        [token] = session.client.progress_reports
        session.client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(token))
        with pytest.raises(Exception, match="cancelled"):
            await asyncio.wait_for(asked, 200)
        await session.until(lambda: not running(program))


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ({"uri": "file:///nowhere/at_all.py"}, "not on disk"),
        ({"uri": "untitled:Untitled-1"}, "save it first"),
        ({"environment": ["A=1"]}, "`environment` maps names"),
        ({"environment": {"A B": "1"}}, "`environment` maps names"),
        ({"environment": {"A": "1\0"}}, "`environment` maps names"),
    ],
)
async def test_what_cannot_be_measured_is_said(start: Any, argument: dict[str, Any], message: str) -> None:
    async with start("full") as session:
        with pytest.raises(Exception, match=message):
            await session.command("energyLsp.server.measure", argument)


@pytest.mark.asyncio
async def test_an_interpreter_without_tensorflow_is_told_by_the_name_of_its_setting(
    start: Any, tmp_path: Path
) -> None:
    bare = tmp_path / "bare"
    venv.create(bare)
    wrong = {"hotspots": "many"}  # told once the settings have come
    async with start(
        "full", configuration={"measurePython": str(bare / "bin" / "python"), **wrong}
    ) as session:
        uri = session.open("model.py")
        await session.until(lambda: bool(session.client.messages))
        with pytest.raises(
            Exception, match=r"name an interpreter that has it with energyLsp\.measurePython"
        ) as told:
            await asyncio.wait_for(session.command("energyLsp.server.measure", {"uri": uri}), 200)
    assert "--python" not in str(told.value)


@pytest.mark.asyncio
async def test_meters_report_and_summary_over_the_wire(start: Any, workspace: Path) -> None:
    async with start("full") as session:
        uri = session.open("model.py")
        meters = await asyncio.wait_for(session.command("energyLsp.server.meters", {}), 200)
        fits(as_dict(meters), answers.Meters, "meters", more=True)
        report = await asyncio.wait_for(session.command("energyLsp.server.report", {"run": "latest"}), 200)
        fits(as_dict(report), answers.HtmlPage, "report")
        assert "<html" in str(report)
        with pytest.raises(Exception, match="nosuchrun"):
            await session.command("energyLsp.server.report", {"run": "nosuchrun"})
        one = await session.command("energyLsp.server.summary", {"uri": uri})
        whole = await session.command("energyLsp.server.summary", {})
        assert "keras.Sequential.fit" in str(one)
        assert "keras.Sequential.fit" in str(whole)
        (workspace / "closed.py").write_text("import tensorflow as tf\ny = tf.matmul(a, b)\n")
        closed = await session.command("energyLsp.server.summary", {"uri": session.uri("closed.py")})
        assert "tensorflow.linalg.matmul" in str(closed)
        assert "closed.py" in str(await session.command("energyLsp.server.summary", {}))


def test_nothing_is_left_when_the_client_dies_while_measuring(workspace: Path, database: Path) -> None:
    program = workspace / "forever.py"
    program.write_text(FOREVER)
    environment = {**os.environ, "ENERGY_LSP_DB": str(database)}
    server = subprocess.Popen(
        [sys.executable, "-m", "energy_lsp", "serve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environment,
    )
    assert server.stdin is not None
    settings = {"capabilities": {}, "processId": None, "rootUri": workspace.as_uri()}
    arguments = [{"uri": program.as_uri()}]
    messages: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": settings},
        {"method": "initialized", "params": {}},
        {
            "id": 2,
            "method": "workspace/executeCommand",
            "params": {"command": "energyLsp.server.measure", "arguments": arguments},
        },
    ]
    for message in messages:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    server.stdin.flush()
    wait_until(lambda: bool(running(program)), 200)
    server.stdin.close()
    server.wait(120)
    wait_until(lambda: not running(program), 200)


def wait_until(condition: Any, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.1)
