"""What can be wrong with a database file, in one sentence that says what to do next."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Problem(Exception):  # noqa: N818 - it is what the user reads, not a programming error
    """Something that the user can mend; `str()` of it is the sentence that says how."""


class DatabaseProblem(Problem):
    """A database that cannot be used; `str()` of it is the sentence for the user."""


def not_a_database(path: Path) -> DatabaseProblem:
    """The file holds something else, or is damaged."""
    return DatabaseProblem(
        f"{path} is not an energy database or is damaged: move it away, or name another file with --db."
    )


def newer_schema(path: Path, found: int, known: int) -> DatabaseProblem:
    """The file was written by a later version of this program."""
    return DatabaseProblem(
        f"{path} was written by a newer energy-lsp (schema {found}, this one knows {known}): "
        "upgrade energy-lsp, or name another file with --db."
    )


def missing(path: Path) -> DatabaseProblem:
    """There is no such file where one has to be."""
    return DatabaseProblem(f"{path} does not exist: check the name, or measure something first.")


def explain(path: Path, error: BaseException) -> DatabaseProblem:
    """Turn an error of SQLite or of the file system into a sentence."""
    # By text rather than by code: Python 3.10's sqlite3 carries no error codes.
    text = str(error)
    if "not a database" in text or "malformed" in text or isinstance(error, UnicodeDecodeError):
        return not_a_database(path)
    if text == "interrupted":
        return DatabaseProblem(f"{path} takes too long to read: name another file with --db.")
    if "string or blob too big" in text:
        return DatabaseProblem(f"{path} holds values that no measurement makes: name another file with --db.")
    if "locked" in text or "busy" in text:
        return DatabaseProblem(
            f"{path} is locked by another program: try again later, or wait longer with --wait."
        )
    if "full" in text or "disk I/O error" in text or "No space left" in text:
        return DatabaseProblem(
            f"{path} could not be written because its disk is full or failing: free some space and try again."
        )
    if "readonly" in text or "read-only" in text.lower() or isinstance(error, PermissionError):
        return read_only(path)
    if "unable to open" in text:
        return unreachable(path)
    return DatabaseProblem(f"{path} cannot be used ({text}): name another file with --db.")


def read_only(path: Path) -> DatabaseProblem:
    """The folder or the file may not be written."""
    return DatabaseProblem(
        f"{path} cannot be written because it or its folder is read-only: "
        "change its permissions, or name another file with --db."
    )


def unreachable(path: Path) -> DatabaseProblem:
    """SQLite's "unable to open" has several causes; look at the file system for the one at hand."""
    if path.is_dir():
        return DatabaseProblem(f"{path} is a folder, not a database: name a file with --db.")
    if path.exists() or path.parent.is_dir():
        return read_only(path)
    return DatabaseProblem(f"The folder of {path} does not exist: make it, or name another file with --db.")


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Raise errors of SQLite and of the file system as a `DatabaseProblem` about `path`."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise explain(path, error) from error
