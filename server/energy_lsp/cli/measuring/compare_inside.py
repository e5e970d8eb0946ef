"""`energy-lsp compare --inside`: two versions of a model, layer by layer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from energy_data.database.database import Database
from energy_data.model import Part
from energy_data.paths import user_database
from energy_data.problems import Problem
from energy_data.untrusted.printable import json_text, one_line, visible
from energy_lsp.cli.run_argument import run_or_file
from energy_lsp.inside.versions import VersionChange, compare_versions
from energy_lsp.terminal.echo import echo, warn

SHOWN = 25
REPEATS, QUICK_REPEATS = 3, 1


def compare_inside(
    before: str, after: str, arguments: Sequence[str], *, quick: bool, form: str, measuring: dict[str, Any]
) -> None:
    """Measure what is a file, look up what is a run, and print what differs."""
    database: Path = measuring.pop("database") or user_database()
    runs = [_run_of(one, arguments, database, quick, measuring) for one in (before, after)]
    with Database.read(database) as open_:
        parts = [open_.parts(run_or_file(run, open_).id) for run in runs]
    for name, found in zip((before, after), parts, strict=True):
        if not found:
            raise Problem(f"Nothing is known of the inside of {name}: it ran no compiled step or layer.")
    change = compare_versions(*parts)
    if form == "json":
        echo(json_text(_as_json(change), indent=2))
    else:
        print_change(change, parts, before, after)


def _run_of(
    wanted: str, arguments: Sequence[str], database: Path, quick: bool, measuring: dict[str, Any]
) -> str:
    """The id of a run: of one that was measured, or of a measurement of a file made now."""
    path = Path(wanted)
    if not path.is_file():
        return wanted
    # Measuring is loaded by who measures: comparing runs needs none of it.
    from energy_measure.request import MeasureRequest, project_root, read_options
    from energy_measure.session import measure

    root = project_root(path)
    repeat = QUICK_REPEATS if quick else REPEATS
    options = read_options(
        root, note=warn, arguments=tuple(arguments), repeat=repeat, quick=quick or None, **measuring
    )
    found = measure(MeasureRequest(path, root, options, database=database), lambda progress: None)
    if found.failures or not found.known:
        raise Problem(" ".join(found.reasons) or f"{wanted} could not be measured.")
    return found.programs[-1].run_id


def _as_json(change: VersionChange) -> dict[str, Any]:
    return {
        "correlation": change.correlation,
        "mean_error_difference": change.error_difference,
        "total_variation": change.variation,
        "layers": [
            {
                "path": layer.path,
                "state": layer.state,
                "before": layer.before,
                "after": layer.after,
                "difference": layer.difference,
            }
            for layer in change.layers
        ],
    }


def print_change(change: VersionChange, parts: Sequence[Sequence[Part]], before: str, after: str) -> None:
    """A row a layer, those that changed most first."""
    from energy_lsp.presentation.notation.units import column_unit, in_unit, whole
    from energy_lsp.terminal.console import Screen
    from energy_lsp.terminal.table import Column, Table

    screen = Screen()
    shown = change.layers[:SHOWN]
    unit = column_unit(value for layer in shown for value in (layer.before, layer.after))
    table = Table(
        [
            Column("layer", "name"),
            Column(f"before, {unit}", "number"),
            Column(f"after, {unit}", "number"),
            Column("difference", "number"),
            Column("", drop=1),
        ]
    )
    for layer in shown:
        sign = "+" if layer.difference > 0 else "−" if layer.difference < 0 else ""
        table.add(
            one_line(layer.path),
            "" if layer.before is None else in_unit(layer.before, unit),
            "" if layer.after is None else in_unit(layer.after, unit),
            sign + in_unit(abs(layer.difference), unit),
            "" if layer.state == "both" else layer.state,
        )
    table.print(screen)
    if len(change.layers) > SHOWN:
        screen.say(f"… and {len(change.layers) - SHOWN} more")
    sums = [sum(part.joules for part in side) for side in parts]
    screen.say(f"{visible(before)}: {whole(sums[0])}; {visible(after)}: {whole(sums[1])}; apportioned.")
    screen.say(
        f"Correlation {change.correlation:.4f}, mean error difference {100 * change.error_difference:.2f} points, "
        f"total variation {100 * change.variation:.1f} points."
    )
