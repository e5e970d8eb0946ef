"""Layers in the editor: what each had of the calls that use it, at the line where it is created.

Lines are those of the measured text. After an edit a figure follows its line by the line's text; a line that is changed or
gone has none.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from energy_data.database.inside import CallParts, FileInside
    from energy_data.model import Part


class Row(NamedTuple):
    """A line of a text as it is now."""

    uri: str
    row: int
    """Counted from 0."""
    cell: int = 0
    """In a notebook: the cell, counted from 1."""

    @property
    def label(self) -> str:
        """How a person finds it."""
        return f"cell {self.cell}, line {self.row + 1}" if self.cell else f"line {self.row + 1}"


@dataclass(frozen=True, slots=True)
class LayerUse:
    """What the layers created at one line had of one call."""

    call: CallParts
    parts: Sequence[Part]

    @property
    def joules(self) -> float:
        """Of all passes, in one run."""
        return sum(part.joules for part in self.parts)

    @property
    def share(self) -> float:
        """Of the call."""
        return self.joules / self.call.joules if self.call.joules > 0.0 else 0.0

    def of(self, direction: str) -> float:
        """Joules of one pass."""
        return sum(part.joules for part in self.parts if part.direction == direction)


class FusedLayer(NamedTuple):
    """A layer whose operations run as part of another one's."""

    path: str
    into: Part


@dataclass(frozen=True, slots=True)
class FileLayers:
    """The inside of one text: layers by the row (from 0) that creates them, calls by the row that they stand in."""

    estimated: bool
    note: str
    file: str
    """Its name in the database."""
    created: Mapping[int, Sequence[LayerUse]]
    """The costliest use first."""
    calls: Mapping[int, Sequence[CallParts]]
    rows: Mapping[int, Row]
    """Where the measured lines (from 1) of this file are now."""
    fused: Mapping[int, Sequence[FusedLayer]]
    """By the row that creates them: layers that TensorFlow runs as part of others."""

    def speaks_of(self, row: int) -> bool:
        """Whether something is known of layers that a row creates."""
        return row in self.created or row in self.fused

    def place(self, file: str, line: int) -> Row | None:
        """Where a measured line of this file is now; None for one of another file, and for one that was changed."""
        return self.rows.get(line) if file == self.file else None


class NotebookLayers:
    """The inside of a notebook: measured lines count through all of its code cells."""

    def __init__(
        self,
        inside: FileInside,
        file: str,
        text: Sequence[str],
        cells: Sequence[tuple[str, int, int]],
    ) -> None:
        """A cell: its URI, its number, and the row at which it begins in the text of all."""
        self._inside, self._file, self._text = inside, file, text
        self._cells = cells
        self._starts = [start for _, _, start in cells]
        self._whole: FileLayers | None = None

    def _all_cells(self) -> FileLayers:
        if self._whole is None:
            whole = file_layers(self._inside, self._file, "", self._text)
            rows = {line: self._in_cell(row.row) for line, row in whole.rows.items()}
            self._whole = replace(whole, rows=rows)
        return self._whole

    def _in_cell(self, row: int) -> Row:
        uri, number, start = self._cells[max(0, bisect_right(self._starts, row) - 1)]
        return Row(uri, row - start, number)

    def of_cell(self, place: int) -> FileLayers:
        """What stands in one cell, by the cell's own rows."""
        start, *after = self._starts[place:]
        end = after[0] if after else len(self._text) + 1
        whole = self._all_cells()
        return replace(
            whole,
            created={row - start: uses for row, uses in whole.created.items() if start <= row < end},
            calls={row - start: calls for row, calls in whole.calls.items() if start <= row < end},
            fused={row - start: fused for row, fused in whole.fused.items() if start <= row < end},
        )


def file_layers(inside: FileInside, file: str, uri: str, text: Sequence[str]) -> FileLayers:
    """Bring what was measured to the lines of a text as it is now."""
    rows = moved_lines(inside.lines, text)
    created: dict[int, list[LayerUse]] = {}
    calls: dict[int, list[CallParts]] = {}
    fused: dict[int, list[FusedLayer]] = {}
    for call in inside.calls:
        if call.file == file and call.line in rows:
            calls.setdefault(rows[call.line], []).append(call)
        by_line: dict[int, list[Part]] = {}
        for part in call.parts:
            if part.file == file and part.line in rows and part.direction in ("forward", "backward"):
                by_line.setdefault(part.line, []).append(part)
            for path, at, line in part.fused:
                if at == file and line in rows:
                    fused.setdefault(rows[line], []).append(FusedLayer(path, part))
        for line, parts in by_line.items():
            created.setdefault(rows[line], []).append(LayerUse(call, parts))
    for uses in created.values():
        uses.sort(key=lambda use: -use.joules)
    places = {line: Row(uri, row) for line, row in rows.items()}
    return FileLayers(inside.estimated, inside.note, file, created, calls, places, fused)


def moved_lines(measured: Mapping[int, str], text: Sequence[str]) -> dict[int, int]:
    """The row at which each measured line stands now: the nearest with the same text, none where there is none.

    Lines stay in their order, so that of two that look alike the first stays the first.
    """
    places: dict[str, list[int]] = {}
    wanted = set(measured.values())
    for row, content in enumerate(text):
        stripped = content.strip()
        if stripped in wanted:
            places.setdefault(stripped, []).append(row)
    found: dict[int, int] = {}
    alike: dict[str, list[int]] = {}
    for line in sorted(measured):
        alike.setdefault(measured[line], []).append(line)
    for wording, lines in alike.items():
        rows = places.get(wording, [])
        if len(rows) == len(lines):
            found.update(zip(lines, rows, strict=True))
            continue
        free = list(rows)
        for line in lines:
            nearest = min(free, key=lambda row: abs(row - line + 1), default=None)
            if nearest is not None:
                found[line] = nearest
                free = [row for row in free if row > nearest]
    return found
