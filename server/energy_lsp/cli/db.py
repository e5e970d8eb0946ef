"""`energy-lsp db`: look into the energy database, fill it, share it, thin it out."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, TypeVar

import click

from energy_data.connections import WAIT_SECONDS
from energy_data.database import Database
from energy_data.greenlight import import_greenlight
from energy_data.interchange import BadLine, export_lines, import_lines, merge
from energy_data.model import Figure
from energy_data.paths import team_database, user_database
from energy_data.problems import DatabaseProblem
from energy_data.pruning import prune
from energy_data.store import EnergyStore
from energy_lsp.markup import Plain

Command = TypeVar("Command", bound=Callable[..., Any])


def _plain(text: object) -> str:
    """Text from a database or a file name, without anything a terminal would act on."""
    return Plain().text(str(text))


_db = click.option(
    "--db",
    type=click.Path(path_type=Path),
    help="Database file; default: ENERGY_LSP_DB, or energy.db in the user's data folder.",
)
_wait = click.option(
    "--wait",
    type=click.FloatRange(min=0),
    default=WAIT_SECONDS,
    show_default=True,
    help="Seconds to wait for a database that another program is writing to.",
)
_format = click.option(
    "--format",
    "output",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How to print it.",
)
_project = click.option(
    "--project",
    type=click.Path(path_type=Path),
    default=Path("."),
    help="Project whose .energy/energy.db is the team's database; default: this folder.",
)


@click.group()
def db() -> None:
    """Look into the energy database, fill it, share it, thin it out."""


@db.command()
@_db
@_project
@_format
def info(db: Path | None, project: Path, output: str) -> None:
    """Show the three layers: this machine's own database, the team's, the published figures."""
    from energy_data.figures import table

    path = db or user_database()
    files = {"here": _described(path), "team": _described(team_database(project))}
    published = dict(table()["about"], apis=len(table()["rows"]))
    if output == "json":
        click.echo(json.dumps({**files, "published": published}, indent=2))
        return
    _print_layers({"this machine": files["here"], "the team": files["team"]})
    click.echo(
        f"published figures: {published['apis']} APIs ({published['names']} published names, "
        f"{published['records']} records) on {published['machine']}\n  {published['source']}"
    )


def _described(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {"file": str(path), "exists": False}
    with Database.read(path) as database:
        return {
            "file": str(path),
            "exists": True,
            "bytes": path.stat().st_size,
            "schema": database.schema,
            "machines_known": sorted({run.machine.label for run in database.runs()}),
            **database.counts(),
        }


def _print_layers(layers: dict[str, dict[str, Any]]) -> None:
    """One column per database file."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("", *layers)
    for row in ("file", "runs", "measurements", "traces", "evidence", "machines_known", "schema", "bytes"):
        cells = [
            described.get(row, "" if described["exists"] else "not there yet")
            for described in layers.values()
        ]
        texts = [", ".join(cell) if isinstance(cell, list) else str(cell) for cell in cells]
        # Text, because a string would be read for rich's own markup.
        table.add_row(row.removesuffix("_known"), *(Text(_plain(text)) for text in texts))
    Console(file=sys.stdout).print(table)


@db.command()
@click.argument("api")
@_db
@_project
@click.option("--file", help="Ask for a call site: path within the project …")
@click.option("--line", type=int, help="… and line, counted from 1.")
@_format
def lookup(api: str, db: Path | None, project: Path, file: str | None, line: int | None, output: str) -> None:
    """Say what an API costs, and where that figure comes from."""
    store = EnergyStore.open(db, project)
    figure = store.lookup(api, file=file, line=line)
    store.close()
    if figure is None:
        click.echo(_plain(_unanswered(api)), err=True)
        raise click.exceptions.Exit(1)
    if output == "json":
        click.echo(json.dumps(asdict(figure), indent=2))
    else:
        _print_figure(figure)


def _unanswered(api: str) -> str:
    """Why there is no figure, and what to do about it."""
    from difflib import get_close_matches

    from energy_data.catalogue import Catalogue
    from energy_data.figures import names
    from energy_data.naming import canonical

    catalogue = Catalogue.load()
    asked = "tensorflow." + api.removeprefix("tf.") if api.startswith("tf.") else api
    if entry := catalogue.find(asked):
        gone = f" ({entry.removed_in} removed it)" if entry.removed_in else ""
        return (
            f"No energy is known of {entry.name} yet{gone}: "
            "run `energy-lsp measure` on a program that calls it."
        )
    close = get_close_matches(canonical(asked), {*names(), *catalogue.names()}, n=2, cutoff=0.75)
    advice = (
        f"did you mean {' or '.join(close)}?" if close else "give its full name, such as tf.linalg.matmul."
    )
    return f"{api} is not an API of TensorFlow or Keras: {advice}"


