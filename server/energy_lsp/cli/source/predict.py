"""`energy-lsp predict`: what a program will cost, before it ever ran."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from energy_data.untrusted.printable import json_text, visible
from energy_lsp.cli.source_path import SourcePath
from energy_lsp.terminal.echo import echo, say, warn


@click.command()
@click.argument("path", type=SourcePath(path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How to print the result.",
)
@click.option(
    "--python",
    default="",
    metavar="PYTHON",
    help="Interpreter whose calibration is meant. Default: the one `measure` would take.",
)
@click.option(
    "--db",
    "database",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="PATH",
    help="Energy database to read; default: this machine's own.",
)
def predict(path: Path, form: str, python: str, database: Path | None) -> None:
    """Predict what the TensorFlow and Keras calls of PATH will cost: a script, a notebook or a folder. Nothing runs.

    What was measured at a call stands before what is predicted of it. Calls whose shapes the source does not tell have
    no figure. Run `energy-lsp calibrate` once before.
    """
    from energy_code.workspace.project import project_of
    from energy_data.database.store import EnergyStore
    from energy_lsp.cli.source.calls import CallsProblem
    from energy_lsp.predicting.choice import choose_calibration, versions_for
    from energy_lsp.predicting.program import Predictor
    from energy_lsp.workspace.python_files import find_files
    from energy_measure.machine.describe import describe
    from energy_measure.request import project_root

    if not path.exists():
        raise CallsProblem(f"There is no {path}; give a script, a notebook or a folder.")
    root = project_root(path)
    choice = choose_calibration(database, describe().label, versions_for(path, root, python, note=warn))
    store = EnergyStore.open(database, root, strict=False)
    predictor = Predictor(choice.costs, store, root)
    calls = []
    for file in find_files([path]):
        try:
            calls += list(predictor.file(file, project_of(file)))
        except (OSError, ValueError) as problem:
            echo(f"{visible(file)} cannot be read ({visible(problem)}); it is left out.", err=True)
    store.close()
    if form == "json":
        echo(json_text(_as_json(calls, choice.costs), indent=2))
    else:
        # JSON needs no screen.
        from energy_lsp.predicting.program import summed
        from energy_lsp.terminal.predict_table import print_predictions

        costs = choice.costs
        print_predictions(calls, summed(calls), costs.calibration if costs is not None else None)
    if choice.note:
        say(visible(choice.note), err=True)


def _as_json(calls: list[Any], costs: Any) -> dict[str, Any]:
    from energy_lsp.predicting.program import summed

    joules, low, high, unknown = summed(calls)
    calibration = None
    if costs is not None:
        about = costs.calibration
        calibration = {
            "id": about.id,
            "measured": about.measured,
            "machine": about.machine,
            "tensorflow": about.environment.tensorflow,
            "keras": about.environment.keras,
            "repeatability": about.repeatability,
            "quick": about.quick,
            "estimated": about.estimated,
        }
    return {
        "calls": [call.as_json() for call in calls],
        "total": {
            "joules": joules,
            "interval": {"low": low, "high": high, "covers": "90%"},
            "unknown": unknown,
        },
        "calibration": calibration,
    }
