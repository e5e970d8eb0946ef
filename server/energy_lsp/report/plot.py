"""Small drawings as SVG: points with intervals, and curves through them, on linear or logarithmic axes."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 70, 15, 15, 45
COLOURS = ("#2a78c8", "#d2691e", "#3a9a55", "#a04db0", "#c0392b", "#7a7a7a")
TICKS = 5


@dataclass(frozen=True, slots=True)
class Drawing:
    """A finished drawing."""

    svg: str


@dataclass(frozen=True, slots=True)
class PlotPoint:
    """A value with its interval, if one is known."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class PlotSeries:
    """Points of one kind and the curves that were fitted to them."""

    name: str
    points: Sequence[PlotPoint]
    curve: Sequence[tuple[float, float]] = field(default=())


def scatter(
    series: Sequence[PlotSeries],
    *,
    x_label: str,
    y_label: str,
    x_text: Callable[[float], str] = lambda value: f"{value:.3g}",
    y_text: Callable[[float], str] = lambda value: f"{value:.3g}",
    logarithmic: bool = False,
) -> Drawing:
    """Draw them; on logarithmic axes what is not above zero is left out."""
    drawn = [_visible(one, logarithmic=logarithmic) for one in series]
    xs = [point.x for one in drawn for point in one.points]
    ys = [end for one in drawn for point in one.points for end in (point.y, point.high or point.y)]
    if not xs:
        return Drawing(f'<svg viewBox="0 0 {WIDTH} {HEIGHT}"><text x="20" y="30">no points</text></svg>')
    across = _Axis(min(xs), max(xs), LEFT, WIDTH - RIGHT, logarithmic=logarithmic)
    up = _Axis(
        min(ys) if logarithmic else min(0.0, *ys), max(ys), HEIGHT - BOTTOM, TOP, logarithmic=logarithmic
    )
    parts = [_axes(across, up, x_label, y_label, x_text, y_text)]
    for number, one in enumerate(drawn):
        parts.append(_drawn(one, across, up, COLOURS[number % len(COLOURS)]))
        if len(drawn) > 1:
            y = TOP + 14 * (number + 1)
            parts.append(_text(one.name, LEFT + 12, y, fill=COLOURS[number % len(COLOURS)]))
    return Drawing(f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img">{"".join(parts)}</svg>')


class _Axis:
    """Places on the drawing for values."""

    def __init__(self, low: float, high: float, start: float, end: float, *, logarithmic: bool) -> None:
        self.logarithmic = logarithmic
        self.low, self.high = (math.log10(low), math.log10(high)) if logarithmic else (low, high)
        if self.high - self.low < 1e-12 * max(abs(self.high), 1.0):
            self.low, self.high = self.low - 0.5, self.high + 0.5
        self.start, self.end = start, end

    def place(self, value: float) -> float:
        position = math.log10(value) if self.logarithmic else value
        return self.start + (position - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self) -> list[float]:
        step = (self.high - self.low) / (TICKS - 1)
        places = [self.low + step * number for number in range(TICKS)]
        return [10**place for place in places] if self.logarithmic else places


def _visible(series: PlotSeries, *, logarithmic: bool) -> PlotSeries:
    if not logarithmic:
        return series
    points = [point for point in series.points if point.x > 0 and point.y > 0]
    curve = [(x, y) for x, y in series.curve if x > 0 and y > 0]
    return PlotSeries(series.name, points, curve)


def _axes(
    across: _Axis,
    up: _Axis,
    x_label: str,
    y_label: str,
    x_text: Callable[[float], str],
    y_text: Callable[[float], str],
) -> str:
    parts = [
        f'<path d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}" fill="none" stroke="currentColor" opacity=".4"/>'
    ]
    for tick in across.ticks():
        parts.append(_text(x_text(tick), across.place(tick), HEIGHT - BOTTOM + 16, anchor="middle"))
    for tick in up.ticks():
        parts.append(_text(y_text(tick), LEFT - 6, up.place(tick) + 4, anchor="end"))
    parts.append(_text(x_label, (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, anchor="middle"))
    turned = f'transform="rotate(-90 14 {HEIGHT / 2:.0f})"'
    parts.append(_text(y_label, 14, HEIGHT / 2, anchor="middle", more=turned))
    return "".join(parts)


def _drawn(series: PlotSeries, across: _Axis, up: _Axis, colour: str) -> str:
    parts = []
    if len(series.curve) > 1:
        places = " ".join(f"{across.place(x):.1f},{up.place(y):.1f}" for x, y in series.curve)
        parts.append(f'<polyline points="{places}" fill="none" stroke="{colour}" opacity=".6"/>')
    for point in series.points:
        x = across.place(point.x)
        if point.low is not None and point.high is not None and (point.low > 0 or not up.logarithmic):
            low, high = up.place(point.low), up.place(point.high)
            parts.append(f'<path d="M{x:.1f} {low:.1f}V{high:.1f}" stroke="{colour}" opacity=".5"/>')
        parts.append(f'<circle cx="{x:.1f}" cy="{up.place(point.y):.1f}" r="3" fill="{colour}"/>')
    return "".join(parts)


def _text(
    text: str, x: float, y: float, *, anchor: str = "start", fill: str = "currentColor", more: str = ""
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="11" text-anchor="{anchor}" fill="{fill}" {more}>'
        f"{html.escape(text)}</text>"
    )
