"""`energy-lsp calls`: every TensorFlow and Keras call of files, notebooks and folders."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from energy_code.model import Call
from energy_code.text.lines import Lines
from energy_code.workspace.document import Document
from energy_code.workspace.import_index import python_files
from energy_code.workspace.notebook import Notebook
from energy_code.workspace.project import Project, project_of
from energy_data.problems import Problem
from energy_data.untrusted.printable import json_text, one_line, visible
from energy_data.untrusted.reading import real
from energy_lsp.terminal.echo import echo, say
from energy_lsp.terminal.fitting import shortened
from energy_lsp.terminal.width import width

Record = dict[str, Any]


@click.command("calls")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="A line for each call, or a JSON list.",
)
@click.option(
    "--shapes",
    is_flag=True,
    help="Also the shapes of what a call is given: as a run saw them, or the source tells.",
)
@click.option(
    "--db",
    "database",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="PATH",
    help="Energy database with the shapes that runs saw; default: this machine's own.",
)
def calls(paths: tuple[Path, ...], form: str, shapes: bool, database: Path | None) -> None:
    """List the TensorFlow and Keras calls in PATHS: files, notebooks or folders.

    Lines count from 1, columns from 0 in characters. In a notebook, lines are those of the cell, and `cell` is
    the index of the cell in the notebook, from 0.
    """
    records: list[Record] = []
    failed = False
    for path in paths:
        try:
            records.extend(calls_in(path, shapes=shapes, database=database))
        except Problem as problem:
            say(one_line(problem), err=True)
            failed = True
    if form == "json":
        echo(json_text(records, indent=2))
    else:
        columns = width()
        for record in records:
            echo(fitted(record, columns))
    if failed:
        raise SystemExit(1)


class CallsProblem(Problem):
    """A path that cannot be read; the message says what to do."""


def calls_in(path: Path, *, shapes: bool = False, database: Path | None = None) -> Iterator[Record]:
    """The records of one path; `database`: where runs left the shapes that they saw."""
    if path.is_dir():
        project = Project(path)
        project.index()
        found = False
        for file in python_files(path):
            found = True
            try:
                yield from calls_in_file(file, project, shapes=shapes, database=database)
            except Problem as problem:
                say(one_line(problem), err=True)
        if not found:
            raise CallsProblem(f"{path} holds no Python file or notebook: give a folder with code in it.")
    elif path.exists():
        yield from calls_in_file(path, project_of(path), shapes=shapes, database=database)
    else:
        raise CallsProblem(f"{path} does not exist: check the spelling.")


def calls_in_file(
    path: Path, project: Project, *, shapes: bool = False, database: Path | None = None
) -> Iterator[Record]:
    """The records of one file or notebook."""
    try:
        data = project.read(path)
    except OSError as problem:
        raise CallsProblem(
            f"{path} cannot be read ({problem.strerror}): check that it is a file and still there."
        ) from None
    if path.suffix == ".ipynb":
        notebook = Notebook.read(data, path=real(path), project=project)
        shapes_of = _shapes(path, notebook.document, project, database) if shapes else None
        for call in written(notebook.analyse().calls()):
            cell, span = notebook.locate(call.span)
            record = record_of(call, path, notebook.lines(cell), span.start_byte, span.end_byte, cell)
            yield record if shapes_of is None else {**record, "shapes": shapes_of(call)}
    else:
        document = project.open(path, data)
        shapes_of = _shapes(path, document, project, database) if shapes else None
        for call in written(document.analyse().calls()):
            record = record_of(call, path, document.lines(), call.span.start_byte, call.span.end_byte)
            yield record if shapes_of is None else {**record, "shapes": shapes_of(call)}


def _shapes(
    path: Path, document: Document, project: Project, database: Path | None
) -> Callable[[Call], list[Record]]:
    """What tells the shapes that a call is given; an argument several times where it is given different ones."""
    # Only who asks for shapes waits for what knows them.
    from energy_data.database.store import EnergyStore
    from energy_lsp.predicting.program import name_in
    from energy_lsp.predicting.recorded import recorded_shapes, site_figures
    from energy_lsp.predicting.shapes import argument_shapes, shapes_of
    from energy_lsp.workspace.settings import project_root

    root = project_root(path)
    store = EnergyStore.open(database, root, strict=False)
    try:
        figures = site_figures(store, document.analyse(), name_in(root, path))
    finally:
        store.close()
    recorded = recorded_shapes(
        (document.analyse().calls()[number], figure) for number, figure in figures.items()
    )
    found = shapes_of(path, document.lines().source.decode("utf-8", "replace"), project, recorded)
    return lambda call: argument_shapes(call, found)


def written(calls: Sequence[Call]) -> Iterator[Call]:
    """The calls that stand in the source as calls: a bare decorator is a use, not a call expression."""
    return (call for call in calls if not call.decorator)


def record_of(call: Call, path: Path, lines: Lines, start: int, end: int, cell: int | None = None) -> Record:
    """What is printed of one call."""
    line, column = lines.position(start, "utf-32")
    end_line, end_column = lines.position(end, "utf-32")
    record: Record = {
        "file": str(path),
        "line": line + 1,
        "column": column,
        "end_line": end_line + 1,
        "end_column": end_column,
        "api": call.api,
        "confidence": round(call.confidence, 2),
        "function": call.function,
        "mode": call.mode,
        "times": call.runs.times,
        "in_unknown_loop": call.runs.in_unknown_loop,
        "epochs": call.runs.epochs,
    }
    if cell is not None:
        record["cell"] = cell
    return record


def as_line(record: Record) -> str:
    """One line of text: place, name, and what is less than certain."""
    cell = f":cell {record['cell']}" if "cell" in record else ""
    place = f"{visible(record['file'])}{cell}:{record['line']}:{record['column']}"
    sure = "" if record["confidence"] >= 1 else f"  (confidence {record['confidence']:.2f})"
    shapes = "".join(f"  {visible(one['name'])}={visible(one['shape'])}" for one in record.get("shapes", ()))
    return f"{place}: {record['api']}{sure}{shapes}"


def fitted(record: Record, columns: int | None) -> str:
    """The same in so many columns: the folders of the file go first, then the beginning of the API's name."""
    line = as_line(record)
    if columns is None or len(line) <= columns:
        return line
    place, api = line.split(": ", 1)
    place = shortened(place, max(columns - len(api) - 2, columns // 2))
    return f"{place}: {shortened(api, max(columns - len(place) - 2, 1))}"
