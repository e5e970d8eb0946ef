"""Python's collector of garbage, kept from looking through what a reading has just made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

MOST = 20_000
"""What one reading counts at most: a first one makes far more, and keeps them all."""
ENOUGH = 200_000
"""Objects passed over after which it is time to look: what edits replace is garbage."""


class Passed:
    """How many objects the collector has not looked at."""

    objects = 0
    stay = False
    """True where somebody looks through them in quiet moments."""


@contextmanager
def collector_paused() -> Iterator[None]:
    """Many small objects that mostly stay: looking for garbage among them each time takes longer than making them."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            made = gc.get_count()[0]
            if made > gc.get_threshold()[0]:
                pass_over(made)
            gc.enable()


def pass_over(made: int) -> None:
    """Count new objects as old without looking through them, or the collector would start at once."""
    gc.freeze()
    if Passed.stay:
        return
    gc.unfreeze()
    Passed.objects += min(made, MOST)
    if Passed.objects > ENOUGH:
        Passed.objects = 0
        gc.collect()
