"""The report of tuning: what was tried, and what trade-offs cost in results (the Pareto front)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from energy_lsp.presentation.notation.units import duration, joules
from energy_lsp.report.plot import Drawing, PlotPoint, PlotSeries, scatter
from energy_lsp.report.summary_page import SummaryPage
from energy_lsp.terminal.tune_table import RESULT_WORDS

if TYPE_CHECKING:
    from energy_measure.tuning.session import TuneResult

WANTED = ("val_accuracy", "accuracy", "val_loss", "evaluated loss", "loss")
"""What results are judged by, the first of them that there is."""
MORE_IS_BETTER = ("acc", "auc", "precision", "recall", "f1", "reward", "r2")


def write_tune_report(path: Path, program: str, result: TuneResult) -> None:
    """Write the page."""
    outcome = result.as_json()
    page = SummaryPage(f"Tuning {program}")
    kind = ", estimated from CPU time: no energy sensor was read" if outcome["estimated"] else ""
    before = outcome["before"]
    page.text(
        f"As it is: {joules(before['joules'])}, {duration(before['seconds'])} a run, meter {outcome['meter']}{kind}, "
        f"on {outcome['machine']}."
    )
    if outcome["after"] is not None:
        part = 1 - outcome["after"]["joules"] / before["joules"]
        page.text(f"With the patch: {joules(outcome['after']['joules'])}, −{part:.0%}.")
    header = ["candidate", "place", "saves a run", "share", "results", "verdict", "note"]
    page.table(header, [_row(one) for one in outcome["candidates"]], numbers=(2, 3))
    name = metric_of(outcome["candidates"])
    if name is not None:
        page.heading("Results against energy")
        front = pareto(points_of(outcome, name), more=is_better_when_more(name))
        page.text(
            f"{name} against joules of one run. On the front, where nothing is both cheaper and better: "
            f"{', '.join(label for label, _, _ in front)}."
        )
        page.drawing(
            _plot(outcome, name, front), f"Each point is the mean over the confirming runs of {name}."
        )
    if outcome["patch"]:
        page.heading("Patch")
        page.table(["for git apply"], [[line] for line in outcome["patch"].splitlines()])
    page.write(path)


def _row(one: dict[str, Any]) -> list[str]:
    place = one["place"]
    saved = joules(one["saved_joules"]) if one["saved_joules"] is not None else ""
    share = f"{one['share']:.0%}" if one["share"] is not None else ""
    return [one["name"], place, saved, share, RESULT_WORDS[one["results"]], one["verdict"], one["note"]]


def metric_of(candidates: Sequence[dict[str, Any]]) -> str | None:
    """The metric that all confirmed candidates have; None without one."""
    known = [one["metrics"] for one in candidates if one["metrics"]]
    names = (
        [name for name in known[0]["before"] if all(name in one["after"] for one in known)] if known else []
    )
    return next((name for name in (*WANTED, *names) if name in names), None)


def is_better_when_more(name: str) -> bool:
    """Of a metric by its name; losses and errors are better when less."""
    return any(word in name.lower() for word in MORE_IS_BETTER)


def points_of(outcome: dict[str, Any], name: str) -> list[tuple[str, float, float]]:
    """Label, joules of one run and metric: of the program, and of each candidate that was confirmed."""
    tried = [one for one in outcome["candidates"] if one["metrics"] and one["saved_joules"] is not None]
    points = [
        (one["name"], outcome["before"]["joules"] - one["saved_joules"], one["metrics"]["after"][name])
        for one in tried
    ]
    first = tried[0]["metrics"]["before"].get(name) if tried else None
    return points if first is None else [("as it is", outcome["before"]["joules"], first), *points]


def pareto(points: Sequence[tuple[str, float, float]], *, more: bool) -> list[tuple[str, float, float]]:
    """Those that no other beats in both energy and results, the cheapest first."""
    sign = -1.0 if more else 1.0

    def beaten(one: tuple[str, float, float]) -> bool:
        return any(
            other[1] <= one[1]
            and sign * other[2] <= sign * one[2]
            and (other[1] < one[1] or sign * other[2] < sign * one[2])
            for other in points
        )

    return sorted((one for one in points if not beaten(one)), key=lambda one: one[1])


def _plot(outcome: dict[str, Any], name: str, front: Sequence[tuple[str, float, float]]) -> Drawing:
    series = [
        PlotSeries(label, [PlotPoint(energy, metric)]) for label, energy, metric in points_of(outcome, name)
    ]
    series.append(PlotSeries("front", [], [(energy, metric) for _, energy, metric in front]))
    return scatter(series, x_label="net energy of a run", y_label=name, x_text=joules)
