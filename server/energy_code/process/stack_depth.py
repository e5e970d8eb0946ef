"""Room on Python's stack for deep recursion.

From Python 3.11 on, frames lie in chunks of 16 KB, and a chunk is given back to the system as soon as its first frame has
returned. Recursion that swings around the end of a chunk maps and unmaps memory at each swing. A frame that asks for many
slots gets one large chunk, in which the frames above it find room too; pages of it that nobody uses cost nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")

SLOTS = 33_000
"""A little more than half of the chunk of 512 KB that is mapped for them; the rest holds some 800 frames."""


def with_room(action: Callable[[], Result]) -> Result:
    """Run something that recurses deeply."""
    return action()


if sys.version_info >= (3, 11):
    with_room.__code__ = with_room.__code__.replace(co_stacksize=SLOTS)
