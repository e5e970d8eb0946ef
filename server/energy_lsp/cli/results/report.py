"""`energy-lsp report`: a measured run as one HTML page to look at and to share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from energy_data.database.database import Database
from energy_data.database.sharing import what_is_shared
from energy_data.model import Inside, Part, Run
from energy_data.paths import user_database
from energy_data.problems import Problem
from energy_data.untrusted.writing import write_file
from energy_lsp.cli.run_argument import choose_run
from energy_lsp.report import render
from energy_lsp.terminal.echo import echo


@click.command()
@click.argument("run", default="latest")
@click.option(
    "--html",
    "page",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the page to this file.",
)
@click.option(
    "--edd",
    "diagram",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.svg",
    help="Write the energy distribution diagram of the model's layers to this file.",
)
@click.option(
    "--of", "block", metavar="PATH", help="With --edd: the block to look into; default: the whole model."
)
@click.option(
    "--db",
    type=click.Path(path_type=Path),
    default=None,
    help="Energy database; default: this machine's own.",
)
def report(run: str, page: Path | None, diagram: Path | None, block: str | None, db: Path | None) -> None:
    """Write the report of a measured RUN: its id, the beginning of one, or "latest".

    The page shows power over time with the calls under it, energy by call, and the sum against the
    whole program. It needs nothing from outside and can be sent to others.
    """
    if page is None and diagram is None:
        raise Problem("Name a file to write: --html PAGE.html, --edd DIAGRAM.svg, or both.")
    with Database.read(db or user_database()) as database:
        chosen = choose_run(run, database.runs())
        measured = database.measurements(chosen.id)
        parts, inside = database.parts(chosen.id), database.inside(chosen.id)
        traces, spans = database.traces(chosen.id), database.spans(chosen.id)
    echo(what_is_shared([chosen]), err=True)
    if page is not None:
        _write(page, render(chosen, measured, traces, spans, parts, inside), chosen)
    if diagram is not None:
        _write(diagram, _diagram(chosen, parts, inside, block), chosen)


def _diagram(run: Run, parts: Sequence[Part], inside: Inside | None, block: str | None) -> str:
    from energy_lsp.inside.diagram import levels, opening, svg  # its layout library is loaded by who draws

    found = levels(parts, inside.flows if inside is not None else ())
    if not found:
        why = inside.note if inside is not None else "It was measured before calls were looked into."
        raise Problem(f"Nothing is known of the inside of {run.command}. {why}")
    path = opening(found) if block is None else block
    if path not in found:
        known = ", ".join(name for name in list(found)[:8] if name)
        raise Problem(f"There are no layers inside of {path}; there are inside of: {known}.")
    how = "estimated" if run.estimated else f"measured with {run.meter}"
    return svg(found[path], f"{path or 'model'} · {run.command} · {how}, apportioned among operations")


def _write(path: Path, text: str, run: Run) -> None:
    try:
        write_file(path, text)
    except OSError as error:
        raise Problem(f"{path} cannot be written ({error.strerror}): name another file.") from error
    echo(f"Wrote {path}: {run.command}, {run.started[:16].replace('T', ' ')} UTC.")
