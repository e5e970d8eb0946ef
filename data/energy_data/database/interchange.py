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

from energy_data.catalogue.naming import canonical
from energy_data.database.copying import copier
from energy_data.database.database import OF_A_RUN, TABLES, Database
from energy_data.database.inserting import insert_rows
from energy_data.database.migrations import ADDED
from energy_data.database.sharing import shared_row
from energy_data.database.summaries import summarise
from energy_data.model import DEVICES, Environment, Machine
from energy_data.problems import DatabaseProblem, explain, explained
from energy_data.rows import (
    environment_from,
    evidence_from,
    inside_from,
    machine_from,
    measurement_from,
    part_from,
    phase_from,
    run_from,
    span_from,
    trace_from,
)
from energy_data.untrusted.printable import json_text, one_line

FORMAT = "energy-lsp 1"
_KEYS = {
    "traces": ("run_id", "device"),
    "spans": ("run_id", "number"),
    "phases": ("run_id", "name"),
    "parts": ("run_id", "number"),
    "insides": ("run_id",),
}
_BATCH = 500
_HEAVY = 16 * 1024 * 1024
"""Characters that wait to be written at once; rows of a forged file may share their pages and add up to any size."""
LONGEST_LINE = 64 * 1024 * 1024
LONGEST_TEXT = 1024 * 1024
LONGEST_SERIES = 32 * 1024 * 1024
"""Columns that hold a list with an entry for each second, line or layer."""
_SERIES = {"temperature_series", "lines", "flows", "sparse", "operations", "repeats", "detail"}
LARGEST_NUMBER = 1e100
"""No joules, seconds or bytes come near it, and its square can still be computed."""
MOST_LINES = 50_000_000
UNREADABLE = (ValueError, KeyError, AttributeError, TypeError, RecursionError, OverflowError, zlib.error)
"""What reading a row raises that holds something else than it should."""

