"""The schema of the energy database, as numbered steps that never change once released."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite_utils import Database, Migrations

APPLICATION_ID = 0x456E4C53
"""Marks a file as ours ("EnLS"), so that another program's SQLite file is not taken for one."""

LATEST = 2
"""Number of the last migration; a file with a higher `user_version` comes from a newer program."""


def user_version(connection: sqlite3.Connection) -> int:
    """The number of the last migration a file has seen."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrations() -> Migrations:
    """The set of all steps, for `Migrations.apply`."""
    from sqlite_utils import Migrations  # 0.1 s: readers do without

    steps = Migrations("energy_data")
    steps(name="001_measurements")(_001_measurements)
    steps(name="002_summaries")(_002_summaries)
    return steps


def _001_measurements(db: Database) -> None:
    db.table("machines").create(
        {"id": str, "cpu": str, "gpu": str, "memory_bytes": int, "os": str, "driver": str, "meters": str},
        pk="id",
    )
    db.table("environments").create({"id": str, "python": str, "tensorflow": str, "keras": str}, pk="id")
    db.table("runs").create(
        {
            "id": str,
            "machine_id": str,
            "environment_id": str,
            "command": str,
            "started": str,
            "meter": str,
            "estimated": int,
            "stable": int,
            "commit": str,
            "project": str,
            "temperatures": str,
            "seconds": float,
            "joules": str,
            "unaccounted_joules": float,
        },
        pk="id",
        foreign_keys=[("machine_id", "machines", "id"), ("environment_id", "environments", "id")],
    )
    db.table("measurements").create(
        {
            "id": str,
            "run_id": str,
            "api": str,
            "file": str,
            "line": int,
            "arguments": str,
            "bytes_args": int,
            "bytes_kwargs": int,
            "bytes_object": int,
            "seconds": float,
            "cpu_joules": float,
            "cpu_stderr": float,
            "ram_joules": float,
            "ram_stderr": float,
            "gpu_joules": float,
            "gpu_stderr": float,
            "count": int,
            "repeats": int,
            "resolved": int,
            "method": str,
            "at_trace_time": int,
            "tail_joules": float,
            "low": float,
            "high": float,
            "exclusive_joules": float,
        },
        pk="id",
        foreign_keys=[("run_id", "runs", "id")],
    )
    db.table("measurements").create_index(["run_id"])
    db.table("measurements").create_index(["api", "file", "line"])
    db.table("traces").create(
        {"run_id": str, "device": str, "samples": int, "seconds": bytes, "watts": bytes},
        pk=("run_id", "device"),
        foreign_keys=[("run_id", "runs", "id")],
    )
    db.table("spans").create(
        {
            "run_id": str,
            "number": int,
            "api": str,
            "file": str,
            "line": int,
            "thread": int,
            "start": float,
            "end": float,
        },
        pk=("run_id", "number"),
        foreign_keys=[("run_id", "runs", "id")],
    )
    db.table("evidence").create(
        {
            "id": str,
            "rule": str,
            "size": str,
            "mode": str,
            "pairs": int,
            "ratio": float,
            "low": float,
            "high": float,
            "p_value": float,
            "a12": float,
            "control_ratio": float,
            "joules_before": float,
            "machine": str,
            "meter": str,
            "estimated": int,
            "measured": str,
            "tensorflow": str,
        },
        pk="id",
    )
    db.table("evidence").create_index(["rule"])


def _002_summaries(db: Database) -> None:
    """One ready answer per call site and per API, so that a look-up reads a single row.

    `local_machines` are those whose runs were measured into this very file: what was merged or imported from
    elsewhere must not pass for measured here.
    """
    db.table("local_machines").create({"machine_id": str}, pk="machine_id")
    db.table("summaries").create(
        {
            "api": str,
            "file": str,
            "line": int,
            "project": str,
            "layer": str,
            "run_id": str,
            "machine_id": str,
            "machine": str,
            "meter": str,
            "estimated": int,
            "started": str,
            "version": str,
            "runs": int,
            "measurements": int,
            "sites": int,
            "resolved": int,
            "seconds": float,
            "total": float,
            "low": float,
            "high": float,
            "cpu": float,
            "ram": float,
            "gpu": float,
            "below": float,
            "spread": str,
        },
        pk=("api", "file", "line", "project"),
    )
