"""Tracebacks without the probe (Python 3.8 to 3.10)."""

from __future__ import annotations

import sys

from .rows import HIDDEN_FILE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType, TracebackType
    from typing import Iterator, Optional, Tuple


def hide_probe_frames() -> None:
    """Before Python 3.11 a re-raised exception keeps the probe's frame: leave it out where one is printed."""
    import traceback

    plain_walk = traceback.walk_tb

    def walk_tb(tb: Optional[TracebackType]) -> Iterator[Tuple[FrameType, int]]:
        return (item for item in plain_walk(tb) if item[0].f_code.co_filename != HIDDEN_FILE)

    def excepthook(kind: type, error: BaseException, tb: Optional[TracebackType]) -> None:
        sys.stderr.write("".join(traceback.format_exception(kind, error, tb)))

    traceback.walk_tb = walk_tb
    sys.excepthook = excepthook