Columns = dict[str, dict[str, type]]
NULLABLE = {
    "stable",
    "unaccounted_joules",
    "tail_joules",
    "low",
    "high",
    "exclusive_joules",
    "stability_seconds",
    "first_joules",
    "first_seconds",
    *(f"{device}_{part}" for device in DEVICES for part in ("joules", "stderr")),
}
_READERS: dict[str, Callable[[dict[str, Any]], object]] = {
    "machines": machine_from,
    "environments": environment_from,
    "runs": lambda row: run_from(row, Machine("", "", 0, "", ""), Environment("", "", "")),
    "measurements": measurement_from,
    "traces": trace_from,
    "spans": span_from,
    "phases": phase_from,
    "parts": part_from,
    "insides": inside_from,
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
                database.ask_on()
                values = {key: _to_json(row[key]) for key in row.keys()}  # noqa: SIM118 - not a dict
                yield json_text({"table": table, **shared_row(table, values)})


def import_lines(database: Database, lines: Iterable[str]) -> dict[str, int]:
    """Add what an export holds, all of it or nothing; returns how many rows of each table were new."""
    with Database.scratch() as scratch:
        with scratch.transaction() as tables:
            columns: Columns = {table: tables.table(table).columns_dict for table in TABLES}
            batches: dict[str, list[dict[str, Any]]] = {table: [] for table in TABLES}
            weight = 0
            for table, row in _parsed(lines, columns):
                batches[table].append(row)
                weight += _weight(row)
                if len(batches[table]) == _BATCH or weight > _HEAVY:
                    _flush(scratch, batches)
                    weight = 0
            _flush(scratch, batches)
        return _absorb(database, scratch)


def _flush(scratch: Database, batches: dict[str, list[dict[str, Any]]]) -> None:
    """Write what has been read so far, tables that others point at first."""
    try:
        for table in TABLES:
            insert_rows(scratch.connection, table, batches[table], ignore=True)
            batches[table].clear()
    except sqlite3.IntegrityError as error:
        raise BadLine(f"a row points at a machine, environment or run that is not there ({error})") from error
    except (OverflowError, UnicodeError) as error:
        raise BadLine(f"a value cannot be stored ({error})") from error


def _parsed(lines: Iterable[str], columns: Columns) -> Iterator[tuple[str, dict[str, Any]]]:
    head: object = None
    for number, line in enumerate(lines, 1):
        if len(line) > LONGEST_LINE or number > MOST_LINES:
            raise BadLine(f"line {number} is longer than a row can be, or there are too many")
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
        except UNREADABLE as error:
            raise BadLine(f"line {number} is not a row of an export ({one_line(error, 200)})") from error
    if head is None:
        raise BadLine("it is empty")


def _row(table: str, row: dict[str, Any], columns: Columns) -> dict[str, Any]:
    """A row as the database keeps it; a value that a reader would stumble over is refused."""
    known = columns.get(table)
    if table in ADDED:
        row = {**ADDED[table], **row}  # an export of an earlier version has fewer columns
    if known is None or row.keys() != known.keys():
        raise BadLine("it does not hold the columns of a known table")
    for name, kind in known.items():
        value = row[name]
        held = type(value)
        # The common cases first, since a million rows come through here.
        if held is kind:
            if held is float:
                if -LARGEST_NUMBER <= value <= LARGEST_NUMBER:
                    continue
            elif held is int:
                if -(1 << 63) < value < 1 << 63:
                    continue
            elif held is bytes or len(value) <= (LONGEST_SERIES if name in _SERIES else LONGEST_TEXT):
                continue
        elif value is None and name in NULLABLE:
            continue
        row[name] = _mended(name, kind, value)
    row = shared_row(table, row)
    _READERS[table](row)
    if table == "measurements":
        row["api"] = canonical(row["api"])
    return row


def _mended(name: str, kind: type, value: Any) -> Any:
    """A value that has to become another to be stored; raises `BadLine` for one that cannot be."""
    if kind is bytes and isinstance(value, str):
        return base64.b64decode(value, validate=True)
    if kind is float and type(value) is int and abs(value) < 1 << 63:
        return value
    if isinstance(value, bool) or (isinstance(value, int) and abs(value) >= 1 << 63):
        raise BadLine(f"a value cannot be stored ({name!r})")
    if not isinstance(value, (int, float) if kind is float else kind):
        raise BadLine(f"{name!r} is not {'a number' if kind in (int, float) else 'a text'}")
    if isinstance(value, str):
        raise BadLine(f"{name!r} is longer than it can be")
    if isinstance(value, float) and not math.isfinite(value):
        raise BadLine(f"{name!r} is not a finite number")
    raise BadLine(f"{name!r} is larger than anything measured")


def _weight(row: dict[str, Any]) -> int:
    return sum(len(value) for value in row.values() if isinstance(value, (str, bytes)))


def _to_json(value: object) -> object:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def merge(database: Database, other: Path) -> dict[str, int]:
    """Add everything another database holds, in one transaction; what both hold is kept once."""
    with Database.read(other, wait=database.wait, shared=False) as source, Database.scratch() as scratch:
        with scratch.transaction() as tables:
            columns: Columns = {table: tables.table(table).columns_dict for table in TABLES}
            for table in TABLES:
                for rows in _batches(source, table, columns):
                    try:
                        insert_rows(scratch.connection, table, rows, ignore=True)
                    except sqlite3.IntegrityError as error:
                        raise _unsound(other, table, error) from error
        return _absorb(database, scratch)


def _batches(source: Database, table: str, columns: Columns) -> Iterator[list[dict[str, Any]]]:
    """The rows of a table of another file, each looked at as one of an export is."""
    try:
        rows: list[dict[str, Any]] = []
        weight = 0
        source.ask_on()
        for row in source.connection.execute(f"SELECT * FROM {table}"):
            rows.append(_row(table, dict(zip(row.keys(), row, strict=True)), columns))
            weight += _weight(rows[-1])
            if len(rows) == _BATCH or weight > _HEAVY:
                yield rows
                rows, weight = [], 0
                source.ask_on()
        yield rows
    except (BadLine, *UNREADABLE) as error:
        raise _unsound(source.path, table, error) from error
    except (sqlite3.Error, OSError) as error:
        raise explain(source.path, error) from error


def _unsound(path: Path, table: str, error: Exception) -> DatabaseProblem:
    return DatabaseProblem(
        f"{path} was not merged: a row of its {table} is not sound ({one_line(error, 200)}); nothing was changed."
    )


def _absorb(database: Database, source: Database) -> dict[str, int]:
    """Add the rows of one database to another, all or none, and count those that are new."""
    with explained(source.path):
        sites = source.connection.execute("SELECT DISTINCT api, file, line FROM measurements").fetchall()
    with copier(database, source) as copy, database.transaction() as tables:
        before = database.counts()
        leaving, skipped = _outdated(database, source)
        sites += [site for run_id in leaving for site in database.remove_run(run_id)]
        for table in TABLES:
            run_of = "id" if table == "runs" else "run_id" if table in ("measurements", *OF_A_RUN) else None
            copy(table, list(tables.table(table).columns_dict), run_of, skipped)
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
