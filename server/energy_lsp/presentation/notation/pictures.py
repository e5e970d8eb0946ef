"""Small pictures for pages of Markdown: SVG with words of ours and numbers alone, as the address of an image.

Pages are read on light and dark paper; the colours are of middle brightness, for both.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple
from xml.sax.saxutils import escape

from energy_lsp.presentation.notation.units import joules, number

if TYPE_CHECKING:
    from energy_data.model import RuleEvidence

INK, BEFORE, AFTER, WORSE = "#8a8a8a", "#9aa5b1", "#2f9e6e", "#d9822b"
WIDTH = 640
ROW = 46
LEFT, RIGHT = 150, 120


class HistoryPoint(NamedTuple):
    """One run in a history."""

    joules: float
    label: str
    """Its commit, or its day."""
    estimated: bool


def evidence_picture(evidence: Sequence[RuleEvidence]) -> str:
    """Before and after by size, each pair on its own scale: a bar for each, and the interval of the second."""
    room = WIDTH - LEFT - RIGHT
    most = max([1.0, *(min(one.high, 3.0) for one in evidence)])
    parts = []
    for place, one in enumerate(evidence):
        top = place * ROW + 4
        colour = INK if not one.differs else AFTER if one.ratio < 1 else WORSE
        ratio, low, high = (min(value, most) / most * room for value in (one.ratio, one.low, one.high))
        middle = top + 25
        parts += [
            _text(LEFT - 8, top + 15, f"{one.size}, {one.mode}", "end"),
            _box(LEFT, top, room / most, 14, BEFORE),
            _text(LEFT + room / most + 6, top + 11, f"before {joules(one.joules_before)}"),
            _box(LEFT, top + 18, ratio, 14, colour),
            f'<path d="M{LEFT + low:.1f} {middle}H{LEFT + high:.1f}" stroke="{INK}" stroke-width="2"/>',
            _text(LEFT + max(ratio, high) + 6, top + 29, f"after × {number(one.ratio, 2)}"),
        ]
    return _image("Energy before and after, by size", len(evidence) * ROW + 8, parts)


def history_picture(points: Sequence[HistoryPoint]) -> str:
    """Joules of one run after the other, the oldest first."""
    height, bottom = 200, 150
    room = WIDTH - 2 * 60
    most = max([point.joules for point in points] or [1.0]) or 1.0
    step = room / max(1, len(points) - 1)
    places = [
        (60 + place * step, bottom - point.joules / most * (bottom - 30))
        for place, point in enumerate(points)
    ]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    parts = [
        f'<path d="M60 {bottom}H{WIDTH - 60}" stroke="{INK}" stroke-width="1"/>',
        f'<polyline points="{line}" fill="none" stroke="{AFTER}" stroke-width="2"/>',
        _text(54, 34, joules(most), "end"),
        _text(54, bottom + 4, "0 J", "end"),
    ]
    labelled = max(1, len(points) // 6)
    for place, ((x, y), point) in enumerate(zip(places, points, strict=True)):
        filled = "none" if point.estimated else AFTER
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{filled}" stroke="{AFTER}" stroke-width="2"/>'
        )
        if place % labelled == 0 or place == len(points) - 1:
            parts.append(_text(x, bottom + 18 + 14 * (place // labelled % 2), point.label, "middle"))
    return _image("Joules of one run, by run", height, parts)


def _box(x: float, y: float, width: float, height: float, colour: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(1.0, width):.1f}" height="{height}" fill="{colour}" rx="2"/>'


def _text(x: float, y: float, content: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(content)}</text>'


def _image(title: str, height: int, parts: Sequence[str]) -> str:
    """The picture in Markdown, with its title for those who cannot see it."""
    drawn = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        f'font-family="sans-serif" font-size="12" fill="{INK}" role="img"><title>{title}</title>{"".join(parts)}</svg>'
    )
    return f"![{title}](data:image/svg+xml;base64,{base64.b64encode(drawn.encode()).decode()})"
