"""`energy-lsp report`: a measured run in short, or as one HTML page to look at and to share."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from energy_data.database.database import Database
from energy_data.exchange.sharing import shared_file, shared_run, what_is_shared
from energy_data.model import Inside, Part, Run
from energy_data.problems import Problem
from energy_data.untrusted.printable import one_line
from energy_data.untrusted.writing import private_folder, write_file
from energy_lsp.cli.options import given, setting_options
from energy_lsp.cli.run_argument import measured_database, run_or_file
from energy_lsp.report import render
from energy_lsp.report.footprint import Footprint, footprint
from energy_lsp.runs.history import program_history, total
from energy_lsp.terminal.echo import say
from energy_lsp.workspace.settings import combine, project_root, read_pyproject


@click.command()
@click.argument("run", default="latest", metavar="[RUN|FILE]")
@click.option(
    "--html",
    "page",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the page to this file.",
)
@click.option("--open", "open_it", is_flag=True, help="Open the page in the browser.")
@click.option(
    "--links",
    is_flag=True,
    help="With --html: link places to your files in VS Code. The page then holds the path of your project.",
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
@setting_options("grid_gco2_per_kwh", "price_per_kwh", "price_currency", "pue")
def report(
    run: str,
    page: Path | None,
    open_it: bool,
    links: bool,
    diagram: Path | None,
    block: str | None,
    db: Path | None,
    **options: Any,
) -> None:
    """Show a measured RUN in short, or write its report: an id, the beginning of one, "latest", or a measured file.

    The page (--html, --open) shows where the energy went, power over time with the calls under it, layers, and the
    history of the program. It needs nothing from outside and can be sent to others. Grams of CO₂e and money are shown
    when you say what a kilowatt-hour costs; they are not stored.
    """
    costs = _footprint(options)
    with Database.read(measured_database(db)) as database:
        chosen = run_or_file(run, database)
        if page is not None:
            say(what_is_shared([chosen]), err=True)
            _write(page, page_of(chosen, database, costs, links=links), chosen)
        if diagram is not None:
            parts, inside = database.parts(chosen.id), database.inside(chosen.id)
            _write(diagram, _diagram(chosen, parts, inside, block), chosen)
        if open_it:
            open_page(chosen, database, costs, page)
        if page is None and diagram is None and not open_it:
            summarise(chosen, database, costs)


def _footprint(options: dict[str, Any]) -> Footprint:
    settings, problems = read_pyproject(project_root(Path.cwd()))
    for problem in problems:
        say(f"Warning: {problem}", err=True)
    return footprint(asdict(combine(settings, given(options))))


def page_of(run: Run, database: Database, costs: Footprint, *, links: bool) -> str:
    """The page of a run with everything that is known of it."""
    return render(
        run if links else shared_run(run),
        [one if links else replace(one, file=shared_file(one.file)) for one in database.measurements(run.id)],
        database.traces(run.id),
        [one if links else replace(one, file=shared_file(one.file)) for one in database.spans(run.id)],
        [one if links else replace(one, file=shared_file(one.file)) for one in database.parts(run.id)],
        database.inside(run.id),
        phases=database.phases(run.id),
        history=program_history(run, database.runs()),
        footprint=costs,
        links=links,
    )


def summarise(run: Run, database: Database, costs: Footprint | None = None) -> None:
    """Print a run in short."""
    from energy_lsp.terminal.runs_table import print_summary  # who writes a page needs no screen

    print_summary(
        run,
        database.measurements(run.id),
        database.phases(run.id),
        database.parts(run.id),
        program_history(run, database.runs()),
    )
    for sentence in (_footprint({}) if costs is None else costs).sentences(total(run) or 0.0):
        say(sentence)
    say(f"`energy-lsp report {run.id} --open` shows more; `energy-lsp inside {run.id}` all layers.")


def open_page(run: Run, database: Database, costs: Footprint | None = None, page: Path | None = None) -> None:
    """Write the page where only its owner looks, and open it; say where it is where nothing opens it."""
    if page is None:
        import platformdirs  # only this way of looking at a run needs a folder of its own

        page = Path(platformdirs.user_cache_dir("energy-lsp", appauthor=False)) / "reports" / f"{run.id}.html"
        private_folder(page.parent)
        text = page_of(run, database, _footprint({}) if costs is None else costs, links=True)
        _write(page, text, run)
    if not _has_browser() or click.launch(str(page)):
        say(f"No browser could be started here: open {page} yourself.", err=True)


def _has_browser() -> bool:
    """On Linux a browser needs a display; elsewhere there is one."""
    return sys.platform != "linux" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _diagram(run: Run, parts: Sequence[Part], inside: Inside | None, block: str | None) -> str:
    from energy_lsp.inside.diagram import levels, opening, svg  # its layout library is loaded by who draws

    found = levels(parts, inside.flows if inside is not None else ())
    if not found:
        why = inside.note if inside is not None else "It was measured before calls were looked into."
        raise Problem(f"Nothing is known of the inside of {one_line(run.command)}. {why}")
    path = opening(found) if block is None else block
    if path not in found:
        known = ", ".join(name for name in list(found)[:8] if name)
        raise Problem(f"There are no layers inside of {path}; there are inside of: {known}.")
    how = "estimated" if run.estimated else f"measured with {run.meter}"
    return svg(
        found[path], f"{path or 'model'} · {shared_run(run).command} · {how}, apportioned among operations"
    )


def _write(path: Path, text: str, run: Run) -> None:
    try:
        write_file(path, text)
    except OSError as error:
        raise Problem(f"{path} cannot be written ({error.strerror}): name another file.") from error
    say(f"Wrote {path}: {run.command}, {run.started[:16].replace('T', ' ')} UTC.")
