"""Letting old runs go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from energy_data.database.database import OF_A_RUN, Database
from energy_data.database.summaries import summarise
from energy_data.problems import explained

_RANKED = """
SELECT id, started, row_number() OVER (
    PARTITION BY machine_id, CASE project_id WHEN '' THEN project ELSE project_id END, command ORDER BY started DESC, id DESC
) AS age FROM runs
"""


@dataclass(frozen=True, slots=True)
class Pruned:
    """What a prune removed, or would remove."""

    runs: int
    measurements: int
    traces: int


def prune(
    database: Database,
    *,
    before: str | None = None,
    keep: int | None = None,
    traces_only: bool = False,
    dry_run: bool = False,
) -> Pruned:
    """Remove runs older than `before` (ISO 8601) or not among the newest `keep` of their program.

    With `traces_only` the runs stay and lose their power traces and time lines, by far their largest part;
    without `before` and `keep` that is all runs.
    """
    chosen, parameters = _choice(before, keep, everything=traces_only)
    with database.transaction() as tables:
        execute = database.connection.execute
        execute("CREATE TEMP TABLE IF NOT EXISTS leaving (id TEXT PRIMARY KEY)")
        execute("DELETE FROM leaving")
        execute(f"INSERT INTO leaving SELECT id FROM ({_RANKED}) WHERE {chosen}", parameters)
        pruned = _counted(database, traces_only)
        if dry_run:
            return pruned
        for table in ("traces", "spans") if traces_only else OF_A_RUN:
            execute(f"DELETE FROM {table} WHERE run_id IN (SELECT id FROM leaving)")
        if not traces_only:
            of_leaving = "FROM measurements WHERE run_id IN (SELECT id FROM leaving)"
            sites = execute(f"SELECT DISTINCT api, file, line {of_leaving}").fetchall()
            execute(f"DELETE {of_leaving}")
            execute("DELETE FROM runs WHERE id IN (SELECT id FROM leaving)")
            _drop_unused(database)
            summarise(tables, [tuple(site) for site in sites])
    with explained(database.path):
        database.connection.execute("VACUUM")
    return pruned


def _choice(before: str | None, keep: int | None, *, everything: bool) -> tuple[str, list[str | int]]:
    conditions: list[str] = []
    parameters: list[str | int] = []
    if before is not None:
        conditions.append("started < ?")
        parameters.append(before)
    if keep is not None:
        conditions.append("age > ?")
        parameters.append(keep)
    return " OR ".join(conditions) or str(int(everything)), parameters


def _counted(database: Database, traces_only: bool) -> Pruned:
    def number(table: str, column: str) -> int:
        sql = f"SELECT count(*) FROM {table} WHERE {column} IN (SELECT id FROM leaving)"
        return int(database.connection.execute(sql).fetchone()[0])

    traces = number("traces", "run_id")
    if traces_only:
        return Pruned(0, 0, traces)
    return Pruned(number("runs", "id"), number("measurements", "run_id"), traces)


def delete_runs(database: Database, runs: Sequence[str]) -> None:
    """Remove runs by their ids, with everything that was measured in them."""
    with database.transaction() as tables:
        for run_id in runs:
            summarise(tables, database.remove_run(run_id))
        _drop_unused(database)


def _drop_unused(database: Database) -> None:
    """Let machines and environments go that no run and no calibration is of any more."""
    execute = database.connection.execute
    execute("DELETE FROM machines WHERE id NOT IN (SELECT machine_id FROM runs)")
    kept = "SELECT environment_id FROM runs UNION SELECT environment_id FROM calibrations"
    execute(f"DELETE FROM environments WHERE id NOT IN ({kept})")
