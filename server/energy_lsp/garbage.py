"""When to look for garbage: while nobody waits for an answer.

Replaced evaluations of a program refer to each other, so that only Python's collector frees them. A full
look goes through everything that is kept of the open files and stops the whole process meanwhile.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

YOUNG = 20_000
"""New objects before Python looks among them: 700, its default, costs a third of each analysis."""
NEVER = 1 << 30
QUIET_SECONDS = 2.0
"""Nobody who was silent for so long waits for an answer."""
SOME, MANY = 50, 300
"""Analyses after which looking is worth it in a quiet moment, and at any moment."""


def begin() -> None:
    """What is loaded by now stays, and full looks are left to `Garbage`."""
    gc.freeze()
    gc.set_threshold(YOUNG, 10, NEVER)


class Garbage:
    """Counts what happens, and looks for garbage in quiet moments."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._heard = clock()
        self._analyses = 0

    def hear(self) -> None:
        """The client said something."""
        self._heard = self._clock()

    def count(self) -> None:
        """A file was analysed: what was known of it before is garbage now."""
        self._analyses += 1

    def look(self) -> bool:
        """Look for garbage if it is time to; True when it was."""
        quiet = self._clock() - self._heard >= QUIET_SECONDS
        if self._analyses < (SOME if quiet else MANY):
            return False
        self._analyses = 0
        gc.collect()
        return True
