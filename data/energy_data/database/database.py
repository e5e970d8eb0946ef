"""One SQLite file of measurements. Everything that writes goes through here, in whole transactions."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from energy_data.catalogue.naming import canonical
from energy_data.database.connections import WAIT_SECONDS, Connection, read_connection, write_connection
from energy_data.database.guard import SECONDS, Deadline, protect
from energy_data.database.migrations import APPLICATION_ID, LATEST, migrations, user_version
from energy_data.database.summaries import summarise, summarise_everything, summarise_run
from energy_data.model import CallSpan, Inside, Measurement, Part, Phase, RuleEvidence, Run, Source, Trace
from energy_data.problems import DatabaseProblem as DatabaseProblem
from energy_data.problems import explained, missing, not_a_database
from energy_data.rows import (
    Row,
    content_id,
    environment_from,
    environment_row,
    evidence_from,
    evidence_row,
    identified,
    inside_from,
    inside_row,
    machine_from,
    machine_row,
    measurement_from,
    measurement_row,
    part_from,
    part_row,
    phase_from,
    phase_row,
    run_from,
    run_row,
    span_from,
    span_row,
    trace_from,
    trace_row,
)
from energy_data.untrusted.soundness import sound

if TYPE_CHECKING:
    import sqlite_utils

LOG_MILLISECONDS = 1000
"""How long closing waits for readers that are in the middle of something."""
OF_A_RUN = ("traces", "spans", "phases", "parts", "insides")
"""Tables whose rows belong to a run, beside its measurements."""

TABLES = ("machines", "environments", "runs", "measurements", *OF_A_RUN, "evidence")
"""What is exported and merged, in an order in which rows only point at tables before theirs.

Calibrations stay where they were made: they describe one machine, and no other one's."""


