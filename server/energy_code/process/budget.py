"""How much processor time one reading of a document may take: a text made to take long must not keep others waiting.

A reading begins at `Budget.reading`; all that its thread does inside, parsing included, asks `is_left` or `check` now and
then. Evaluating and searching leave out what does not fit; parsing and lowering end with `TooLongError`, and the text
counts as not looked at.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

MAX_CPU_SECONDS = 5.0
"""Processor time for one reading of a document. Ten thousand lines take half a second; what does not fit is not looked at,
and whoever looks at the file is told so."""
PATIENCE = 1.0
"""Seconds after which a reading ends when other documents wait; it is begun again where it keeps nobody waiting."""

OFTEN = 0.01
"""Seconds after which it is found out again whether somebody waits."""


class TooLongError(Exception):
    """There is no time left to read a text."""


class Budget:
    """Answers whether there is time to read on."""

    __slots__ = ("_begun", "_look_at", "clock", "gave_way", "is_exceeded", "seconds", "watch")

    def __init__(self) -> None:
        self.seconds = MAX_CPU_SECONDS
        self.clock: Callable[[], float] = time.thread_time
        """Of this thread: what others do meanwhile does not count."""
        self.watch: Callable[[], float] = time.monotonic
        """On the wall: asked for often, as the other one takes long to answer."""
        self._begun = self._look_at = 0.0
        self.is_exceeded = False
        """True once something was left out since the last beginning."""
        self.gave_way = False
        """True if that was for others who waited."""

    @contextmanager
    def reading(self) -> Iterator[Budget]:
        """A document is read inside; within the reading of another one it is a part of that."""
        outer = running()
        if outer is not None:
            yield outer
            return
        self._begun, self.is_exceeded, self.gave_way = self.clock(), False, False
        self._look_at = self.watch() + PATIENCE  # nobody takes more processor time than time goes by
        _thread.budget = self
        try:
            yield self
        finally:
            _thread.budget = None

    def is_left(self) -> bool:
        """Whether there is time for something more; if not, it is noted that something was left out."""
        if not self.is_exceeded and (now := self.watch()) > self._look_at:
            taken = self.clock() - self._begun
            if taken > self.seconds:
                self.is_exceeded = True
            elif taken > PATIENCE and _thread.others_wait():
                self.is_exceeded = self.gave_way = True
            self._look_at = now + max(PATIENCE - taken, OFTEN)
        return not self.is_exceeded


def nobody() -> bool:
    """Nobody waits."""
    return False


class _Thread(threading.local):
    budget: Budget | None = None
    others_wait: Callable[[], bool] = staticmethod(nobody)


_thread = _Thread()


def running() -> Budget | None:
    """The budget of what this thread reads now, if it reads something."""
    return _thread.budget


def give_way_when(others_wait: Callable[[], bool]) -> None:
    """Who knows whether somebody waits for this thread."""
    _thread.others_wait = others_wait


def is_left() -> bool:
    """Whether this thread has time to read on."""
    budget = _thread.budget
    return budget is None or budget.is_left()


def check() -> None:
    """Raise TooLongError when it has not."""
    if not is_left():
        raise TooLongError
