"""Copies rows from one database file to another, as many as there are: a million should take seconds.

A file of this version is attached, so that SQLite copies by itself; rows of an older one, which was brought up to date in
memory, go through Python. A table that was empty gets its indexes when the rows are in.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from energy_data.database.database import Database
from energy_data.database.inserting import insert_tuples
from energy_data.database.migrations import LATEST
from energy_data.problems import explained

CACHE_KILOBYTES = 262_144
"""While copying: an index that does not fit is written and read again and again."""

Copy = Callable[[str, Sequence[str], str | None, Collection[str]], None]
"""Copy a table: its name, its columns, the one that names a run, the runs to leave out."""


@contextmanager
def copier(database: Database, source: Database) -> Iterator[Copy]:
    """What copies tables of the source into the database; enter it before the transaction begins."""
    connection = database.connection
    usual = connection.execute("PRAGMA cache_size").fetchone()[0]
    connection.execute(f"PRAGMA cache_size = -{CACHE_KILOBYTES}")
    try:
        if source.schema == LATEST and source.path.is_file():
            with explained(source.path):
                connection.execute("ATTACH ? AS source", (f"{source.path.absolute().as_uri()}?mode=ro",))
            try:
                yield _Attached(connection).copy
            finally:
                connection.execute("DETACH source")
        else:
            yield _Streamed(connection, source).copy
    finally:
        connection.execute(f"PRAGMA cache_size = {usual}")


class _Attached:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def copy(self, table: str, names: Sequence[str], run_of: str | None, skipped: Collection[str]) -> None:
        columns = ", ".join(f'"{name}"' for name in names)
        # One parameter, however many they are.
        where = f' WHERE "{run_of}" NOT IN (SELECT value FROM json_each(?))' if run_of and skipped else ""
        with _indexed_later(self.connection, table):
            self.connection.execute(
                f"INSERT OR IGNORE INTO main.{table} ({columns}) SELECT {columns} FROM source.{table}{where}",
                (json.dumps(sorted(skipped)),) if where else (),
            )


class _Streamed:
    def __init__(self, connection: sqlite3.Connection, source: Database) -> None:
        self.connection = connection
        self.source = source

    def copy(self, table: str, names: Sequence[str], run_of: str | None, skipped: Collection[str]) -> None:
        columns = ", ".join(f'"{name}"' for name in names)
        rows = self.source.connection.cursor()
        rows.row_factory = None  # tuples, which go from one file to the other without being looked at
        with explained(self.source.path):
            rows.execute(f"SELECT {columns} FROM {table}")
        kept: Iterable[Any] = rows
        if run_of and skipped:
            place = list(names).index(run_of)
            kept = (row for row in rows if row[place] not in skipped)
        with _indexed_later(self.connection, table):
            insert_tuples(self.connection, table, names, kept, ignore=True)


@contextmanager
def _indexed_later(connection: sqlite3.Connection, table: str) -> Iterator[None]:
    """Within the transaction: an index is made faster of many rows than kept in step with each."""
    empty = connection.execute(f"SELECT 1 FROM main.{table} LIMIT 1").fetchone() is None
    sql = "SELECT name, sql FROM main.sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL"
    indexes = connection.execute(sql, (table,)).fetchall() if empty else []
    for index in indexes:
        connection.execute(f'DROP INDEX main."{index[0]}"')
    yield
    for index in indexes:
        connection.execute(index[1])
