"""Copies many rows into a database: a million should take seconds."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from energy_data.database.inserting import insert_tuples

CACHE_KILOBYTES = 262_144
"""While copying: an index that does not fit is written and read again and again."""


@contextmanager
def room_to_copy(connection: sqlite3.Connection) -> Iterator[None]:
    """A larger cache, for as long as rows are copied; enter it before the transaction begins."""
    usual = connection.execute("PRAGMA cache_size").fetchone()[0]
    connection.execute(f"PRAGMA cache_size = -{CACHE_KILOBYTES}")
    try:
        yield
    finally:
        connection.execute(f"PRAGMA cache_size = {usual}")


def copy_rows(
    connection: sqlite3.Connection, table: str, names: Sequence[str], rows: Iterable[Sequence[Any]]
) -> None:
    """Add rows whose key is not there yet; a table that was empty gets its indexes when the rows are in."""
    with _indexed_later(connection, table):
        insert_tuples(connection, table, names, rows, ignore=True)


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
