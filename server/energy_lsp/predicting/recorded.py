"""What runs saw at the calls of a file, as it stands now: their figures, and the shapes they were given."""

from __future__ import annotations

from collections.abc import Iterable

from energy_code.analysis.analysis import Analysis
from energy_code.analysis.call_text import call_text
from energy_code.model import Call
from energy_data.database.store import EnergyStore
from energy_data.model import Figure
from energy_lsp.predicting.shapes import place_of
from energy_lsp.presentation.figures.matching import Matching, WrittenCall
from energy_lsp.presentation.figures.own_steps import own_steps

Recorded = dict[tuple[int, int], tuple[str, ...]]
"""Shapes by line and column (bytes) of a call."""


def site_figures(store: EnergyStore, analysis: Analysis, file: str) -> dict[int, Figure]:
    """What was measured at the calls of a file, by their numbers; `file`: its name in the database."""
    sites = [site for site in store.sites(file) if site.figure.kind == "api"]
    written = []
    for number, call in enumerate(analysis.calls() if sites else ()):
        row, column = analysis.lines.position(call.span.start_byte, "utf-32")
        text = call_text(analysis.source[call.span.start_byte : call.span.end_byte])
        written.append(WrittenCall(number, call.api, call.function, text, row + 1, column + 1))
    return Matching(written, sites).figures


def step_figures(store: EnergyStore, analysis: Analysis, file: str) -> dict[int, Figure]:
    """What was measured at calls of the program's own compiled functions, by the byte where each begins."""
    sites = [site for site in store.sites(file) if site.figure.kind == "compiled"]
    return {step.call.span.start_byte: step.figure for step in own_steps(analysis, sites)} if sites else {}


def recorded_shapes(measured: Iterable[tuple[Call, Figure | None]]) -> Recorded:
    """The shapes that a run saw at calls that were not edited since."""
    return {
        place_of(call)[:2]: figure.shapes
        for call, figure in measured
        if figure is not None and figure.origin == "site" and figure.shapes and not figure.edited
    }
