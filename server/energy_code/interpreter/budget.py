"""How much processor time one reading of a document may take."""

from __future__ import annotations

import time
from collections.abc import Callable

from energy_code.interpreter.limits import MAX_CPU_SECONDS


class Budget:
    """Answers whether there is time for another evaluation: a program made to take long must not keep others waiting."""

    __slots__ = ("_end", "clock", "is_exceeded", "seconds")

    def __init__(self) -> None:
        self.seconds = MAX_CPU_SECONDS
        self.clock: Callable[[], float] = time.thread_time
        """Of this thread: what others do meanwhile does not count."""
        self._end = float("inf")
        self.is_exceeded = False
        """True once something was left out since the last beginning."""

    def begin(self) -> None:
        """A document is read, from now on."""
        self._end = self.clock() + self.seconds
        self.is_exceeded = False

    def is_left(self) -> bool:
        """Whether there is time for one more evaluation; if not, it is noted that something was left out."""
        if self.clock() > self._end:
            self.is_exceeded = True
        return not self.is_exceeded
