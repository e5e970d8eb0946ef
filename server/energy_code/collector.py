"""Python's collector of garbage, kept from looking through what a reading has just made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Many small objects that all stay: looking for garbage among them would take longer than making them."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            if gc.get_count()[0] > gc.get_threshold()[0]:
                gc.freeze()  # or the collector starts at once: count them as old without looking through them
                gc.unfreeze()
            gc.enable()
