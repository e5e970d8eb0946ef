"""`energy-lsp inside`: what the energy of a measured program's calls went into, layer by layer."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from energy_data.database.database import Database
from energy_data.model import Inside, Measurement, Part, Run
from energy_data.problems import Problem
from energy_data.untrusted.printable import cell, json_text, one_line
from energy_lsp.cli.run_argument import measured_database, run_or_file
from energy_lsp.inside.groups import BY, By, LayerGroup, below, calls_of, fusions, grouped
from energy_lsp.inside.precision import Precision, precision
from energy_lsp.terminal.echo import echo

COLUMNS = (
    "call_file",
    "call_line",
    "call_column",
    "path",
    "kind",
    "pass",
    "file",
    "line",
    "joules",
    "low",
    "high",
    "share",
    "count",
    "observed",
    "seconds",
)


@click.command()
@click.argument("run", default="latest", metavar="RUN|FILE")
@click.option("--of", "path", metavar="PATH", help="Only a layer and what is inside of it.")
@click.option("--by", type=click.Choice(BY), help="Add up by this. [default: layer]")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "csv"]),
    default="text",
    show_default=True,
    help="How to print it.",
)
@click.option(
    "--precision", "precise", is_flag=True, help="How sure the account is: similarity over repeats."
)
@click.option(
    "--db",
    type=click.Path(path_type=Path),
    default=None,
    help="Energy database; default: this machine's own.",
)
def inside(run: str, path: str | None, by: By | None, form: str, precise: bool, db: Path | None) -> None:
    """Show what the calls of a measured RUN went into: its id, the beginning of one, "latest", or a measured FILE.

    Joules of layers are apportioned: the meter's windows are split among the operations that were active in them.
    """
    with Database.read(measured_database(db)) as database:
        chosen = run_or_file(run, database)
        parts = database.parts(chosen.id)
        looked = database.inside(chosen.id)
        calls = calls_of(parts, database.measurements(chosen.id))
    if not parts:
        why = looked.note if looked is not None else "It was measured before calls were looked into."
        raise Problem(f"Nothing is known of the inside of {one_line(chosen.command)}. {why}")
    wholes = {
        one: sum(part.joules for part in parts if part.measurement_id == one) for one in calls
    }  # before some are chosen
    if path is not None:
        some = below(parts, path)
        if not some:
            names = ", ".join(sorted({part.path.split("/")[0] for part in parts})[:8])
            raise Problem(f"No layer is called {path}; at the top there are: {names}.")
        parts = some
    if precise:
        _print_precision(precision(parts, looked), form)
    elif form == "csv":
        if by:
            _print_groups(grouped(parts, by))
        else:
            _print_csv(parts, calls, wholes)
    elif form == "json":
        found = [_group_json(group) for group in grouped(parts, by)] if by else _leaves(parts, calls, wholes)
        echo(json_text(found, indent=2))
    else:
        _print_text(chosen, looked, parts, calls, by or "layer")


def _leaves(
    parts: Sequence[Part], calls: dict[str, Measurement], wholes: Mapping[str, float]
) -> list[dict[str, object]]:
    """As `measure` has them in `inside[]`; `wholes`: joules of the calls."""
    found: list[dict[str, object]] = []
    for part in parts:
        call = calls.get(part.measurement_id)
        whole = wholes.get(part.measurement_id, 0.0)
        called = [{"file": part.called_file, "line": part.called_line}] if part.called_line else []
        found.append(
            {
                "call": {"file": call.file, "line": call.line, "column": call.column, "api": call.api}
                if call
                else None,
                "path": part.path,
                "kind": part.kind,
                "pass": part.direction,
                "file": part.file or None,
                "line": part.line or None,
                "called": called,
                "joules": part.joules,
                "interval": {"low": part.low, "high": part.high},
                "share": part.joules / whole if whole else 0.0,
                "count": part.count,
                "observed": part.observed,
                "seconds": part.seconds,
                "fused": [
                    {"path": one, "file": file or None, "line": line or None}
                    for one, file, line in part.fused
                ],
            }
        )
    return found


def _group_json(group: LayerGroup) -> dict[str, object]:
    return {
        "name": group.name,
        "joules": group.joules,
        "interval": {"low": group.low, "high": group.high},
        "share": group.share,
        "count": group.count,
    }


def _print_groups(groups: Sequence[LayerGroup]) -> None:
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(("name", "file", "line", "joules", "low", "high", "share", "count", "seconds"))
    for one in groups:
        values = (one.name, one.file, one.line or "", one.joules, one.low, one.high)
        writer.writerow([cell(value) for value in (*values, one.share, one.count, one.seconds)])
    echo(table.getvalue(), nl=False)


def _print_csv(parts: Sequence[Part], calls: dict[str, Measurement], wholes: Mapping[str, float]) -> None:
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(COLUMNS)
    for leaf, part in zip(_leaves(parts, calls, wholes), parts, strict=True):
        call = calls.get(part.measurement_id)
        place = (call.file, call.line, call.column) if call else ("", "", "")
        rest = [leaf[name] for name in ("share", "count", "observed", "seconds")]
        values = [
            part.path,
            part.kind,
            part.direction,
            part.file,
            part.line or "",
            part.joules,
            part.low,
            part.high,
        ]
        writer.writerow([cell(value) for value in (*place, *values, *rest)])
    echo(table.getvalue(), nl=False)


def _print_text(
    run: Run, looked: Inside | None, parts: Sequence[Part], calls: dict[str, Measurement], by: By
) -> None:
    from energy_lsp.terminal.inside_table import print_inside

    print_inside(run, looked, grouped(parts, by), list(calls.values()), by, fusions(parts))


def _print_precision(found: Precision, form: str) -> None:
    if form == "json":
        echo(
            json_text(
                {
                    "repeats": found.repeats,
                    "stability": found.stability,
                    "total_variation": found.variation,
                    "more_repeats": found.more_repeats,
                    "sparser": found.sparser,
                },
                indent=2,
            )
        )
        return
    if form == "csv":
        single = {
            "repeats": found.repeats,
            "stability": found.stability,
            "total_variation": found.variation,
        }
        table = io.StringIO()
        writer = csv.writer(table, lineterminator="\n")
        writer.writerow(("name", "of", "value"))
        writer.writerows((name, "", "" if value is None else value) for name, value in single.items())
        writer.writerows(("more_repeats", count, value) for count, value in found.more_repeats.items())
        writer.writerows(("sparser", factor, value) for factor, value in found.sparser.items())
        echo(table.getvalue(), nl=False)
        return
    if found.stability is None or found.variation is None:
        echo("One run says nothing of how stable its account is: measure with `--repeat 3` or more.")
    else:
        echo(
            f"Stability: accounting similarity over all pairs of {found.repeats} repeats {found.stability:.4f}"
        )
        echo(f"Total variation between repeats: {100 * found.variation:.1f} points")
        for count, value in found.more_repeats.items():
            echo(f"More repeats (ASSW): one against {count}: {value:.4f}")
    for factor, value in found.sparser.items():
        echo(f"Sparser samples (ASSS): {factor} times fewer: {value:.4f}")
