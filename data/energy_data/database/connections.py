"""Connections to SQLite files, with plain `sqlite3`: a look-up must not wait for sqlite-utils to load."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from energy_data.database.guard import check_objects, protect
from energy_data.database.migrations import APPLICATION_ID, LATEST, user_version
from energy_data.paths import standard_database, user_database
from energy_data.problems import (
    DatabaseProblem,
    explain,
    explained,
    missing,
    newer_schema,
    not_a_database,
    unreachable,
)
from energy_data.untrusted.printable import storable
from energy_data.untrusted.reading import LARGEST_DATABASE, NotRead, check_stored
from energy_data.untrusted.writing import PRIVATE_FOLDER, create, keep_private, private_folder

WAIT_SECONDS = 60.0
"""How long a writer waits for its turn before it says that the database is locked."""

_BESIDE = ("-wal", "-shm", "-journal")
"""Files that SQLite opens with a database: a link or a pipe in their place would lead it elsewhere or hang it."""


class Connection(sqlite3.Connection):
    """A connection that takes any text: file names and what programs say need not be UTF-8, which SQLite keeps."""

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        """As usual; texts that cannot be stored as they are have escapes in them, in rows and in questions alike."""
        try:
            return super().execute(sql, parameters)
        except UnicodeEncodeError:
            if isinstance(parameters, Mapping):
                return super().execute(sql, {name: storable(value) for name, value in parameters.items()})
            return super().execute(sql, [storable(value) for value in parameters])


def write_ahead_log(path: Path) -> Path:
    """The file next to a database that holds commits not yet copied into it."""
    return path.with_name(path.name + "-wal")


def index_of_log(path: Path) -> Path:
    """The file by which those who have a database open find what its log holds."""
    return path.with_name(path.name + "-shm")


def read_connection(path: Path, *, shared: bool = True, wait: float = WAIT_SECONDS) -> sqlite3.Connection:
    """Open an existing energy database to read; one that is not `shared` gets no file beside it either.

    A database that a team checked in is not shared with a writer: it is opened as immutable, because SQLite
    would otherwise leave `-wal` and `-shm` files in the checkout, and could not open it in a read-only one. So is one
    that brings a log along: where somebody writes, there is an index of the log (`-shm`) too.
    """
    _check_file(path)
    live = write_ahead_log(path)
    if not shared and not (live.exists() and live.stat().st_size and index_of_log(path).exists()):
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
    except (
        sqlite3.DatabaseError,
        UnicodeDecodeError,
    ) as error:  # damaged schemas are quoted in SQLite's messages
        connection.close()
        raise explain(path, error) from error
    except BaseException:
        connection.close()
        raise
    return connection


def write_connection(path: Path, wait: float = WAIT_SECONDS) -> sqlite3.Connection:
    """Open a database to write, making one where there is none; a file that is not ours stays as it is."""
    with explained(path):
        private_folder(path.parent)
        if path.is_symlink() and not (path.exists() and path.stat().st_size):
            raise DatabaseProblem(f"{path} is a link to no database: name the file itself with --db.")
        with suppress(FileExistsError):
            os.close(create(path))  # SQLite would let others read it
        _check_file(path)
        _keep_private(path)
        connection = _connect(path, "mode=rwc", wait)
        try:
            check_schema(path, connection)
            connection.execute("PRAGMA foreign_keys = ON")
            _use_write_ahead_log(connection, wait)
        except UnicodeDecodeError as error:  # SQLite's message quotes a damaged schema
            connection.close()
            raise explain(path, error) from error
        except BaseException:
            connection.close()
            raise
        return connection


def _connect(path: Path, access: str, wait: float) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?{access}"
    connection = sqlite3.connect(
        uri, uri=True, timeout=wait, isolation_level=None, check_same_thread=False, factory=Connection
    )
    connection.row_factory = sqlite3.Row
    protect(connection)
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
    check_objects(path, connection)


def _check_file(path: Path) -> None:
    """Raise unless there is a regular file of a bearable size."""
    try:
        check_stored(path, LARGEST_DATABASE)
    except FileNotFoundError:
        raise missing(path) from None
    except NotRead as problem:
        if path.is_dir():
            raise unreachable(path) from None
        raise DatabaseProblem(
            f"{path} is not read because {problem.strerror}: name another file with --db."
        ) from None
    for ending in _BESIDE:
        beside = path.with_name(path.name + ending)
        if beside.is_symlink() or (beside.exists() and not beside.is_file()):
            raise DatabaseProblem(f"{path} is not read because {beside.name} beside it is no regular file.")


def _keep_private(path: Path) -> None:
    """The user's own database is nobody else's to read; a team's file keeps the mode it has."""
    if path == user_database():
        keep_private(path)
        if path == standard_database():
            keep_private(path.parent, PRIVATE_FOLDER)
