"""`energy-lsp compare --inside`: two versions of a model, layer by layer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from energy_data.database.database import Database
from energy_data.model import Part
from energy_data.paths import user_database
from energy_data.problems import Problem
from energy_lsp.cli.run_argument import run_or_file
from energy_lsp.inside.versions import VersionChange, compare_versions
from energy_lsp.terminal.echo import echo

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
    echo(json.dumps(_as_json(change), indent=2) if form == "json" else _as_text(change, parts, before, after))


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

    root = project_root(path.absolute())
    repeat = QUICK_REPEATS if quick else REPEATS
    options = read_options(root, arguments=tuple(arguments), repeat=repeat, quick=quick or None, **measuring)
    found = measure(MeasureRequest(path, root, options, database=database), lambda progress: None)
    if found.failures or not found.known:
        raise Problem(" ".join(found.failures) or f"{wanted} could not be measured.")
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


def _as_text(change: VersionChange, parts: Sequence[Sequence[Part]], before: str, after: str) -> str:
    from energy_lsp.presentation.markup import Plain
    from energy_lsp.presentation.units import joules

    plain = Plain()

    def shown(value: float | None) -> str:
        return "" if value is None else joules(value)

    lines = [f"{'layer':48}{'before':>10}{'after':>10}{'difference':>12}"]
    for layer in change.layers[:SHOWN]:
        name = plain.text(layer.path)
        state = "" if layer.state == "both" else f"  {layer.state}"
        sign = "+" if layer.difference > 0 else "−" if layer.difference < 0 else " "
        amount = f"{sign}{joules(abs(layer.difference))}"
        lines.append(f"{name[-47:]:48}{shown(layer.before):>10}{shown(layer.after):>10}{amount:>12}{state}")
    if len(change.layers) > SHOWN:
        lines.append(f"… and {len(change.layers) - SHOWN} more")
    sums = [sum(part.joules for part in side) for side in parts]
    return "\n".join(
        [
            *lines,
            "",
            f"{plain.text(before)}: {joules(sums[0])}; {plain.text(after)}: {joules(sums[1])}; apportioned.",
            f"Correlation {change.correlation:.4f}, mean error difference {100 * change.error_difference:.2f} points, "
            f"total variation {100 * change.variation:.1f} points.",
        ]
    )
