"""Moving measurements between databases: JSON Lines, and merging two files."""

from __future__ import annotations

import base64
import json
import math
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from energy_data.database import TABLES, Database
from energy_data.model import DEVICES, Environment, Machine
from energy_data.naming import canonical
from energy_data.problems import explained
from energy_data.rows import (
    environment_from,
    evidence_from,
    machine_from,
    measurement_from,
    run_from,
    span_from,
    trace_from,
)
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
_READERS: dict[str, Callable[[dict[str, Any]], object]] = {
    "machines": machine_from,
    "environments": environment_from,
    "runs": lambda row: run_from(row, Machine("", "", 0, "", ""), Environment("", "", "")),
    "measurements": measurement_from,
    "traces": trace_from,
    "spans": span_from,
    "evidence": lambda row: evidence_from(row, "here"),
}
"""What reads a row of each table: a row that it cannot read is not imported."""


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
    with Database.scratch() as scratch:
        with scratch.transaction() as tables:
            columns: Columns = {table: tables.table(table).columns_dict for table in TABLES}
            batches: dict[str, list[dict[str, Any]]] = {table: [] for table in TABLES}
            for table, row in _parsed(lines, columns):
                batches[table].append(row)
                if len(batches[table]) == _BATCH:
                    _flush(scratch, batches)
            _flush(scratch, batches)
        return _absorb(database, scratch)


def _flush(scratch: Database, batches: dict[str, list[dict[str, Any]]]) -> None:
    """Write what has been read so far, tables that others point at first."""
    try:
        for table in TABLES:
            scratch.tables.table(table).insert_all(batches[table], ignore=True)
            batches[table].clear()
    except sqlite3.IntegrityError as error:
        raise BadLine(f"a row points at a machine, environment or run that is not there ({error})") from error
    except (OverflowError, UnicodeError) as error:
        raise BadLine(f"a value cannot be stored ({error})") from error


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
        except (ValueError, KeyError, AttributeError, TypeError, zlib.error) as error:
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
        elif isinstance(row[name], float) and not math.isfinite(row[name]):
            raise BadLine(f"{name!r} is not a finite number")
    _READERS[table](row)
    if table == "measurements":
        row["api"] = canonical(row["api"])
    return row


def _to_json(value: object) -> object:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def merge(database: Database, other: Path) -> dict[str, int]:
    """Add everything another database holds, in one transaction; what both hold is kept once."""
    with Database.read(other, wait=database.wait) as source:
        return _absorb(database, source)


def _absorb(database: Database, source: Database) -> dict[str, int]:
    """Add the rows of one database to another, all or none, and count those that are new."""
    with explained(source.path):
        sites = source.connection.execute("SELECT DISTINCT api, file, line FROM measurements").fetchall()
    with database.transaction() as tables:
        before = database.counts()
        leaving, skipped = _outdated(database, source)
        sites += [site for run_id in leaving for site in database.remove_run(run_id)]
        for table in TABLES:
            names = list(tables.table(table).columns_dict)
            run_of = {"runs": "id", "measurements": "run_id", "traces": "run_id", "spans": "run_id"}.get(
                table
            )
            columns = ", ".join(f'"{name}"' for name in names)
            places = ", ".join("?" * len(names))
            with explained(source.path):
                rows = source.connection.execute(f"SELECT {columns} FROM {table}")
            place = names.index(run_of) if run_of else None
            kept = (tuple(row) for row in rows if place is None or row[place] not in skipped)
            database.connection.executemany(
                f"INSERT OR IGNORE INTO {table} ({columns}) VALUES ({places})", kept
            )
        summarise(tables, [tuple(site) for site in sites])
        after = database.counts()
    return {table: after[table] - before[table] for table in TABLES}


def _outdated(one: Database, other: Database) -> tuple[set[str], set[str]]:
    """Of the runs that both hold, those that are in an earlier state in the one, and in the other.

    A run under way is stored again after each repeat, so that two files may hold different states of it. The
    one with more repeats is the later; the rest of the comparison makes the choice the same in any order.
    """
    ours, theirs = _states(one), _states(other)
    common = ours.keys() & theirs.keys()
    earlier = {run_id for run_id in common if ours[run_id] < theirs[run_id]}
    return earlier, {run_id for run_id in common if theirs[run_id] < ours[run_id]}


def _states(database: Database) -> dict[str, tuple[Any, ...]]:
    numbers = [
        f"{what}(m.{column})" for what in ("max", "min") for column in ("repeats", "seconds", "cpu_joules")
    ]
    columns = ", ".join(f"coalesce({number}, 0)" for number in ("count(m.id)", *numbers))
    with explained(database.path):
        rows = database.connection.execute(
            f"SELECT r.id, coalesce(max(m.repeats), 0), {columns}, r.seconds, r.joules, r.started "
            "FROM runs r LEFT JOIN measurements m ON m.run_id = r.id GROUP BY r.id"
        )
        return {row[0]: tuple(row)[1:] for row in rows.fetchall()}
