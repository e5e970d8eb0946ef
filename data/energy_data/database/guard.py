"""A database file of others: it holds plain tables or is not read, and no question to it takes for ever.

SQLite runs what a schema says: views and triggers, generated columns, checks, indexes on expressions, modules of
virtual tables. None of our migrations makes any of them, so a file that has one is refused before anything is
asked of it. The words of a schema outside of quotes are few, and counted here.
"""

from __future__ import annotations

import re
import sqlite3
import time
from pathlib import Path

from energy_data.problems import DatabaseProblem

SECONDS = 60.0
"""For one question to a file that somebody named."""
LOOKUP_SECONDS = 2.0
"""For one look-up, while an editor waits."""
STEPS = 10_000
"""SQLite's own steps between two looks at the clock."""
LARGEST_VALUE = 64 * 1024 * 1024
MOST_OBJECTS = 200
LONGEST_STATEMENT = 20_000
_KEYWORDS = "create table unique index if not exists on primary key references foreign null default"
_TYPES = "text integer real float blob"
_WORDS = frozenset(_KEYWORDS.split() + _TYPES.split())
_QUOTED = re.compile(r'"(?:[^"]|"")*"|\[[^\]]*\]|`(?:[^`]|``)*`|\'(?:[^\']|\'\')*\'')
_TOKEN = re.compile(r"[A-Za-z_]\w*|\d+(?:\.\d+)?|[(),.+-]|\s+|(.)", re.DOTALL)
_EXPRESSION = re.compile(r"\bdefault\s*\(", re.IGNORECASE)
_LIMITS = {
    "LENGTH": LARGEST_VALUE,
    "SQL_LENGTH": 1_000_000,
    "EXPR_DEPTH": 100,
    "TRIGGER_DEPTH": 1,
}


class Deadline:
    """Ends a question that takes too long; whoever asks the next one starts it anew."""

    def __init__(self, connection: sqlite3.Connection, seconds: float) -> None:
        self.seconds = seconds
        self.restart()
        connection.set_progress_handler(self._is_over, STEPS)

    def restart(self) -> None:
        """Another question: the clock begins again."""
        self._end = time.monotonic() + self.seconds

    def _is_over(self) -> int:
        return int(time.monotonic() > self._end)


def protect(connection: sqlite3.Connection) -> None:
    """Have SQLite trust nothing that a file says, and take no value that nobody measured."""
    for pragma in (
        "trusted_schema = OFF",
        "cell_size_check = ON",
        "mmap_size = 0",
        "recursive_triggers = OFF",
    ):
        connection.execute(f"PRAGMA {pragma}")
    if hasattr(connection, "setlimit"):  # Python 3.11
        for name, most in _LIMITS.items():
            connection.setlimit(getattr(sqlite3, f"SQLITE_LIMIT_{name}"), most)
    if hasattr(connection, "setconfig"):  # Python 3.12
        connection.setconfig(getattr(sqlite3, "SQLITE_DBCONFIG_DEFENSIVE"), True)  # noqa: B009 - mypy knows it from 3.12 on


def check_objects(path: Path, connection: sqlite3.Connection) -> None:
    """Raise unless a file holds plain tables and plain indexes alone."""
    query = "SELECT type, name, rootpage, sql FROM sqlite_master"
    found = connection.execute(f"{query} LIMIT {MOST_OBJECTS + 1}").fetchall()
    if len(found) > MOST_OBJECTS:
        raise strange(path, "more tables than an energy database has")
    for kind, name, page, statement in map(tuple, found):
        if kind not in ("table", "index") or not isinstance(page, int) or page <= 0:
            raise strange(path, f"a {kind if kind in ('view', 'trigger') else 'virtual table'}")
        if statement is None:
            continue  # an index that SQLite made for a key
        if not isinstance(statement, str) or not is_plain(statement):
            raise strange(path, "a table that computes something")
        if kind == "table":
            hidden = connection.execute("SELECT hidden FROM pragma_table_xinfo(?)", (name,)).fetchall()
            if any(column[0] for column in hidden):
                raise strange(path, "a column that computes something")
        else:
            columns = connection.execute("SELECT cid FROM pragma_index_xinfo(?)", (name,)).fetchall()
            if any(column[0] == -2 for column in columns):
                raise strange(path, "an index that computes something")


def is_plain(statement: str) -> bool:
    """Whether a statement of a schema names columns, types, keys and constants, and nothing else."""
    if len(statement) > LONGEST_STATEMENT:
        return False
    rest = _QUOTED.sub(" ", statement)
    if _EXPRESSION.search(rest) or "--" in rest:  # a quote in a comment would hide what stands behind it
        return False
    for token in _TOKEN.finditer(rest):
        word = token[0].lower()
        if token[1] is not None or (word[0].isalpha() and word not in _WORDS) or word[0] == "_":
            return False
    return True


def strange(path: Path, what: str) -> DatabaseProblem:
    """A file that no energy-lsp has made."""
    return DatabaseProblem(
        f"{path} holds {what}, which no energy database does: it is not read; ask whoever made it for an export."
    )
