"""How far a long command is and how much time is left: a line that is written again, or a line a minute in a pipe."""

from __future__ import annotations

import sys
import time

from rich.cells import cell_len

from energy_data.untrusted.printable import one_line
from energy_lsp.terminal.echo import echo
from energy_lsp.terminal.fitting import shortened
from energy_lsp.terminal.width import width

EVERY_SECONDS = 60.0
KNOWN_FROM = 0.02
"""From this part on what is done says how long the rest takes."""


def time_left(seconds: float | None) -> str:
    """`about 2 min left`."""
    if seconds is None:
        return ""
    if seconds < 90:
        return f"about {max(1, round(seconds))} s left"
    if seconds < 5400:
        return f"about {round(seconds / 60)} min left"
    return f"about {seconds / 3600:.1f} h left"


class Countdown:
    """Progress of a command on standard error; ends its line when it is left."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._last = -EVERY_SECONDS
        self._moving = sys.stderr.isatty()
        self._shown = 0

    def __enter__(self) -> Countdown:
        return self

    def __exit__(self, *about: object) -> None:
        if self._shown:
            echo(err=True)
            self._shown = 0

    def tell(self, part: float, message: str, seconds_left: float | None = None) -> None:
        """So much is done; without a time it is reckoned from what was needed so far."""
        now = time.monotonic()
        if seconds_left is None and part >= KNOWN_FROM:
            passed = now - self._began
            seconds_left = passed / part - passed
        left = time_left(seconds_left) if part < 1.0 else ""
        text = f"[{part:4.0%}] {one_line(message)}" + (f", {left}" if left else "")
        if self._moving:
            room = (width(err=True) or 80) - 1
            text = shortened(text, room)
            echo(f"\r{text}{' ' * max(0, self._shown - cell_len(text))}", err=True, nl=False)
            self._shown = cell_len(text)
        elif now - self._last >= EVERY_SECONDS:
            self._last = now
            echo(text, err=True)
