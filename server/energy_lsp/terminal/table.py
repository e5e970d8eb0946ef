"""Tables that fit: a narrow terminal drops columns and shortens names, and no word is ever broken.

What is too wide gives way in this order: names shrink to a length that still says something, columns drop (those
with the highest `drop` first), names shrink further. Rows stay one line each, except in columns of prose, which are
wrapped between words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from rich.cells import cell_len
from rich.text import Text

from energy_data.untrusted.printable import composed
from energy_lsp.terminal.console import Screen
from energy_lsp.terminal.fitting import shortened, wrapped

GAP = 2
READABLE, LEAST = 24, 10
"""To so many characters names shrink before columns drop, and at the very end."""
PROSE = 30
"""A column of sentences narrower than this drops."""

Kind = Literal["text", "number", "name", "prose"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its title, what it holds, and how early it goes (0: never; higher goes earlier, equals go together)."""

    title: str
    kind: Kind = "text"
    drop: int = 0


@dataclass(slots=True)
class Table:
    """Rows under a header."""

    columns: Sequence[Column]
    title: str = ""
    rows: list[tuple[str, ...]] = field(default_factory=list)

    def add(self, *cells: str) -> None:
        """A row, with a text for each column."""
        assert len(cells) == len(self.columns)
        self.rows.append(cells)

    def print(self, screen: Screen) -> None:
        """Print it on a screen, between empty lines."""
        screen.line()
        if self.title:
            screen.say(self.title, style="italic")
        for number, line in enumerate(self.lines(screen.width)):
            screen.raw(Text(composed(line), style="bold" if number == 0 else "dim" if number == 1 else ""))
        screen.line()

    def lines(self, width: int) -> Iterator[str]:
        """Header, rule and rows, none of them wider than that."""
        shown, widths = self._layout(width)
        yield _line([self.columns[at].title for at in shown], widths, [self.columns[at].kind for at in shown])
        yield "─" * min(width, sum(widths) + GAP * (len(widths) - 1))
        for row in self.rows:
            yield from self._row([row[at] for at in shown], widths, [self.columns[at].kind for at in shown])

    def _row(self, cells: Sequence[str], widths: Sequence[int], kinds: Sequence[Kind]) -> Iterator[str]:
        parts = [
            wrapped(cell, wide) if kind == "prose" else [shortened(cell, wide)]
            for cell, wide, kind in zip(cells, widths, kinds, strict=True)
        ]
        for at in range(max(map(len, parts))):
            yield _line([part[at] if at < len(part) else "" for part in parts], widths, kinds)

    def _layout(self, width: int) -> tuple[list[int], list[int]]:
        """Which columns are shown, and how wide each is."""
        natural = [
            max(cell_len(column.title), *(cell_len(row[at]) for row in self.rows), 1)
            for at, column in enumerate(self.columns)
        ]
        shown = [at for at in range(len(self.columns)) if self._says_something(at)]
        while True:
            last = not any(self.columns[at].drop for at in shown)
            widths = self._fitted(shown, natural, width, LEAST if last else READABLE)
            if widths is not None:
                return shown, widths
            if last:
                # Even so it is too narrow: the widest go on giving, whatever they hold.
                return shown, _squeezed([natural[at] for at in shown], width)
            first = max(self.columns[at].drop for at in shown)
            shown = [at for at in shown if self.columns[at].drop != first]

    def _says_something(self, at: int) -> bool:
        """An empty column takes no room."""
        column = self.columns[at]
        return bool(column.title and not column.drop) or any(row[at] for row in self.rows)

    def _fitted(
        self, shown: Sequence[int], natural: Sequence[int], width: int, least: int
    ) -> list[int] | None:
        """Widths that fit, names and prose giving way; None where they cannot."""
        room = width - GAP * (len(shown) - 1)
        widths = {at: natural[at] for at in shown}
        for kind, smallest in (("prose", PROSE), ("name", least)):
            some = [at for at in shown if self.columns[at].kind == kind]
            while sum(widths.values()) > room:
                widest = max(some, key=lambda at: widths[at], default=None)
                if widest is None or widths[widest] <= max(smallest, cell_len(self.columns[widest].title)):
                    break
                widths[widest] -= 1
        return [widths[at] for at in shown] if sum(widths.values()) <= room else None


def _squeezed(widths: list[int], width: int) -> list[int]:
    room = max(len(widths), width - GAP * (len(widths) - 1))
    while sum(widths) > room:
        widths[widths.index(max(widths))] -= 1
    return widths


def _line(cells: Sequence[str], widths: Sequence[int], kinds: Sequence[Kind]) -> str:
    padded = []
    for cell, wide, kind in zip(cells, widths, kinds, strict=True):
        text = shortened(cell, wide)
        space = " " * (wide - cell_len(text))
        padded.append(space + text if kind == "number" else text + space)
    return (" " * GAP).join(padded).rstrip()
