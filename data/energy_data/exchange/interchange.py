"""Moving measurements between databases: JSON Lines, and merging two files."""

from __future__ import annotations

import base64
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from energy_data.database.database import OF_A_RUN, TABLES, Database
from energy_data.database.inserting import insert_tuples
from energy_data.database.migrations import ADDED
from energy_data.database.summaries import summarise
from energy_data.exchange.checking import UNREADABLE, BadRow, RowCheck, Values
from energy_data.exchange.copying import copy_rows, room_to_copy
from energy_data.exchange.sharing import shared_row
from energy_data.problems import DatabaseProblem, explain, explained
from energy_data.untrusted.parsing import parse_json
from energy_data.untrusted.printable import json_text, one_line

FORMAT = "energy-lsp 1"
_KEYS = {
    "traces": ("run_id", "device"),
    "spans": ("run_id", "number"),
    "phases": ("run_id", "name"),
    "parts": ("run_id", "number"),
    "insides": ("run_id",),
}
_POINTS: dict[str, dict[str, str]] = {
    "runs": {"machine_id": "machines", "environment_id": "environments"},
    **{table: {"run_id": "runs"} for table in ("measurements", *OF_A_RUN)},
}
"""Columns that name a row of another table."""
_BATCH = 500
_HEAVY = 16 * 1024 * 1024
"""Characters that wait to be written at once; rows of a forged file may share their pages and add up to any size."""
LONGEST_LINE = 64 * 1024 * 1024
MOST_LINES = 50_000_000

Checks = dict[str, RowCheck]


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
        with scratch.transaction():
            checks = _checks(scratch)
            batches: dict[str, list[Values]] = {table: [] for table in TABLES}
            weight = 0
            for table, row in _parsed(lines, checks):
                batches[table].append(row)
                weight += _weight(row)
                if len(batches[table]) == _BATCH or weight > _HEAVY:
                    _flush(scratch, checks, batches)
                    weight = 0
            _flush(scratch, checks, batches)
        return _absorb(database, scratch, lambda table: _rows(scratch, table, checks[table].names))


def _checks(database: Database) -> Checks:
    return {table: RowCheck(table, database.tables().table(table).columns_dict) for table in TABLES}


def _flush(scratch: Database, checks: Checks, batches: dict[str, list[Values]]) -> None:
    """Write what has been read so far, tables that others point at first."""
    try:
        for table in TABLES:
            insert_tuples(scratch.connection, table, checks[table].names, batches[table], ignore=True)
            batches[table].clear()
    except sqlite3.IntegrityError as error:
        raise BadLine(f"a row points at a machine, environment or run that is not there ({error})") from error
    except (OverflowError, UnicodeError) as error:
        raise BadLine(f"a value cannot be stored ({error})") from error


def _parsed(lines: Iterable[str], checks: Checks) -> Iterator[tuple[str, Values]]:
    head: object = None
    for number, line in enumerate(lines, 1):
        if len(line) > LONGEST_LINE or number > MOST_LINES:
            raise BadLine(f"line {number} is longer than a row can be, or there are too many")
        if not line.strip():
            continue
        try:
            row = parse_json(line)
            table = row.pop("table")
            if head is None or table == "format":  # exports may be joined with `cat`
                head = row.get("format")
                if table != "format" or head != FORMAT:
                    raise BadRow(f"it does not begin as an export of {FORMAT!r}")
            else:
                yield table, _checked(table, row, checks)
        except BadRow as error:
            raise BadLine(f"line {number}: {error}") from error
        except UNREADABLE as error:
            raise BadLine(f"line {number} is not a row of an export ({one_line(error, 200)})") from error
    if head is None:
        raise BadLine("it is empty")


def _checked(table: str, row: dict[str, Any], checks: Checks) -> Values:
    check = checks.get(table)
    if table in ADDED:
        row = {**ADDED[table], **row}  # an export of an earlier version has fewer columns
    if check is None or row.keys() != set(check.names):
        raise BadRow("it does not hold the columns of a known table")
    return check(tuple(row[name] for name in check.names))


