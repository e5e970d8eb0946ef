"""`energy-lsp db`: look into the energy database, fill it, share it, thin it out."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path
from typing import IO, Any, TypeVar

import click

from energy_data.database.connections import WAIT_SECONDS
from energy_data.database.database import Database
from energy_data.database.pruning import prune
from energy_data.database.store import EnergyStore
from energy_data.exchange.interchange import LONGEST_LINE, BadLine, export_lines, import_lines, merge
from energy_data.exchange.sharing import what_is_shared
from energy_data.model import Figure
from energy_data.paths import team_database, user_database
from energy_data.problems import DatabaseProblem
from energy_data.studies.greenlight import import_greenlight
from energy_data.untrusted.printable import json_text
from energy_data.untrusted.reading import open_bytes
from energy_data.untrusted.writing import write_file
from energy_lsp.cli.group import Suggesting
from energy_lsp.cli.options import Finite
from energy_lsp.presentation.notation.markup import Plain
from energy_lsp.presentation.notation.units import counted
from energy_lsp.terminal.echo import echo, say

CANDIDATES = 15
"""So many APIs are listed for a name that several have."""
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
    type=Finite(min=0),
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


@click.group(cls=Suggesting)
def db() -> None:
    """Look into the energy database, fill it, share it, thin it out."""


@db.command()
@_db
@_project
@_format
def info(db: Path | None, project: Path, output: str) -> None:
    """Show the three layers: this machine's own database, the team's, the published figures."""
    from energy_data.published.figures import table

    path = db or user_database()
    files = {
        "here": _described(path, shared=db is None),
        "team": _described(team_database(project), shared=False),
    }
    published = dict(table()["about"], apis=len(table()["rows"]))
    if output == "json":
        echo(json_text({**files, "published": published}, indent=2))
        return
    _print_layers({"this machine": files["here"], "the team": files["team"]})
    say(
        f"Published figures: {published['apis']} APIs ({published['names']} published names, "
        f"{published['records']} records) on {published['machine']}.\n{published['source']}"
    )


def _described(path: Path, *, shared: bool = True) -> dict[str, Any]:
    if not os.path.exists(path):
        return {"file": str(path), "exists": False}
    with Database.read(path, shared=shared) as database:
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
    # Only for people: JSON needs no screen.
    from energy_lsp.terminal.console import Screen
    from energy_lsp.terminal.table import Column, Table

    table = Table([Column(""), *(Column(name, "name") for name in layers)])
    for row in ("file", "runs", "measurements", "traces", "evidence", "machines_known", "schema", "bytes"):
        cells = [
            described.get(row, "" if described["exists"] else "not there yet")
            for described in layers.values()
        ]
        texts = [", ".join(cell) if isinstance(cell, list) else str(cell) for cell in cells]
        table.add(row.removesuffix("_known"), *(_plain(text) for text in texts))
    table.print(Screen())


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
        if found := _candidates(api):
            say(f"Several APIs are called {_plain(api)}; name one of them:", err=True)
            for name in found[:CANDIDATES]:
                echo(f"  {name}")
            if len(found) > CANDIDATES:
                say(f"… and {len(found) - CANDIDATES} more.", err=True)
            raise click.exceptions.Exit(1)
        say(_plain(_unanswered(api)), err=True)
        raise click.exceptions.Exit(1)
    if output == "json":
        echo(json_text(_as_json(figure), indent=2))
    else:
        _print_figure(figure)


def _candidates(api: str) -> list[str]:
    """The APIs whose last names are what was asked for, such as `fit`; those with a figure first."""
    from energy_data.catalogue.catalogue import Catalogue
    from energy_data.published.figures import names

    if "." in api:
        return []
    catalogue = Catalogue.load()
    known = set(names())
    ending = f".{api}".lower()
    found = {name for name in {*known, *catalogue.names()} if name.lower().endswith(ending)}
    return sorted(found, key=lambda name: (name not in known, len(name), name))


def _unanswered(api: str) -> str:
    """Why there is no figure, and what to do about it."""
    from difflib import get_close_matches

    from energy_data.catalogue.catalogue import Catalogue
    from energy_data.catalogue.naming import canonical
    from energy_data.published.figures import names

    catalogue = Catalogue.load()
    asked = "tensorflow." + api.removeprefix("tf.") if api.startswith("tf.") else api
    if entry := catalogue.find(asked):
        gone = f" ({entry.removed_in} removed it)" if entry.removed_in else ""
        return (
            f"No energy is known of {entry.name} yet{gone}: "
            "run `energy-lsp measure` on a program that calls it."
        )
    known = {*names(), *catalogue.names()}
    if "." in api:
        close = get_close_matches(canonical(asked), known, n=2, cutoff=0.75)
    else:
        last = {name.rpartition(".")[2]: name for name in sorted(known, key=lambda name: (-len(name), name))}
        close = [last[name] for name in get_close_matches(api, last, n=2, cutoff=0.75)]
    advice = (
        f"did you mean {' or '.join(close)}?" if close else "give its full name, such as tf.linalg.matmul."
    )
    return f"{api} is not an API of TensorFlow or Keras: {advice}"


def _as_json(figure: Figure) -> dict[str, Any]:
    """The figure, with the names that its fields had until 0.1 (`layer`, `exact_site`) for one more release."""
    total = figure.total if figure.has_middle else None
    return {**asdict(figure), "total": total, "layer": figure.source, "exact_site": figure.origin == "site"}


def _print_figure(figure: Figure) -> None:
    from energy_data.catalogue.catalogue import Catalogue
    from energy_lsp.presentation.notation.units import duration, interval, joules
    from energy_lsp.presentation.words.calls import device_lines, orientation, provenance

    entry = Catalogue.load().find(figure.api)
    gone = f" ({entry.removed_in} removed it)" if entry and entry.removed_in else ""
    echo(_plain(figure.api) + gone)
    parts = device_lines(figure)
    if figure.total is None:
        bound = f"; it lies below {joules(figure.below)}" if figure.below is not None else ""
        echo(f"  not resolved by the meter{bound}")
    elif not figure.has_middle:
        parts = []
        echo(f"  {orientation(figure)} per call ({counted(figure.resolved, 'record')})")
    else:
        about = "≈ " if figure.estimated else ""
        what = "95% interval" if figure.spread == "interval" else "middle half of its records"
        spread = ""
        if figure.low is not None and figure.high is not None:
            spread = f" ({what}: {interval(figure.low, figure.high)})"
        say(f"  {about}{joules(figure.total)} per call{spread}", indent="    ")
    for line in parts:
        echo(f"  {line}")
    echo(f"  {duration(figure.seconds)} per call")
    say(f"  {_plain(provenance(figure))}", indent="    ")
    if figure.citation:
        say(f"  {_plain(figure.citation)}", indent="    ")


@db.group("import", cls=Suggesting)
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
        echo(f"{_plain(name)}: {_plain(reason)}", err=True)
    echo(
        f"{report.records} records added from {report.files} files, {report.unresolved} of them not resolved "
        f"by the meter; {report.known} files were there already, {len(report.malformed)} could not be read."
    )
    if report.malformed:
        raise click.exceptions.Exit(1)


@import_.command("jsonl")
@click.argument("file", type=click.Path(path_type=Path))
@_db
@_wait
def jsonl(file: Path, db: Path | None, wait: float) -> None:
    """Import what `energy-lsp db export` wrote; FILE may be - for standard input. All of it, or nothing."""
    name = "standard input" if str(file) == "-" else str(file)
    with _opened(file) as stream, Database.open(db or user_database(), wait=wait) as database:
        try:
            added = import_lines(database, _bounded(stream))
        except (BadLine, UnicodeDecodeError) as reason:
            text = f"{name} was not imported: {reason}; export it again with `energy-lsp db export`."
            raise DatabaseProblem(text) from reason
    say(_added(added))


def _opened(file: Path) -> IO[str]:
    """The lines of a file that somebody named: a pipe that nobody writes to would keep them waiting for ever."""
    if str(file) == "-":
        return click.open_file("-", encoding="utf-8")  # stays open behind us
    try:
        return io.TextIOWrapper(open_bytes(file), encoding="utf-8")
    except OSError as problem:
        raise DatabaseProblem(
            f"{file} is not imported ({problem.strerror}): name a file that `energy-lsp db export` wrote, or - for "
            "standard input."
        ) from problem


def _bounded(file: IO[str]) -> Iterator[str]:
    """The lines of a file, none of them taken into memory further than one can be long."""
    while line := file.readline(LONGEST_LINE + 1):
        yield line


@db.command()
@click.argument("file", type=click.Path(path_type=Path), default="-")
@_db
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "parquet"]),
    default="jsonl",
    show_default=True,
    help="jsonl: one file, for `db import jsonl`; parquet: a folder with a dataset to publish.",
)
@click.option("--title", help="Of a dataset. Default: the folder's name.")
@click.option("--author", "authors", multiple=True, metavar="NAME", help="Of a dataset; may be repeated.")
@click.option(
    "--license", "licence", metavar="SPDX", default="CC-BY-4.0", show_default=True, help="Terms of a dataset."
)
def export(
    file: Path, db: Path | None, form: str, title: str | None, authors: tuple[str, ...], licence: str
) -> None:
    """Write everything measured as JSON Lines to FILE, or to standard output.

    With `--format parquet` FILE is a folder: tables with units in their schema, a data card, a citation, a licence
    and checksums. Paths in it are relative, and it holds no arguments of programs. It needs the extra `parquet`.
    """
    if form == "parquet":
        if str(file) == "-":
            raise click.UsageError(
                "A dataset is a folder: name one, as in `db export FOLDER --format parquet`."
            )
        _export_dataset(file, db, title or file.name, authors, licence)
        return
    with Database.read(db or user_database()) as database:
        if str(file) == "-":
            for line in export_lines(database):
                echo(line)
        else:
            _write_whole(file, export_lines(database))
        say(what_is_shared(database.runs()), err=True)


def _export_dataset(
    folder: Path, db: Path | None, title: str, authors: tuple[str, ...], licence: str
) -> None:
    # Loads pyarrow, which no other command needs.
    from energy_data.dataset.card import About
    from energy_data.dataset.export import export_dataset

    about = About(title, authors or ("The authors of this dataset",), licence)
    with Database.read(db or user_database()) as database:
        made = export_dataset(database, folder, about)
    counts = ", ".join(f"{count} {table}" for table, count in made.rows.items() if count)
    echo(f"Wrote {_plain(folder)}: {counts or 'nothing measured yet'}; {made.bytes / 1e6:.1f} MB.")
    if not authors:
        echo("CITATION.cff names no author yet: give --author, or write it there.", err=True)


def _write_whole(file: Path, lines: Iterable[str]) -> None:
    """All of it or nothing: a full disk leaves an older export as it was."""
    try:
        write_file(file, (f"{line}\n" for line in lines))
    except OSError as error:
        raise DatabaseProblem(f"{file} cannot be written ({error.strerror}): name another file.") from error


@db.command("merge")
@click.argument("file", type=click.Path(path_type=Path))
@_db
@_wait
def merge_(file: Path, db: Path | None, wait: float) -> None:
    """Add everything another database FILE holds; what both hold is kept once. FILE stays as it is."""
    Database.read(file, wait=wait, shared=False).close()  # a bad FILE is told before a new database is made
    with Database.open(db or user_database(), wait=wait) as database:
        added = merge(database, file)
        shared = what_is_shared(database.runs())
    say(_added(added))
    say(shared, err=True)


def _added(added: dict[str, int]) -> str:
    return (
        f"Added {counted(added['runs'], 'run')}, {counted(added['measurements'], 'measurement')}, "
        f"{counted(added['traces'], 'power trace')}, {counted(added['evidence'], 'comparison')} of rules."
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
    say(
        f"{verb} {counted(pruned.runs, 'run')}, {counted(pruned.measurements, 'measurement')}, "
        f"{counted(pruned.traces, 'power trace')}."
    )
