"""When to look for garbage: while nobody waits for an answer, and only when there can be some.

Replaced evaluations of a program refer to each other, so that only Python's collector frees them. A full
look goes through everything that is kept of the open files and stops the whole process meanwhile.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable

from energy_code.process.garbage_collection import look_elsewhere

YOUNG = 10_000
"""New objects before Python looks among them, which takes up to 3 ms and lets no other thread run. 700, its default, costs a
third of each analysis."""
NEVER = 1 << 30
QUIET_SECONDS = 2.0
"""Nobody who was silent for so long waits for an answer."""
SOME, MUCH = 1.05, 1.3
"""Growth of memory for which looking is worth it in a quiet moment, and at any moment."""


def begin() -> None:
    """What is loaded by now stays, and full looks are left to `Garbage`."""
    look_elsewhere()
    gc.freeze()
    gc.set_threshold(YOUNG, 10, NEVER)


class Garbage:
    """Watches how much memory is in use, and looks for garbage in quiet moments."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        in_use: Callable[[], int] = sys.getallocatedblocks,
    ) -> None:
        self._clock = clock
        self._in_use = in_use
        self._heard = clock()
        self._clean = self._kept = in_use()
        """What was in use after the last look, and what is since known to stay."""
        self._let_go = False

    def hear(self) -> None:
        """The client said something."""
        self._heard = self._clock()

    def expect(self) -> None:
        """A file was opened and read: what is in use now stays."""
        self._kept = max(self._kept, self._in_use())

    def let_go(self) -> None:
        """A file was closed: what was known of it is garbage."""
        self._let_go = True

    def look(self, *, opening: bool = False) -> bool:
        """Look for garbage if it is time to, which it is not while a file is read that was opened; True when it was."""
        if opening:
            return False
        if self._clock() - self._heard >= QUIET_SECONDS:
            worth = self._let_go or self._in_use() >= SOME * self._kept
        else:
            worth = self._in_use() >= MUCH * (self._clean if self._let_go else self._kept)
        if worth:
            gc.collect()
            self._clean = self._kept = self._in_use()
            self._let_go = False
        return worth