def _weight(row: Values) -> int:
    return sum(len(value) for value in row if isinstance(value, (str, bytes)))


def _to_json(value: object) -> object:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def merge(database: Database, other: Path) -> dict[str, int]:
    """Add everything another database holds, in one transaction; what both hold is kept once."""
    with Database.read(other, wait=database.wait, shared=False) as source:
        checks = _checks(database)
        present: dict[str, set[str]] = {}
        """What the tables that others point at hold: a row of the file must not point into our own rows."""
        return _absorb(database, source, lambda table: _sound_rows(source, table, checks[table], present))


def _sound_rows(
    source: Database, table: str, check: RowCheck, present: dict[str, set[str]]
) -> Iterator[Values]:
    """The rows of a table of another file, each looked at as one of an export is."""
    pointing = [(check.names.index(column), present[of]) for column, of in _POINTS.get(table, {}).items()]
    pointed_at = present.setdefault(table, set()) if table in ("machines", "environments", "runs") else None
    place = check.names.index("id") if pointed_at is not None else 0
    try:
        source.ask_on()
        held = source.connection.execute(f"SELECT * FROM {table} LIMIT 0").description
        if {column[0] for column in held} != set(check.names):
            raise BadRow("it does not hold the columns of a known table")
        for number, values in enumerate(_rows(source, table, check.names)):
            if number % _BATCH == 0:
                source.ask_on()
            row = check(values)
            for column, there in pointing:
                if row[column] not in there:
                    raise BadRow("it points at a machine, environment or run that is not there")
            if pointed_at is not None:
                pointed_at.add(row[place])
            yield row
    except (BadRow, *UNREADABLE) as error:
        raise _unsound(source.path, table, error) from error
    except (sqlite3.Error, OSError) as error:
        raise explain(source.path, error) from error


def _rows(source: Database, table: str, names: Iterable[str]) -> Iterator[Values]:
    """The rows of a table as plain tuples, which are made faster than rows that know their columns."""
    columns = ", ".join(f'"{name}"' for name in names)
    rows = source.connection.cursor()
    rows.row_factory = None
    source.ask_on()
    return rows.execute(f"SELECT {columns} FROM {table}")


def _unsound(path: Path, table: str, error: Exception) -> DatabaseProblem:
    return DatabaseProblem(
        f"{path} was not merged: a row of its {table} is not sound ({one_line(error, 200)}); nothing was changed."
    )


def _absorb(
    database: Database, source: Database, rows_of: Callable[[str], Iterator[Values]]
) -> dict[str, int]:
    """Add the rows of one database to another, all or none, and count those that are new."""
    with room_to_copy(database.connection), database.transaction() as tables:
        before = database.counts()
        leaving, skipped = _outdated(database, source)
        sites = {tuple(site[:2]) for run_id in leaving for site in database.remove_run(run_id)}
        for table in TABLES:
            names = list(tables.table(table).columns_dict)
            rows = rows_of(table)
            if table in _POINTS and skipped:
                run = names.index("id" if table == "runs" else "run_id")
                rows = _without(rows, run, skipped)
            if table == "measurements":
                rows = _noting(rows, names.index("api"), names.index("file"), sites)
            copy_rows(database.connection, table, names, rows)
        summarise(tables, sites)
        after = database.counts()
    return {table: after[table] - before[table] for table in TABLES}


def _without(rows: Iterator[Values], run: int, skipped: set[str]) -> Iterator[Values]:
    return (row for row in rows if row[run] not in skipped)


def _noting(rows: Iterator[Values], api: int, file: int, sites: set[tuple[Any, ...]]) -> Iterator[Values]:
    """The rows as they are, with the calls that they are about put into `sites`."""
    for row in rows:
        sites.add((row[api], row[file]))
        yield row


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
