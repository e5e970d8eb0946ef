"""Layers in the editor: what each had of the calls that use it, at the line where it is created.

Lines are those of the measured text. After an edit a figure follows its line by the line's text; a line that is changed or
gone has none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from energy_lsp.presentation.markup import Markup
from energy_lsp.presentation.units import bar, joules

if TYPE_CHECKING:
    from energy_data.database.inside import CallParts, FileInside
    from energy_data.model import Part
    from energy_lsp.presentation.hints import Hint

COSTLIEST = 5
PASSES = ("forward", "backward", "optimizer", "loss", "input", "runtime")


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


@dataclass(frozen=True, slots=True)
class FileLayers:
    """The inside of one text: layers by the row (from 0) that creates them, calls by the row that they stand in."""

    estimated: bool
    note: str
    created: Mapping[int, Sequence[LayerUse]]
    """The costliest use first."""
    calls: Mapping[int, Sequence[CallParts]]
    rows: Mapping[int, int]
    """Where the measured lines (from 1) are now (from 0)."""


def file_layers(inside: FileInside, file: str, text: Sequence[str]) -> FileLayers:
    """Bring what was measured to the lines of a text as it is now."""
    rows = moved_lines(inside.lines, text)
    created: dict[int, list[LayerUse]] = {}
    calls: dict[int, list[CallParts]] = {}
    for call in inside.calls:
        if call.file == file and call.line in rows:
            calls.setdefault(rows[call.line], []).append(call)
        by_line: dict[int, list[Part]] = {}
        for part in call.parts:
            if part.file == file and part.line in rows and part.direction in ("forward", "backward"):
                by_line.setdefault(part.line, []).append(part)
        for line, parts in by_line.items():
            created.setdefault(rows[line], []).append(LayerUse(call, parts))
    for uses in created.values():
        uses.sort(key=lambda use: -use.joules)
    return FileLayers(inside.estimated, inside.note, created, calls, rows)


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


def creates(hint: Hint, uses: Sequence[LayerUse]) -> bool:
    """Whether a call makes one of the layers of its line."""
    name = hint.call.api.rpartition(".")[2]
    return any(part.kind == name for use in uses for part in use.parts) or name in (
        "Bidirectional",
        "TimeDistributed",
    )


def layer_label(uses: Sequence[LayerUse], estimated: bool) -> str:
    """What fits behind the line that creates a layer: `⚡ 1.10 J · 34% of fit, line 46`."""
    first = uses[0]
    name = first.call.api.rpartition(".")[2]
    more = f" +{len(uses) - 1}" if len(uses) > 1 else ""
    amount = f"≈ {joules(first.joules)} (est.)" if estimated else joules(first.joules)
    return f"⚡ {amount} · {first.share:.0%} of {name}, line {first.call.line}{more}"


def layer_lines(uses: Sequence[LayerUse], markup: Markup) -> list[str]:
    """The paragraphs of a hover on a line that creates layers."""
    paragraphs = []
    for use in uses[:COSTLIEST]:
        name = use.call.api.rpartition(".")[2]
        kinds = sorted({part.kind for part in use.parts})
        paths = list(dict.fromkeys(part.path for part in use.parts))
        head = f"⚡ {markup.text(joules(use.joules))} · {use.share:.0%} of {markup.code(name)}"
        text = f"{markup.bold(head)} {markup.text(f'({use.call.file}, line {use.call.line})')}"
        bars = [
            f"{direction:9}{bar(use.of(direction) / use.joules if use.joules else 0.0)} {joules(use.of(direction))}"
            for direction in ("forward", "backward")
            if use.of(direction) > 0.0
        ]
        called = sorted({f"{part.called_file}:{part.called_line}" for part in use.parts if part.called_line})
        shown = ", ".join(markup.code(path) for path in paths[:COSTLIEST])
        more = f" and {len(paths) - COSTLIEST} more" if len(paths) > COSTLIEST else ""
        where = f"; called at {markup.text(', '.join(called[:3]))}" if called else ""
        paragraphs += [text, markup.block(bars), f"{markup.text(', '.join(kinds))}: {shown}{more}{where}"]
    paragraphs.append(markup.text("Apportioned among the operations that ran, not metered by layer."))
    return paragraphs


def call_lines(call: CallParts, file: str, uri: str, rows: Mapping[int, int], markup: Markup) -> list[str]:
    """The paragraphs of a hover on `fit` and its like: its costliest layers, and its passes."""
    layers: dict[str, list[Part]] = {}
    for part in call.parts:
        if part.direction in ("forward", "backward"):
            layers.setdefault(part.path, []).append(part)
    ranked = sorted(layers.items(), key=lambda item: -sum(part.joules for part in item[1]))[:COSTLIEST]
    total = call.joules or 1.0
    table = []
    for path, parts in ranked:
        own = sum(part.joules for part in parts)
        table.append(
            f"{bar(own / total)} {own / total:4.0%}  {joules(own):>8}  {_shortened(path)}{_at(parts[0])}"
        )
    passes = {name: sum(part.joules for part in call.parts if part.direction == name) for name in PASSES}
    table += [
        f"{bar(own / total)} {own / total:4.0%}  {joules(own):>8}  {name}"
        for name, own in passes.items()
        if own > 0.0
    ]
    links = [
        markup.file_link(f"line {part.line}", uri, rows[part.line])
        for _, parts in ranked
        for part in parts[:1]
        if part.file == file and part.line in rows
    ]
    found = ["Inside, layers and then passes, apportioned:", markup.block(table)]
    if links:
        found.append("Layers: " + " · ".join(dict.fromkeys(links)))
    return found


def _at(part: Part) -> str:
    return f"  ({part.file}:{part.line})" if part.line else ""


def _shortened(path: str, most: int = 48) -> str:
    """The end of a path says more than its beginning; nothing that a terminal or an editor would act on."""
    plain = " ".join("".join(c if c.isprintable() else " " for c in path).split())
    return plain if len(plain) <= most else "…" + plain[-most + 1 :]
