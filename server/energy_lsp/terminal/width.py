"""How many columns there are to print in."""

from __future__ import annotations

import os
import sys


def width(err: bool = False) -> int | None:
    """`COLUMNS`, or the terminal's own; None in a pipe, where lines are not wrapped.

    On standard error the terminal alone counts: who catches what goes wrong looks for whole sentences.
    """
    asked = os.environ.get("COLUMNS", "")
    if asked.isdecimal() and int(asked) > 0 and not err:
        return int(asked)
    stream = sys.stderr if err else sys.stdout
    try:
        return os.get_terminal_size(stream.fileno()).columns or None if stream.isatty() else None
    except (OSError, ValueError):  # no file behind it, as in tests
        return None