class Database:
    """An open energy database; a context manager that closes it."""

    def __init__(
        self,
        path: Path,
        connection: sqlite3.Connection,
        *,
        schema: int = LATEST,
        wait: float = WAIT_SECONDS,
    ) -> None:
        self.path = path
        self.schema = schema
        """Number of the last migration that the file has seen."""
        self.connection = connection
        self.wait = wait
        self._tables: sqlite_utils.Database | None = None
        self._leaves_log = False
        self._deadline: Deadline | None = None

    @classmethod
    def open(cls, path: Path, *, create: bool = True, wait: float = WAIT_SECONDS) -> Database:
        """Open a file to read and write, brought up to date; raise `DatabaseProblem` if that cannot be."""
        if not create and not path.exists():
            raise missing(path)
        database = cls(path, write_connection(path, wait), wait=wait)
        database._leaves_log = True
        try:
            database._migrate()
        except BaseException:
            database.close()
            raise
        return database

    @classmethod
    def read(cls, path: Path, *, wait: float = WAIT_SECONDS, shared: bool = True) -> Database:
        """Open a file to read alone; one of an older schema is upgraded in a copy in memory.

        A file that is not `shared` with a writer, as one in a checkout, gets no other file beside it.
        """
        with explained(path):
            connection = read_connection(path, wait=wait, shared=shared)
            schema = user_version(connection)
            if schema < LATEST:
                connection = upgraded_copy(path, connection)
            database = cls(path, connection, schema=schema, wait=wait)
            database._deadline = Deadline(connection, SECONDS)
            return database

    @classmethod
    def scratch(cls) -> Database:
        """An empty database in a nameless temporary file, gone when it is closed."""
        connection = sqlite3.connect("", isolation_level=None, factory=Connection)
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA foreign_keys = ON")
        database = cls(Path("a temporary file"), connection)
        database._migrate()
        return database

    def tables(self) -> sqlite_utils.Database:
        """The file as sqlite-utils sees it."""
        if self._tables is None:
            import sqlite_utils  # 0.1 s: only writers need it

            self._tables = sqlite_utils.Database(self.connection)
        return self._tables

    def _migrate(self) -> None:
        with explained(self.path):
            if user_version(self.connection) == LATEST:
                return
        with self.transaction() as tables:
            if user_version(self.connection) < LATEST:  # another process may have been faster
                upgrade(tables)

    @contextmanager
    def transaction(self) -> Iterator[sqlite_utils.Database]:
        """All or nothing; takes the write lock at once, to wait for its turn instead of failing later."""
        tables = self.tables()
        with explained(self.path):
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield tables
                self.connection.execute("COMMIT")
            except BaseException:
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise

    def add_run(
        self,
        run: Run,
        measurements: Iterable[Measurement] = (),
        traces: Iterable[Trace] = (),
        spans: Iterable[CallSpan] = (),
    ) -> bool:
        """Store a run with everything it holds, in one transaction; False if it was there already."""
        with self.transaction():
            return self.put_run(run, measurements, traces, spans)

    def put_run(
        self,
        run: Run,
        measurements: Iterable[Measurement] = (),
        traces: Iterable[Trace] = (),
        spans: Iterable[CallSpan] = (),
        phases: Iterable[Phase] = (),
        parts: Iterable[Part] = (),
        inside: Inside | None = None,
    ) -> bool:
        """`add_run` within a transaction that the caller holds."""
        tables = self.tables()
        if self.has_run(run.id):
            return False
        tables.table("machines").insert(machine_row(run.machine), ignore=True)
        tables.table("environments").insert(environment_row(run.environment), ignore=True)
        tables.table("runs").insert(run_row(run))
        rows = [_named(measurement_row(m)) for m in identified(run.id, measurements)]
        tables.table("measurements").insert_all(rows, ignore=True)
        tables.table("traces").insert_all([trace_row(trace, run.id) for trace in traces], ignore=True)
        tables.table("spans").insert_all(
            [span_row(span, run.id, number) for number, span in enumerate(spans)], ignore=True
        )
        tables.table("phases").insert_all([phase_row(phase, run.id) for phase in phases], ignore=True)
        tables.table("parts").insert_all(
            [part_row(part, run.id, number) for number, part in enumerate(parts)], ignore=True
        )
        if inside is not None:
            tables.table("insides").insert(inside_row(inside, run.id))
        sites = {(row["api"], row["file"], row["line"]) for row in rows}
        if any(row["method"] == "imported" for row in rows):
            summarise(tables, sites)
        elif self._is_new_here(run):
            summarise_everything(tables)
        else:
            summarise_run(tables, run, sites)
        return True

    def replace_run(
        self,
        run: Run,
        measurements: Iterable[Measurement] = (),
        traces: Iterable[Trace] = (),
        spans: Iterable[CallSpan] = (),
        phases: Iterable[Phase] = (),
        parts: Iterable[Part] = (),
        inside: Inside | None = None,
    ) -> None:
        """Store a run in place of what is stored under its id, as when more of its repeats are done."""
        with self.transaction() as tables:
            summarise(tables, self.remove_run(run.id))
            self.put_run(run, measurements, traces, spans, phases, parts, inside)

    def remove_run(self, run_id: str) -> list[tuple[str, str, int]]:
        """Remove a run within a transaction of the caller, who then has to summarise the sites it leaves."""
        sites = self._all("SELECT DISTINCT api, file, line FROM measurements WHERE run_id = ?", run_id)
        for table in ("measurements", *OF_A_RUN):
            self.connection.execute(f"DELETE FROM {table} WHERE run_id = ?", (run_id,))
        self.connection.execute("DELETE FROM runs WHERE id = ?", (run_id,))
        return [(site[0], site[1], site[2]) for site in sites]

    def _is_new_here(self, run: Run) -> bool:
        """Note a machine that measures into this file; True for a new one: it changes what is "here"."""
        machine = content_id(run.machine)
        noted = self.connection.execute("INSERT OR IGNORE INTO local_machines VALUES (?)", (machine,))
        return noted.rowcount > 0

    def add_evidence(self, evidence: Iterable[RuleEvidence]) -> None:
        """Store measured comparisons of rules; the same comparison is kept once."""
        with self.transaction() as tables:
            tables.table("evidence").insert_all([evidence_row(item) for item in evidence], ignore=True)

    def has_run(self, run_id: str) -> bool:
        """Whether a run is stored."""
        return bool(self._all("SELECT 1 FROM runs WHERE id = ?", run_id))

    def runs(self) -> list[Run]:
        """All runs, oldest first."""
        with self._readable():
            machines = {row["id"]: machine_from(row) for row in self._all("SELECT * FROM machines")}
            environments = {
                row["id"]: environment_from(row) for row in self._all("SELECT * FROM environments")
            }
            return [
                sound(run_from(row, machines[row["machine_id"]], environments[row["environment_id"]]))
                for row in self._all("SELECT * FROM runs ORDER BY started, id")
            ]

    def measurements(self, run_id: str) -> list[Measurement]:
        """The measurements of one run, by place."""
        sql = "SELECT * FROM measurements WHERE run_id = ? ORDER BY file, line, id"
        with self._readable():
            return [sound(measurement_from(row)) for row in self._all(sql, run_id)]

    def traces(self, run_id: str) -> list[Trace]:
        """The power traces of one run."""
        sql = "SELECT * FROM traces WHERE run_id = ? ORDER BY device"
        with self._readable():
            return [trace_from(row) for row in self._all(sql, run_id)]

    def spans(self, run_id: str) -> list[CallSpan]:
        """When the calls of one run took place, as far as they were kept."""
        sql = "SELECT * FROM spans WHERE run_id = ? ORDER BY number"
        with self._readable():
            return [sound(span_from(row)) for row in self._all(sql, run_id)]

    def phases(self, run_id: str) -> list[Phase]:
        """What one run spent, by phase."""
        with self._readable():
            return [
                sound(phase_from(row)) for row in self._all("SELECT * FROM phases WHERE run_id = ?", run_id)
            ]

    def parts(self, run_id: str) -> list[Part]:
        """What is inside the calls of one run, as far as it was looked at."""
        sql = "SELECT * FROM parts WHERE run_id = ? ORDER BY number"
        with self._readable():
            return [sound(part_from(row)) for row in self._all(sql, run_id)]

    def inside(self, run_id: str) -> Inside | None:
        """How a run was looked into; None where it was not."""
        with self._readable():
            found = self._all("SELECT * FROM insides WHERE run_id = ?", run_id)
            return sound(inside_from(found[0])) if found else None

    def evidence(self, rule: str | None = None, source: Source = "here") -> list[RuleEvidence]:
        """Measured comparisons of one rule (or of all), newest first."""
        where = "" if rule is None else "WHERE rule = ?"
        sql = f"SELECT * FROM evidence {where} ORDER BY measured DESC, rule, size, mode, id"
        with self._readable():
            return [
                sound(evidence_from(row, source)) for row in self._all(sql, *([] if rule is None else [rule]))
            ]

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Rows that hold something else than they should are a damaged file, not a crash."""
        try:
            yield
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError, zlib.error) as error:
            raise not_a_database(self.path) from error

    def ask_on(self) -> None:
        """Whoever reads a long answer piece by piece has time for the next piece."""
        if self._deadline is not None:
            self._deadline.restart()

    def counts(self) -> dict[str, int]:
        """Rows per table."""
        return {table: self._all(f"SELECT count(*) AS n FROM {table}")[0]["n"] for table in TABLES}

    def _all(self, sql: str, *parameters: Any) -> Sequence[sqlite3.Row]:
        self.ask_on()
        with explained(self.path):
            rows = self.connection.execute(sql, parameters).fetchall()
        if "FROM traces" not in sql and any(
            bytes in map(type, row) for row in rows
        ):  # all others hold texts and numbers
            raise not_a_database(self.path)
        return rows

    def close(self) -> None:
        """Close the file. What was written goes into it now: readers that stay open would keep it in a log beside it.

        Who puts another file in place of this one would otherwise get the log's pages on top of it.
        """
        if self._leaves_log:
            with suppress(sqlite3.Error):  # a reader is in the middle of something, or the file is gone
                self.connection.execute(f"PRAGMA busy_timeout = {LOG_MILLISECONDS}")
                self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        self.connection.close()

    def __enter__(self) -> Database:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def upgrade(tables: sqlite_utils.Database) -> None:
    """Apply the migrations a file has not seen, within the caller's transaction."""
    migrations().apply(tables)
    tables.conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    tables.conn.execute(f"PRAGMA user_version = {LATEST}")
    summarise_everything(tables)


def upgraded_copy(path: Path, connection: sqlite3.Connection) -> sqlite3.Connection:
    """A copy in memory of a database with an older schema, brought up to date; the file stays as it is."""
    copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False, factory=Connection)
    copy.row_factory = sqlite3.Row
    protect(copy)
    connection.backup(copy)
    connection.close()
    Deadline(copy, SECONDS)
    with Database(path, copy).transaction() as tables:
        upgrade(tables)
    return copy


def _named(row: Row) -> Row:
    return {**row, "api": canonical(row["api"])}
