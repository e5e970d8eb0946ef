"""Tuning from the client: real trials of a program, progress, cancel, and an edit that the client can apply."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from energy_lsp.features.programs import tuning

PROGRAM = """\
import tensorflow as tf

names = ["ä"] * 3
x = tf.ones((8, 8))
for step in range(4):
    y = tf.pow(x, 2)
print(float(tf.reduce_sum(y)))
"""
"""One finding, too short for any saving."""


@pytest.mark.asyncio
async def test_actions_offer_a_trial_of_a_fix_and_of_the_program(start: Any, workspace: Path) -> None:
    (workspace / "program.py").write_text(PROGRAM)
    async with start("full", configuration={"measurePython": sys.executable}) as session:
        uri = session.open("program.py")
        await session.until(lambda: bool(session.registrations))
        offered = {one.title: one for one in await session.actions(uri, 5)}
        trial = str(offered["Try this fix here (pow2)"].command)
        assert all(word in trial for word in ("energyLsp.server.showTuned", uri, "pow2", "5"))
        whole = {one.title: one for one in await session.actions(uri, 0, only=["source"])}
        assert "energyLsp.server.showTuned" in str(whole["Tune this program"].command)
        argument = {"uri": uri, "rule": "nosuch", "budget": 1, "environment": {"KEY": "hush"}}
        with pytest.raises(Exception, match=r"has no candidate nosuch; there is: .*pow2"):
            await asyncio.wait_for(session.command("energyLsp.server.tune", argument), 200)
        log = "\n".join(one.message for one in session.client.log_messages)
        assert "--env 'KEY=…'" in log
        assert "hush" not in log


def test_the_end_of_tuning_is_one_sentence() -> None:
    saves = {"name": "missing-function", "verdict": "saves", "note": "", "file": "a.py"}
    outcome: dict[str, Any] = {
        "before": {"joules": 10.0, "seconds": 20.0},
        "after": {"joules": 5.4, "seconds": 9.0},
        "estimated": False,
        "interrupted": False,
        "candidates": [saves],
    }
    proven = "Proven: 10.0 J → 5.40 J a run (−46%), 20.0 s → 9.00 s, results unchanged: missing-function."
    assert tuning.sentence(outcome) == proven
    nothing = tuning.sentence({**outcome, "after": None, "estimated": True, "interrupted": True})
    assert nothing.startswith(
        "Stopped early. ≈ 10.0 J a run; no saving that keeps the results was proven here."
    )


@pytest.mark.asyncio
async def test_tuning_can_be_cancelled(start: Any, workspace: Path) -> None:
    program = workspace / "forever.py"
    program.write_text("import time\nwhile True:\n    time.sleep(0.1)\n")
    async with start("full", configuration={"measurePython": sys.executable}) as session:
        uri = session.open("model.py")
        await session.until(lambda: bool(session.registrations))
        asked = asyncio.ensure_future(session.command("energyLsp.server.tune", {"uri": program.as_uri()}))

        def runs() -> bool:
            reports = [one for some in session.client.progress_reports.values() for one in some]
            return any("running the program" in (getattr(one, "message", "") or "") for one in reports)

        await session.until(runs, 200)
        assert await session.hover(uri, 14, 15) is not None  # the server stays responsive
        [token] = session.client.progress_reports
        [begin, *_] = session.client.progress_reports[token]
        assert begin.title == "Tuning forever.py"
        session.client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(token))
        with pytest.raises(Exception, match="cancelled"):
            await asyncio.wait_for(asked, 200)
