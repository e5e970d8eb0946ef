"""`energy-lsp report`: a measured run as one HTML page to look at and to share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from energy_data.database import Database
from energy_data.model import Run
from energy_data.paths import user_database
from energy_data.problems import Problem
from energy_lsp.report import render

LISTED = 10
"""How many runs are named when the wanted one is not there."""


@click.command()
@click.argument("run", default="latest")
@click.option(
    "--html",
    "page",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    help="Write the page to this file.",
)
@click.option(
    "--db",
    type=click.Path(path_type=Path),
    default=None,
    help="Energy database; default: this machine's own.",
)
def report(run: str, page: Path, db: Path | None) -> None:
    """Write the report of a measured RUN: its id, the beginning of one, or "latest".

    The page shows power over time with the calls under it, energy by call, and the sum against the
    whole program. It needs nothing from outside and can be sent to others.
    """
    with Database.read(db or user_database()) as database:
        chosen = _choose(run, database.runs())
        measured = database.measurements(chosen.id)
        text = render(chosen, measured, database.traces(chosen.id), database.spans(chosen.id))
    try:
        page.write_text(text, "utf-8")
    except OSError as error:
        raise Problem(f"{page} cannot be written ({error.strerror}): name another file.") from error
    click.echo(f"Wrote {page}: {chosen.command}, {chosen.started[:16].replace('T', ' ')} UTC.")


def _choose(wanted: str, runs: Sequence[Run]) -> Run:
    if not runs:
        raise Problem("No run has been measured yet: start with `energy-lsp measure FILE`.")
    if wanted == "latest":
        return runs[-1]
    fitting = [run for run in runs if run.id.startswith(wanted)]
    if len(fitting) == 1:
        return fitting[0]
    known = "\n".join(f"  {run.id}  {run.started[:16]}  {run.command}" for run in (fitting or runs)[-LISTED:])
    what = "More than one run begins" if fitting else "No run begins"
    raise Problem(f"{what} with {wanted!r}. The last ones are:\n{known}")
