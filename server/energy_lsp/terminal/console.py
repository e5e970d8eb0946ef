"""The screen that tables and sentences are printed on: as wide as the terminal, in colour where that is wanted."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from energy_data.untrusted.printable import composed
from energy_lsp.terminal.fitting import wrapped
from energy_lsp.terminal.width import width

PLAIN_WIDTH = 140
"""Columns of a table that goes into a file or a pipe."""
PLAIN: dict[str, Any] = {"highlight": False, "markup": False, "emoji": False}
"""Names in brackets are names, not styles."""


class _Console(Console):
    """rich's, which leaves it to the command what to do when nobody reads any more."""

    def on_broken_pipe(self) -> None:
        """Pass it on."""
        raise BrokenPipeError


class Screen:
    """Standard output for a command that prints for people."""

    def __init__(self) -> None:
        self._wrap = width()
        self.width = self._wrap or PLAIN_WIDTH
        self.console = _Console(**PLAIN, width=self.width)
        self._empty = False

    def say(self, text: str, style: str = "", indent: str = "") -> None:
        """A sentence, wrapped between words on a terminal; one line in a pipe, where people search in it."""
        for part in text.split("\n"):
            if not part:
                self.line()
                continue
            for line in self.wrapped(part, indent):
                self.raw(Text(line, style=style))

    def wrapped(self, text: str, indent: str = "") -> list[str]:
        """A sentence in lines that fit."""
        text = composed(text)
        return wrapped(text, self._wrap, indent) if self._wrap else [text]

    def room(self, beside: int) -> int | None:
        """Columns that are left beside so many; None where lines may be as long as they are."""
        return None if self._wrap is None else max(20, self._wrap - beside)

    def whole(self, text: str) -> None:
        """A line that stays whole however wide it is: a command to be copied."""
        self.raw(Text(composed(text)))

    def line(self) -> None:
        """An empty line; two of them are one."""
        if not self._empty:
            self.raw(Text(""))

    def raw(self, text: Text) -> None:
        """A line that fits already."""
        self._empty = not text.plain
        self.console.print(text, soft_wrap=True)
