"""One thread for the work that must not hold up the event loop: analysing, looking up, indexing.

Jobs carry a key: a job whose key already waits replaces it, so that the newest state of a file is analysed
once however fast somebody types. Jobs for what is open go before jobs for what is not.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

logger = logging.getLogger(__name__)

OPEN, BACKGROUND = 0, 1
"""Priorities."""

T = TypeVar("T")
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
        self._busy = False
        """True while a job runs, here or in the thread."""
        self._thread = threading.Thread(target=self._run, name="energy-lsp worker", daemon=True)
        self._thread.start()

    def submit(self, key: Hashable, job: Job, done: Done, priority: int = OPEN) -> None:
        """Run `job` soon; `done` gets its result on the loop. A waiting job with the same key is replaced."""
        with self._condition:
            self._waiting[priority][key] = (job, done)
            self._condition.notify()

    def do_now(self, job: Callable[[], T]) -> T | None:
        """Run a job of a moment where this is called, while the thread rests; None when other jobs go before it.

        To wake the thread and to be woken by it would take longer.
        """
        with self._condition:
            if self._busy or self._stopped or self._waiting[OPEN]:
                return None
            self._busy = True
        try:
            return job()
        finally:
            self._rest()

    def _rest(self) -> None:
        """A job is over; the thread is woken only if there is another one."""
        with self._condition:
            self._busy = False
            if any(self._waiting):
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
                for jobs in self._waiting if not self._busy else ():
                    if jobs:
                        self._busy = True
                        return jobs.pop(next(iter(jobs)))
                self._condition.wait()
        return None

    def _run(self) -> None:
        while (item := self._next()) is not None:
            job, done = item
            result: Any
            try:
                result = job()
            except Exception as problem:
                logger.exception("A job failed")
                done, result = self._failed, problem
            self._rest()  # before the loop learns of it, and may have the next job
            self._hand_back(done, result)

    def _hand_back(self, call: Callable[[Any], None], value: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(call, value)
        except RuntimeError:
            logger.debug("The loop ended before a result arrived")
