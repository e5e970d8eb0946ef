"""The page of a study of frameworks: what each model took with each framework, in training and inference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from energy_lsp.presentation.notation.units import fine_percent, joules
from energy_lsp.report.summary_page import SummaryPage

if TYPE_CHECKING:
    from energy_measure.comparison.effects import Effect, Spread
    from energy_measure.comparison.hot_functions import HotFunction
    from energy_measure.comparison.programs import ComparedPrograms
    from energy_measure.comparison.study import Study, StudyCell


def write_study_report(path: Path, study: Study, cells: Sequence[StudyCell]) -> None:
    """Write the page."""
    page = SummaryPage(f"Do frameworks differ? {study.name}")
    known = [cell.compared for cell in cells if cell.compared is not None]
    if known:
        kind = ", estimated from CPU time: no energy sensor was read" if known[0].estimated else ""
        page.text(f"{study.pairs} pairs each, meter {known[0].meter}{kind}, on {known[0].machine}.")
        page.text(
            "Net energy of whole runs, and of phases where both programs have them. Wilcoxon's signed-rank test on pairs,",
            "with Holm's correction over all tests of the study. Magnitudes are those of Cliff's δ and of A12.",
        )
    for cell in cells:
        page.heading(f"{cell.model}: {cell.before} and {cell.after}")
        if cell.compared is None:
            page.text(f"Not compared: {cell.problem}")
        else:
            _add_cell(page, cell, cell.compared)
    page.write(path)


def _add_cell(page: SummaryPage, cell: StudyCell, found: ComparedPrograms) -> None:
    page.table(
        [
            "",
            *(f"{side}, {what}" for side in (cell.before, cell.after) for what in ("median (95%)", "mean")),
            *("p (Holm)", "Cliff's δ", "A12"),
        ],
        (_row(effect) for effect in found.effects.respects),
        numbers=range(1, 8),
    )
    for name, numbers, rho in zip(
        (cell.before, cell.after),
        found.metrics,
        (found.effects.spearman_before, found.effects.spearman_after),
        strict=True,
    ):
        printed = ", ".join(f"{key} {value:g}" for key, value in numbers.items()) or "no numbers"
        goes = "" if rho is None else f" Spearman's correlation of energy and time: {rho:.2f}."
        page.text(f"{name} printed: {printed}.{goes}")
    for name, functions in zip((cell.before, cell.after), found.hot_functions or (), strict=False):
        page.text(
            f"Hot functions of {name}, by their own share of CPU time in one profiled run that was not metered:"
        )
        page.table(["share", "function", "place", "calls"], map(_function, functions), numbers=(0, 3))


def _row(effect: Effect) -> list[str]:
    text = joules if effect.unit == "J" else _seconds
    sides = [
        cell for side in (effect.before, effect.after) for cell in (_spread(side, text), text(side.mean))
    ]
    p = "< 0.0001" if effect.p_holm < 0.0001 else f"{effect.p_holm:.2g}"
    return [
        effect.name,
        *sides,
        p,
        f"{effect.cliffs_delta:+.2f} ({effect.magnitude})",
        f"{effect.a12:.2f} ({effect.a12_magnitude})",
    ]


def _spread(side: Spread, text: Callable[[float], str]) -> str:
    return f"{text(side.median)} ({text(side.interval.low)} to {text(side.interval.high)})"


def _seconds(value: float) -> str:
    return f"{value:.3g} s"


def _function(one: HotFunction) -> list[str]:
    return [
        fine_percent(one.share),
        one.name,
        f"{one.file}:{one.line}" if one.file else "compiled in",
        f"{one.calls:,}",
    ]
