"""`energy-lsp sweep`: energy against size."""

from __future__ import annotations

import math
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from energy_data.untrusted.printable import json_text, visible
from energy_lsp.cli.options import Finite
from energy_lsp.cli.source_path import SourcePath
from energy_lsp.presentation.notation.markup import Plain
from energy_lsp.terminal.echo import echo, say, warn

if TYPE_CHECKING:
    from energy_measure.sweep.fits import Fit
    from energy_measure.sweep.run import Curve, Swept

SHOWN = 20
INTERRUPTED = 130


@click.command()
@click.argument("script", type=SourcePath(exists=True, dir_okay=False, path_type=Path))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--vary",
    multiple=True,
    metavar="NAME=VALUES",
    help="name=1,2,4 for the program's option --name; NAME=1,2,4 for an environment variable; 1..64 doubles. "
    "May be repeated: all combinations are measured.",
)
@click.option(
    "--shrink",
    metavar="data[=PARTS]",
    help="Give the program a part of its data at each point: data=1/8,1/4,1/2,1, which is also what data alone means.",
)
@click.option("--repeat", type=click.IntRange(min=1), help="Runs at each point.  [default: 5]")
@click.option("--quick", is_flag=True, default=None, help="One run a point, short rests: a first look.")
@click.option("--python", metavar="PYTHON", help="Interpreter to run with. Default: the project's own.")
@click.option("--meter", metavar="auto|NAME", help="Meter to read; see `energy-lsp doctor`. [default: auto]")
@click.option("--timeout", type=Finite(min=0), metavar="S", help="Longest that one run may take.")
@click.option(
    "--db", "database", type=click.Path(dir_okay=False, path_type=Path), help="Energy database to write to."
)
@click.option(
    "--html",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write a report with plots.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How to print it.",
)
def sweep(
    script: Path,
    vary: tuple[str, ...],
    shrink: str | None,
    arguments: tuple[str, ...],
    database: Path | None,
    html: Path | None,
    form: str,
    **given: Any,
) -> None:
    """Measure SCRIPT over a range of sizes: how the energy of its calls and layers grows with their input.

    ARGUMENTS behind `--` go to the program at every point. For each call and layer the curves through its points
    (constant, linear, power law, steps of batches) are compared, with 95% intervals and correlation.
    """
    # Measuring loads numpy and the reader: not for the help.
    from energy_lsp.terminal.progress import progress_display
    from energy_measure.request import MeasureRequest, project_root, read_options
    from energy_measure.sweep.plan import points_of, read_shrink, read_vary
    from energy_measure.sweep.run import sweep as run

    if shrink and database is not None:
        raise click.UsageError(
            "Figures of a part of the data would pass for those of the whole: leave out --db with --shrink."
        )
    varied = [*map(read_vary, vary), *([read_shrink(shrink)] if shrink else [])]
    points = points_of(varied, arguments)
    root = project_root(script)
    request = MeasureRequest(script, root, read_options(root, note=warn, **given), database=database)
    with ExitStack() as stack:
        if shrink:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="energy-lsp-"))
            request = replace(request, database=Path(folder) / "shrunk.db")
        tell, announce = stack.enter_context(progress_display("auto", shared=True))
        swept = run(request, points, tell, announce=announce)
    if form == "json":
        echo(json_text(as_json(swept), indent=2))
    else:
        _print(swept)
    if html is not None:
        from energy_lsp.report.sweep import write_sweep_report

        write_sweep_report(html, script.name, swept)
        echo(f"Report: {visible(html)}", err=True)
    for sentence in (*swept.problems, *swept.failures):
        say(visible(sentence), err=True)
    sys.exit(INTERRUPTED if swept.interrupted else 1 if swept.failures else 0)


def as_json(swept: Swept) -> dict[str, Any]:
    """As `--format json` prints it."""
    return {
        "meter": swept.meter,
        "estimated": swept.estimated,
        "machine": swept.machine,
        "points": [dict(point.values) for point in swept.points],
        "curves": [_curve_json(curve) for curve in swept.curves],
        "failures": swept.failures,
    }


def _curve_json(curve: Curve) -> dict[str, Any]:
    fit, correlation = curve.best, curve.correlation
    return {
        "name": curve.name,
        "kind": curve.kind,
        "against": curve.against,
        "unresolved": curve.unresolved,
        "samples": [
            {
                "point": dict(sample.point.values),
                "size": sample.size,
                "joules": sample.joules,
                "interval": None
                if sample.low is None or sample.high is None
                else {"low": _finite(sample.low), "high": _finite(sample.high)},
            }
            for sample in curve.samples
        ],
        "best": fit.kind if fit else None,
        "fits": [_fit_json(one) for one in curve.fits],
        "correlation": None
        if correlation is None
        else {
            "pearson": correlation.pearson,
            "interval": {"low": correlation.low, "high": correlation.high},
            "spearman": correlation.spearman,
            "p": correlation.p_value,
            "points": correlation.points,
        },
    }


def _fit_json(fit: Fit) -> dict[str, Any]:
    return {
        "kind": fit.kind,
        "formula": fit.formula,
        "parameters": list(fit.parameters),
        "intervals": [{"low": _finite(one.low), "high": _finite(one.high)} for one in fit.intervals],
        "error": fit.error,
        "step": fit.step or None,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _print(swept: Swept) -> None:
    from energy_lsp.presentation.notation.units import joules
    from energy_lsp.terminal.console import Screen
    from energy_lsp.terminal.table import Column, Table

    plain, screen = Plain(), Screen()
    table = Table(
        [
            Column("call", "name"),
            Column("smallest", "number"),
            Column("largest", "number"),
            Column("against", "name", drop=2),
            Column("curve", "name", drop=1),
            Column("error", "number", drop=3),
            Column("correlation", drop=4),
        ]
    )
    for curve in [one for one in swept.curves if one.samples][:SHOWN]:
        fit, seen = curve.best, curve.correlation
        ordered = sorted(curve.samples, key=lambda sample: sample.size)
        texts = (
            curve.name,
            joules(ordered[0].joules),
            joules(ordered[-1].joules),
            curve.against,
            fit.formula if fit else "too few points",
            f"{fit.error:.0%}" if fit else "",
            f"{seen.pearson:.2f} ({seen.low:.2f} to {seen.high:.2f})" if seen else "",
        )
        table.add(*(plain.text(text) for text in texts))
    table.print(screen)
    kind = ", estimated from CPU time" if swept.estimated else ""
    screen.say(
        f"Net joules of one call (of one run for the program), at the smallest and the largest size; "
        f"meter {visible(swept.meter)}{kind}; {visible(swept.machine)}."
    )
