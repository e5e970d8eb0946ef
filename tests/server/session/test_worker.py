from __future__ import annotations

import asyncio
import threading
from functools import partial

import pytest

from energy_lsp.session.worker import BACKGROUND, Worker

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
    await worker.run(lambda: None, BACKGROUND)
    assert ran == [("file", 4), ("later", 4)]
    worker.stop()


async def test_a_job_that_raises_does_not_end_the_worker() -> None:
    problems: list[BaseException] = []
    worker = Worker(asyncio.get_running_loop(), problems.append)
    worker.submit("bad", lambda: 1 / 0, lambda _: None)
    with pytest.raises(ValueError, match="told"):
        await worker.run(lambda: int("told"))
    assert await worker.run(lambda: 3) == 3
    assert isinstance(problems[0], ZeroDivisionError)
    worker.stop()


async def test_everybody_who_waits_gets_an_answer_and_nobody_else_costs_work() -> None:
    worker = Worker(asyncio.get_running_loop(), lambda problem: None)
    gate, ran = threading.Event(), []
    worker.submit("gate", gate.wait, lambda _: None)

    def note(number: int) -> int:
        ran.append(number)
        return number

    waiting = [asyncio.ensure_future(worker.run(partial(note, number))) for number in range(4)]
    await asyncio.sleep(0)
    waiting[2].cancel()
    await asyncio.sleep(0)
    gate.set()
    assert await asyncio.gather(waiting[0], waiting[1], waiting[3]) == [0, 1, 3]
    assert ran == [0, 1, 3]
    worker.stop()
