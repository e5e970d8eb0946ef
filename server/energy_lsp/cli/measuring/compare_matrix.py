"""`energy-lsp compare --matrix`: a study of frameworks to one page and one table."""

from __future__ import annotations

import csv
import io
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from energy_data.problems import Problem
from energy_data.untrusted.printable import json_text, visible
from energy_data.untrusted.writing import write_file
from energy_lsp.cli.measuring.compared import effect_json, hot_functions_json
from energy_lsp.terminal.countdown import Countdown
from energy_lsp.terminal.echo import echo, say

if TYPE_CHECKING:
    from energy_measure.comparison.study import Study, StudyCell

COLUMNS = (
    "model", "before", "after", "respect", "unit", "pairs",
    "before_mean", "before_median", "before_low", "before_high",
    "after_mean", "after_median", "after_low", "after_high",
    "p", "p_holm", "a12", "a12_magnitude", "cliffs_delta", "magnitude", "meter", "estimated", "machine",
)  # fmt: skip
"""Of the table; low and high are the ends of the median's 95% interval."""


def compare_matrix(path: Path, html: Path | None, table: Path | None, *, form: str, wait: bool) -> None:
    """Run a study, write its page and its table, and say what came out; status 1 where a part failed."""
    from energy_lsp.report.study import write_study_report
    from energy_measure.comparison.study import read_study, run_study

    study = read_study(path)
    signal.signal(signal.SIGTERM, _interrupt)  # hours of measuring are not for nothing
    with Countdown() as countdown:
        cells = run_study(
            study, progress=countdown.tell, wait=wait, on_wait=lambda sentence: say(sentence, err=True)
        )
    page, rows = html or path.with_suffix(".html"), table or path.with_suffix(".csv")
    write_study_report(page, study, cells)
    try:
        write_file(rows, as_csv(cells))
    except OSError as error:
        raise Problem(
            f"{rows} cannot be written ({error.strerror}): name another file with --csv."
        ) from error
    if form == "json":
        echo(json_text(as_json(study, cells), indent=2))
    else:
        print_study(cells)
    echo(f"Page: {visible(page)}\nTable: {visible(rows)}", err=True)
    sys.exit(1 if any(cell.problem for cell in cells) else 0)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def as_json(study: Study, cells: Sequence[StudyCell]) -> dict[str, Any]:
    """As `--format json` prints it."""
    return {"study": study.name, "pairs": study.pairs, "comparisons": [_cell_json(cell) for cell in cells]}


def _cell_json(cell: StudyCell) -> dict[str, Any]:
    names = {"model": cell.model, "before": cell.before, "after": cell.after}
    found = cell.compared
    if found is None:
        return {**names, "problem": cell.problem}
    hot = found.hot_functions
    return {
        **names,
        "problem": None,
        "ratio": found.comparison.ratio,
        "interval": {"low": found.comparison.low, "high": found.comparison.high},
        "differs": found.comparison.differs,
        "metrics": {"before": found.metrics[0], "after": found.metrics[1]},
        "effects": [effect_json(effect) for effect in found.effects.respects],
        "spearman_energy_time": {
            "before": found.effects.spearman_before,
            "after": found.effects.spearman_after,
        },
        "hot_functions": hot and {"before": hot_functions_json(hot[0]), "after": hot_functions_json(hot[1])},
        "meter": found.meter,
        "estimated": found.estimated,
        "machine": found.machine,
    }


def as_csv(cells: Sequence[StudyCell]) -> str:
    """One row a respect."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for cell in cells:
        if (found := cell.compared) is None:
            continue
        for one in found.effects.respects:
            spreads = [
                number
                for side in (one.before, one.after)
                for number in (side.mean, side.median, side.interval.low, side.interval.high)
            ]
            names = [_cell(text) for text in (cell.model, cell.before, cell.after, one.name)]
            writer.writerow(
                [*names, one.unit, found.comparison.pairs, *spreads, one.p_value, one.p_holm, one.a12,
                 one.a12_magnitude, one.cliffs_delta, one.magnitude, found.meter, found.estimated, _cell(found.machine)]
            )  # fmt: skip
    return text.getvalue()


def _cell(text: str) -> str:
    """Text that a spreadsheet does not take for a formula."""
    shown = visible(text)
    return f"'{shown}" if shown[:1] in ("=", "+", "-", "@") else shown


def print_study(cells: Sequence[StudyCell]) -> None:
    """Energy of each run and phase, with how sure and how large the difference is."""
    # Only for people: JSON needs no screen.
    from energy_lsp.terminal.console import Screen
    from energy_lsp.terminal.table import Column, Table

    screen = Screen()
    for cell in cells:
        screen.say(f"{visible(cell.model)}: {visible(cell.before)} and {visible(cell.after)}")
        if cell.compared is None:
            screen.say(f"not compared: {visible(cell.problem)}", indent="    ")
            screen.line()
            continue
        before, after = visible(cell.before), visible(cell.after)
        table = Table(
            [
                Column("", "name"),
                Column(before, "number"),
                Column(after, "number"),
                Column("p (Holm)", "number", drop=1),
                Column("difference"),
            ]
        )
        for one in cell.compared.effects.respects:
            table.add(
                visible(one.name),
                f"{one.before.median:.3g} {one.unit}",
                f"{one.after.median:.3g} {one.unit}",
                f"{one.p_holm:.2g}",
                one.magnitude if one.p_holm < 0.05 else "none shown",
            )
        table.print(screen)
    known = [cell.compared for cell in cells if cell.compared is not None]
    if known:
        kind = ", estimated from CPU time" if known[0].estimated else ""
        screen.say(
            f"Medians of a run, energy net of the idle machine; meter {visible(known[0].meter)}{kind}; "
            "Holm's correction over the whole study."
        )
