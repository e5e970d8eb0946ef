"""What is kept of open files is collected in silence alone.

Replaced evaluations of a program refer to each other, so that only Python's collector frees them. A full
collection goes through everything that is kept, 100 ms of a file of 6,300 lines, and stops the process meanwhile. While
somebody types Python collects what was made since, by its own schedule.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable

from energy_code.process.garbage_collection import Passed

YOUNG = 10_000
"""New objects before Python collects among them; of its default, 700, an analysis makes several times as many."""
QUIET_SECONDS = 2.0
"""Nobody who was silent for so long waits for an answer."""
GROWTH = 1.05
"""Growth of memory for which collecting is worth it."""


def begin() -> None:
    """What is loaded by now stays, and so does what is read of a file, until `Garbage` goes through it."""
    Passed.stay = True
    gc.freeze()
    gc.set_threshold(YOUNG, 10, 10)


class Garbage:
    """Collects where the client is silent and there can be some."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        in_use: Callable[[], int] = sys.getallocatedblocks,
    ) -> None:
        self._clock = clock
        self._in_use = in_use
        self._heard = clock()
        self._kept = in_use()
        """What was in use after the last collection."""
        self._let_go = False

    def hear(self) -> None:
        """The client said something."""
        self._heard = self._clock()

    def let_go(self) -> None:
        """A file was closed: what was known of it is garbage."""
        self._let_go = True

    def collect(self) -> bool:
        """Collect if it is time to; True when it was."""
        if self._clock() - self._heard < QUIET_SECONDS:
            return False
        if not self._let_go and self._in_use() < GROWTH * self._kept:
            return False
        gc.unfreeze()
        gc.collect()
        gc.freeze()
        self._kept = self._in_use()
        self._let_go = False
        return True
