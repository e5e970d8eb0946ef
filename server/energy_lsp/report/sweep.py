"""The report of a sweep: a plot for each call, with the curve that its points speak for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from energy_lsp.presentation.notation.units import joules
from energy_lsp.report.plot import Drawing, PlotPoint, PlotSeries, scatter
from energy_lsp.report.summary_page import SummaryPage

if TYPE_CHECKING:
    from energy_measure.sweep.run import Curve, Swept

CURVE_POINTS = 60
MOST_PLOTS = 40


def write_sweep_report(path: Path, program: str, swept: Swept) -> None:
    """Write the page."""
    page = SummaryPage(f"Energy against size: {program}")
    kind = ", estimated from CPU time: no energy sensor was read" if swept.estimated else ""
    page.text(f"{len(swept.points)} points, meter {swept.meter}{kind}, on {swept.machine}.")
    for curve in [one for one in swept.curves if one.samples][:MOST_PLOTS]:
        page.heading(curve.name)
        page.text(*_sentences(curve))
        page.drawing(_plot(curve), f"Net joules against {curve.against}; lines are 95% intervals.")
        if curve.fits:
            page.table(
                ["curve", "formula", "typical error"],
                ([fit.kind, fit.formula, f"{fit.error:.1%}"] for fit in curve.fits),
                numbers=(2,),
            )
    page.write(path)


def _sentences(curve: Curve) -> list[str]:
    lines = []
    if curve.best:
        lines.append(f"Best described by a {curve.best.kind} curve: {curve.best.formula}.")
    if curve.correlation:
        seen = curve.correlation
        lines.append(
            f"Pearson's correlation {seen.pearson:.2f} (95% {seen.low:.2f} to {seen.high:.2f}), "
            f"Spearman's {seen.spearman:.2f} (p = {seen.p_value:.2g}), {seen.points} points."
        )
    if curve.unresolved:
        lines.append(f"At {curve.unresolved} points the meter could not tell it from nothing.")
    return lines


def _plot(curve: Curve) -> Drawing:
    points = [PlotPoint(sample.size, sample.joules, sample.low, sample.high) for sample in curve.samples]
    sizes = [sample.size for sample in curve.samples]
    low, high = min(sizes), max(sizes)
    wide = low > 0 and high / low >= 10
    line: list[tuple[float, float]] = []
    if curve.best and high > low:
        for number in range(CURVE_POINTS + 1):
            part = number / CURVE_POINTS
            size = low * (high / low) ** part if wide else low + (high - low) * part
            line.append((size, curve.best.at(size)))
    series = [PlotSeries(curve.name, points, line)]
    return scatter(series, x_label=curve.against, y_label="net energy", y_text=joules, logarithmic=wide)