def _print_figure(figure: Figure) -> None:
    from energy_data.catalogue import Catalogue
    from energy_lsp.hints import device_lines, provenance
    from energy_lsp.joules import duration, interval, joules

    entry = Catalogue.load().find(figure.api)
    gone = f" ({entry.removed_in} removed it)" if entry and entry.removed_in else ""
    click.echo(_plain(figure.api) + gone)
    if figure.total is None:
        bound = f"; it lies below {joules(figure.below)}" if figure.below is not None else ""
        click.echo(f"  not resolved by the meter{bound}")
    else:
        about = "≈ " if figure.estimated else ""
        what = "95% interval" if figure.spread == "interval" else "middle half of its records"
        spread = ""
        if figure.low is not None and figure.high is not None:
            spread = f" ({what}: {interval(figure.low, figure.high)})"
        click.echo(f"  {about}{joules(figure.total)} per call{spread}")
    for line in device_lines(figure):
        click.echo(f"  {line}")
    click.echo(f"  {duration(figure.seconds)} per call")
    click.echo(f"  {_plain(provenance(figure))}")
    if figure.source:
        click.echo(f"  {_plain(figure.source)}")


@db.group("import")
def import_() -> None:
    """Add records from elsewhere."""


@import_.command("greenlight")
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@_db
@_wait
def greenlight(path: Path, db: Path | None, wait: float) -> None:
    """Import the raw GreenLight records in PATH: their folder, or the archive as published.

    Each file is imported whole or not at all, and importing it again adds nothing. Files that hold no such
    records are named on stderr with the reason; the exit status is then 1.
    """
    with Database.open(db or user_database(), wait=wait) as database:
        report = import_greenlight(database, path)
    if not report.files and not report.malformed:
        raise DatabaseProblem(f"{path} holds no .json files: name the folder or archive with the records.")
    for name, reason in report.malformed:
        click.echo(f"{_plain(name)}: {_plain(reason)}", err=True)
    click.echo(
        f"{report.records} records added from {report.files} files, {report.unresolved} of them not resolved "
        f"by the meter; {report.known} files were there already, {len(report.malformed)} could not be read."
    )
    if report.malformed:
        raise click.exceptions.Exit(1)


@import_.command("jsonl")
@click.argument("file", type=click.File("r", encoding="utf-8"))
@_db
@_wait
def jsonl(file: Iterable[str], db: Path | None, wait: float) -> None:
    """Import what `energy-lsp db export` wrote; FILE may be - for standard input. All of it, or nothing."""
    name = getattr(file, "name", "standard input")
    with Database.open(db or user_database(), wait=wait) as database:
        try:
            added = import_lines(database, file)
        except (BadLine, UnicodeDecodeError) as reason:
            text = f"{name} was not imported: {reason}; export it again with `energy-lsp db export`."
            raise DatabaseProblem(text) from reason
    click.echo(_added(added))


@db.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path), default="-")
@_db
def export(file: Path, db: Path | None) -> None:
    """Write everything measured as JSON Lines to FILE, or to standard output."""
    with Database.read(db or user_database()) as database:
        if str(file) == "-":
            for line in export_lines(database):
                click.echo(line)
        else:
            _write_whole(file, export_lines(database))


def _write_whole(file: Path, lines: Iterable[str]) -> None:
    """Write to a neighbour and rename it, so that a full disk leaves an older export as it was."""
    try:
        handle, neighbour = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                stream.writelines(f"{line}\n" for line in lines)
            Path(neighbour).replace(file)
        except BaseException:
            Path(neighbour).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise DatabaseProblem(f"{file} cannot be written ({error.strerror}): name another file.") from error


@db.command("merge")
@click.argument("file", type=click.Path(path_type=Path))
@_db
@_wait
def merge_(file: Path, db: Path | None, wait: float) -> None:
    """Add everything another database FILE holds; what both hold is kept once. FILE stays as it is."""
    Database.read(file, wait=wait).close()  # a bad FILE is told before a new database is made
    with Database.open(db or user_database(), wait=wait) as database:
        added = merge(database, file)
    click.echo(_added(added))


def _added(added: dict[str, int]) -> str:
    return (
        f"Added {added['runs']} runs, {added['measurements']} measurements, {added['traces']} power traces, "
        f"{added['evidence']} comparisons of rules."
    )


@db.command("prune")
@click.option(
    "--before", type=click.DateTime(["%Y-%m-%d"]), help="Remove runs that started before this day (UTC)."
)
@click.option(
    "--keep", type=click.IntRange(min=1), help="Keep the newest N runs of each program on each machine."
)
@click.option("--traces", is_flag=True, help="Remove power traces alone; the measurements stay.")
@click.option("--dry-run", is_flag=True, help="Only say what would be removed.")
@_db
@_wait
def prune_(
    before: datetime | None, keep: int | None, traces: bool, dry_run: bool, db: Path | None, wait: float
) -> None:
    """Remove old runs, or their power traces alone, and give the space back."""
    if before is None and keep is None and not traces:
        raise click.UsageError("Say what to remove: --before DATE, --keep N or --traces.")
    day = before.replace(tzinfo=timezone.utc).strftime("%Y-%m-%d") if before else None
    with Database.open(db or user_database(), create=False, wait=wait) as database:
        pruned = prune(database, before=day, keep=keep, traces_only=traces, dry_run=dry_run)
    verb = "Would remove" if dry_run else "Removed"
    click.echo(
        f"{verb} {pruned.runs} runs, {pruned.measurements} measurements, {pruned.traces} power traces."
    )
