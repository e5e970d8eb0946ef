"""A file made to take long keeps no other file waiting: it is read in a thread of its own."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from lsprotocol import types

from energy_code.process import budget
from energy_lsp.session.open_files import OpenFiles
from energy_lsp.session.worker import Worker
from energy_lsp.workspace.client import Client
from energy_lsp.workspace.folders import Folders

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks" / "subjects"))

from hostile_texts import hostile

pytestmark = pytest.mark.asyncio

HEAD = "import tensorflow as tf\n"
ENDLESS = hostile("dots", 400_000)
"""Parsing it takes more than a minute."""


async def test_others_go_first_and_the_file_is_read_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "PATIENCE", 0.1)
    monkeypatch.setattr(budget, "MAX_CPU_SECONDS", 600.0)
    worker = Worker(asyncio.get_running_loop(), lambda problem: None)
    files = OpenFiles(worker, Folders({}), Client, lambda opened: None)
    slow, other = ((tmp_path / name).as_uri() for name in ("slow.py", "other.py"))
    (tmp_path / "helper.py").write_text(f"{HEAD}def total(x):\n    return tf.reduce_sum(x)\n")

    files.open(slow, 1, ENDLESS)
    await asyncio.sleep(0)
    files.open(other, 1, f"{HEAD}tf.ones(2)\n")
    report = await files.report(other)
    assert report is not None
    assert len(report.hints) == 1

    opened = files.get(slow)
    assert opened is not None
    assert opened.apart is not None
    for version in range(2, 5):  # while it is being read there, others are edited
        files.change(
            other, version, [types.TextDocumentContentChangeWholeDocument(f"{HEAD}tf.ones(2)\n" * version)]
        )
        report = await files.report(other)
        assert report is not None
        assert len(report.hints) == version

    files.close(slow)  # ends its thread
    files.open(slow, 5, f"{HEAD}import helper\nhelper.total(tf.ones(2))\n")
    report = await files.report(slow)
    assert report is not None
    assert len(report.hints) == 1
    worker.stop()


async def test_a_file_that_was_slow_follows_edits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "MAX_CPU_SECONDS", 0.2)
    worker = Worker(asyncio.get_running_loop(), lambda problem: None)
    folders = Folders({})
    files = OpenFiles(worker, folders, Client, lambda opened: None)
    path = tmp_path / "slow.py"
    files.open(path.as_uri(), 1, ENDLESS)
    await files.report(path.as_uri())
    await asyncio.sleep(0)
    files.change(path.as_uri(), 2, [types.TextDocumentContentChangeWholeDocument(f"{HEAD}tf.ones(2)\n")])
    report = await files.report(path.as_uri())
    assert report is not None
    assert len(report.hints) == 1
    assert [problem for problem in folders.of(path).problems if "takes too long to read" in problem]
    files.refresh()
    report = await files.report(path.as_uri())
    assert report is not None
    assert len(report.hints) == 1
    worker.stop()
