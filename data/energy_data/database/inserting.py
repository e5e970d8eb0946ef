"""Puts many rows into a table: SQLite's own loop over plain tuples, since a million rows should take seconds."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any


def insert_rows(
    connection: sqlite3.Connection, table: str, rows: Iterable[Mapping[str, Any]], *, ignore: bool = False
) -> None:
    """Insert rows that all have the columns of the first; `ignore` those whose key is there already."""
    remaining = iter(rows)
    first = next(remaining, None)
    if first is not None:
        names = list(first)
        values = map(itemgetter(*names), chain([first], remaining))
        insert_tuples(connection, table, names, values, ignore=ignore)


def insert_tuples(
    connection: sqlite3.Connection,
    table: str,
    names: Sequence[str],
    values: Iterable[Sequence[Any]],
    *,
    ignore: bool = False,
) -> None:
    """Insert values in the order of the names."""
    columns = ", ".join(f'"{name}"' for name in names)
    verb = "INSERT OR IGNORE" if ignore else "INSERT"
    connection.executemany(f"{verb} INTO {table} ({columns}) VALUES ({', '.join('?' * len(names))})", values)
