"""Connections to SQLite files, with plain `sqlite3`: a look-up must not wait for sqlite-utils to load."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

from energy_data.migrations import APPLICATION_ID, LATEST, user_version
from energy_data.problems import explain, explained, missing, newer_schema, not_a_database, unreachable

WAIT_SECONDS = 60.0
"""How long a writer waits for its turn before it says that the database is locked."""


def write_ahead_log(path: Path) -> Path:
    """The file next to a database that holds commits not yet copied into it."""
    return path.with_name(path.name + "-wal")


def read_connection(path: Path, *, shared: bool = True, wait: float = WAIT_SECONDS) -> sqlite3.Connection:
    """Open an existing energy database to read; one that is not `shared` gets no file beside it either.

    A database that a team checked in is not shared with a writer: it is opened as immutable, because SQLite
    would otherwise leave `-wal` and `-shm` files in the checkout, and could not open it in a read-only one.
    """
    if not path.exists():
        raise missing(path)
    if path.is_dir():
        raise unreachable(path)
    live = write_ahead_log(path)
    if not shared and not (live.exists() and live.stat().st_size):
        return _checked(path, "immutable=1", wait)
    try:
        return _checked(path, "mode=ro", wait)
    except sqlite3.OperationalError as error:
        if "locked" in str(error) or (live.exists() and live.stat().st_size):
            raise explain(path, error) from error
        return _checked(
            path, "immutable=1", wait
        )  # a read-only folder or full disk: no room for SQLite's files


def _checked(path: Path, access: str, wait: float) -> sqlite3.Connection:
    connection = _connect(path, access, wait)
    try:
        check_schema(path, connection)
    except sqlite3.OperationalError:
        connection.close()
        raise
    except sqlite3.DatabaseError as error:
        connection.close()
        raise explain(path, error) from error
    except BaseException:
        connection.close()
        raise
    return connection


def write_connection(path: Path, wait: float = WAIT_SECONDS) -> sqlite3.Connection:
    """Open a database to write, making one where there is none; a file that is not ours stays as it is."""
    with explained(path):
        if path.is_dir():
            raise unreachable(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = _connect(path, "mode=rwc", wait)
        try:
            check_schema(path, connection)
            connection.execute("PRAGMA foreign_keys = ON")
            _use_write_ahead_log(connection, wait)
        except BaseException:
            connection.close()
            raise
        return connection


def _connect(path: Path, access: str, wait: float) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?{access}"
    connection = sqlite3.connect(uri, uri=True, timeout=wait, isolation_level=None, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    return connection


def _use_write_ahead_log(connection: sqlite3.Connection, wait: float) -> None:
    """Switch to WAL. SQLite does not call its busy handler for this switch, so wait here."""
    deadline = time.monotonic() + wait
    while True:
        try:
            if connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] == "wal":
                connection.execute("PRAGMA synchronous = NORMAL")
                return
            raise sqlite3.OperationalError("attempt to write a readonly database")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def check_schema(path: Path, connection: sqlite3.Connection) -> None:
    """Raise unless the file is empty or an energy database of a schema this program knows."""
    found = user_version(connection)
    application = int(connection.execute("PRAGMA application_id").fetchone()[0])
    if application != APPLICATION_ID:
        if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] or application:
            raise not_a_database(path)
    elif found > LATEST:
        raise newer_schema(path, found, LATEST)
