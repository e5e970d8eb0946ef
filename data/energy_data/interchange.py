"""Moving measurements between databases: JSON Lines, and merging two files."""

from __future__ import annotations

import base64
import json
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from energy_data.database import TABLES, Database
from energy_data.model import DEVICES
from energy_data.naming import canonical
from energy_data.problems import explained
from energy_data.summaries import summarise

FORMAT = "energy-lsp 1"
_KEYS = {"traces": ("run_id", "device"), "spans": ("run_id", "number")}
_BATCH = 500

Columns = dict[str, dict[str, type]]
NULLABLE = {
    "stable",
    "unaccounted_joules",
    "tail_joules",
    "low",
    "high",
    "exclusive_joules",
    *(f"{device}_{part}" for device in DEVICES for part in ("joules", "stderr")),
}
JSON_COLUMNS = {
    "machines": ("meters",),
    "runs": ("temperatures", "joules"),
    "measurements": ("arguments",),
}


class BadLine(Exception):  # noqa: N818 - a finding about a file
    """A line that is not part of an export; `str()` of it names the line and the reason."""


def export_lines(database: Database) -> Iterator[str]:
    """Everything that was measured, a line each, in an order that depends on the content alone."""
    yield json.dumps({"table": "format", "format": FORMAT})
    for table in TABLES:
        order = ", ".join(_KEYS.get(table, ("id",)))
        with explained(database.path):
            for row in database.connection.execute(f"SELECT * FROM {table} ORDER BY {order}"):
                values = {key: _to_json(row[key]) for key in row.keys()}  # noqa: SIM118 - not a dict
                yield json.dumps({"table": table, **values}, ensure_ascii=False)


def import_lines(database: Database, lines: Iterable[str]) -> dict[str, int]:
    """Add what an export holds, all of it or nothing; returns how many rows of each table were new."""
    with database.transaction() as tables:
        before = database.counts()
        columns: Columns = {table: tables.table(table).columns_dict for table in TABLES}
        batches: dict[str, list[dict[str, Any]]] = {table: [] for table in TABLES}
        touched: set[tuple[str, str, int]] = set()
        for table, row in _parsed(lines, columns):
            if table == "measurements":
                row["api"] = canonical(row["api"])
                touched.add((row["api"], row["file"], row["line"]))
            batches[table].append(row)
            if len(batches[table]) == _BATCH:
                _flush(database, batches)
        _flush(database, batches)
        summarise(tables, touched)
        after = database.counts()
    return {table: after[table] - before[table] for table in TABLES}


def _flush(database: Database, batches: dict[str, list[dict[str, Any]]]) -> None:
    """Write what has been read so far, tables that others point at first."""
    try:
        for table in TABLES:
            database.tables.table(table).insert_all(batches[table], ignore=True)
            batches[table].clear()
    except sqlite3.IntegrityError as error:
        raise BadLine(f"a row points at a machine, environment or run that is not there ({error})") from error


def _parsed(lines: Iterable[str], columns: Columns) -> Iterator[tuple[str, dict[str, Any]]]:
    head: object = None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            table = row.pop("table")
            if head is None or table == "format":  # exports may be joined with `cat`
                head = row.get("format")
                if table != "format" or head != FORMAT:
                    raise BadLine(f"it does not begin as an export of {FORMAT!r}")
            else:
                yield table, _row(table, row, columns)
        except BadLine as error:
            raise BadLine(f"line {number}: {error}") from error
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            raise BadLine(f"line {number} is not a row of an export ({error})") from error
    if head is None:
        raise BadLine("it is empty")


def _row(table: str, row: dict[str, Any], columns: Columns) -> dict[str, Any]:
    """A row as the database keeps it; a value that a reader would stumble over is refused."""
    known = columns.get(table)
    if known is None or set(row) != set(known):
        raise BadLine("it does not hold the columns of a known table")
    for name, kind in known.items():
        if kind is bytes:
            row[name] = base64.b64decode(row[name], validate=True)
        elif row[name] is None and name in NULLABLE:
            continue
        elif not isinstance(row[name], (int, float) if kind is float else kind):
            raise BadLine(f"{name!r} is not {'a number' if kind in (int, float) else 'a text'}")
        if name in JSON_COLUMNS.get(table, ()):
            json.loads(row[name])
    return row


def _to_json(value: object) -> object:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def merge(database: Database, other: Path) -> dict[str, int]:
    """Add everything another database holds, in one transaction; what both hold is kept once."""
    with Database.read(other, wait=database.wait) as source, database.transaction() as tables:
        before = database.counts()
        for table in TABLES:
            names = list(tables.table(table).columns_dict)
            columns = ", ".join(f'"{name}"' for name in names)
            places = ", ".join("?" * len(names))
            with explained(other):
                rows = source.connection.execute(f"SELECT {columns} FROM {table}")
            database.connection.executemany(
                f"INSERT OR IGNORE INTO {table} ({columns}) VALUES ({places})", map(tuple, rows)
            )
        sites = source.connection.execute("SELECT DISTINCT api, file, line FROM measurements")
        summarise(tables, [tuple(site) for site in sites])
        after = database.counts()
    return {table: after[table] - before[table] for table in TABLES}
