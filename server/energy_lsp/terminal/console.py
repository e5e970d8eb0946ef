"""Where tables are printed."""

from __future__ import annotations

from typing import Any

from rich.console import Console

PLAIN_WIDTH = 140
"""Columns when the output goes into a file or a pipe."""


PLAIN: dict[str, Any] = {"highlight": False, "markup": False, "emoji": False}
"""Names in brackets are names, not styles."""


def console() -> Console:
    """Standard output as wide as the terminal, or wide enough that names and places stay whole."""
    here = Console(**PLAIN)
    return here if here.is_terminal else Console(**PLAIN, width=PLAIN_WIDTH)
