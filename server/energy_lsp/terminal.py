"""Where tables are printed."""

from __future__ import annotations

from rich.console import Console

PLAIN_WIDTH = 140
"""Columns when the output goes into a file or a pipe."""


def console() -> Console:
    """Standard output as wide as the terminal, or wide enough that names and places stay whole."""
    here = Console(highlight=False)
    return here if here.is_terminal else Console(highlight=False, width=PLAIN_WIDTH)
