"""One thread for the work that must not hold up the event loop: analysing, looking up, indexing.

Jobs carry a key: a job whose key already waits replaces it, so that the newest state of a file is analysed
once however fast somebody types. Jobs for what is open go before jobs for what is not.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Hashable
from typing import Any

from energy_code.process.budget import give_way_when

logger = logging.getLogger(__name__)

OPEN, BACKGROUND = 0, 1
"""Priorities."""

Job = Callable[[], Any]
Done = Callable[[Any], None]


class Worker:
    """Runs jobs one at a time in a thread of its own and hands the results back to the loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, failed: Callable[[BaseException], None]) -> None:
        self._loop = loop
        self._failed = failed
        self._waiting: tuple[dict[Hashable, tuple[Job, Done]], ...] = ({}, {})
        self._condition = threading.Condition()
        self._stopped = False
        self._running: Hashable = None
        """The key of the job that runs."""
        self._thread = threading.Thread(target=self._run, name="energy-lsp worker", daemon=True)
        self._thread.start()

    def another(self) -> Worker:
        """One more thread, for what takes long."""
        return Worker(self._loop, self._failed)

    def submit(self, key: Hashable, job: Job, done: Done, priority: int = OPEN) -> None:
        """Run `job` soon; `done` gets its result on the loop. A waiting job with the same key is replaced."""
        with self._condition:
            self._waiting[priority][key] = (job, done)
            self._condition.notify()

    def forget(self, key: Hashable) -> None:
        """Drop a job that has not begun."""
        with self._condition:
            for jobs in self._waiting:
                jobs.pop(key, None)

    async def run(self, job: Job, priority: int = OPEN) -> Any:
        """Run `job` and wait for its result; its exception is raised here. Who no longer waits need not be served."""
        future: asyncio.Future[Any] = self._loop.create_future()

        def guarded() -> tuple[Any, BaseException | None]:
            try:
                return job(), None
            except Exception as problem:
                return None, problem

        def done(outcome: tuple[Any, BaseException | None]) -> None:
            result, problem = outcome
            if future.done():
                return
            if problem is not None:
                future.set_exception(problem)
            else:
                future.set_result(result)

        self.submit(future, guarded, done, priority)  # a key of its own: each asker gets an answer
        try:
            return await future
        finally:
            if future.cancelled():
                self.forget(future)

    def stop(self) -> None:
        """Begin no further job."""
        with self._condition:
            self._stopped = True
            for jobs in self._waiting:
                jobs.clear()
            self._condition.notify()

    def _next(self) -> tuple[Job, Done] | None:
        with self._condition:
            while not self._stopped:
                for jobs in self._waiting:
                    if jobs:
                        self._running = next(iter(jobs))
                        return jobs.pop(self._running)
                self._condition.wait()
        return None

    def _others_wait(self) -> bool:
        """Whether somebody waits for something else than the job that runs, or nobody for that any more."""
        waiting = self._waiting[OPEN]
        return self._stopped or len(waiting) > (self._running in waiting)

    def _run(self) -> None:
        give_way_when(self._others_wait)
        while (item := self._next()) is not None:
            job, done = item
            result: Any
            try:
                result = job()
            except Exception as problem:
                logger.exception("A job failed")
                done, result = self._failed, problem
            self._hand_back(done, result)

    def _hand_back(self, call: Callable[[Any], None], value: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(call, value)
        except RuntimeError:
            logger.debug("The loop ended before a result arrived")
