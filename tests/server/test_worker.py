from __future__ import annotations

import asyncio
import threading

import pytest

from energy_lsp.worker import BACKGROUND, Worker

pytestmark = pytest.mark.asyncio


async def test_only_the_newest_of_a_key_runs_and_open_files_go_first() -> None:
    worker = Worker(asyncio.get_running_loop(), lambda problem: None)
    gate, ran = threading.Event(), []
    worker.submit("gate", gate.wait, lambda _: None)
    for number in range(5):
        worker.submit(
            "later", lambda number=number: ran.append(("later", number)), lambda _: None, BACKGROUND
        )
        worker.submit("file", lambda number=number: ran.append(("file", number)), lambda _: None)
    gate.set()
    await worker.run("end", lambda: None, BACKGROUND)
    assert ran == [("file", 4), ("later", 4)]
    worker.stop()


async def test_a_job_that_raises_does_not_end_the_worker() -> None:
    problems: list[BaseException] = []
    worker = Worker(asyncio.get_running_loop(), problems.append)
    worker.submit("bad", lambda: 1 / 0, lambda _: None)
    with pytest.raises(ValueError, match="told"):
        await worker.run("worse", lambda: int("told"))
    assert await worker.run("good", lambda: 3) == 3
    assert isinstance(problems[0], ZeroDivisionError)
    worker.stop()
