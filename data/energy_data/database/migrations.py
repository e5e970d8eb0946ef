"""The schema of the energy database, as numbered steps that never change once released."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite_utils import Database, Migrations

APPLICATION_ID = 0x456E4C53
"""Marks a file as ours ("EnLS"), so that another program's SQLite file is not taken for one."""

LATEST = 5
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
    steps(name="003_account")(_003_account)
    steps(name="004_interval_covers")(_004_interval_covers)
    steps(name="005_fused_layers")(_005_fused_layers)
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


_ADDED_003: dict[str, dict[str, str | int | None]] = {
    "environments": {"backend": "", "backend_version": "", "device": "", "precision": ""},
    "runs": {
        "project_id": "",
        "status": "finished",
        "error": "",
        "repository": "",
        "owner": "",
        "branch": "",
        "commit_date": "",
        "settings": "{}",
        "temperature_series": "{}",
        "stability_seconds": None,
    },
    "measurements": {
        "column": 0,
        "function": "",
        "text": "",
        "kind": "api",
        "first_joules": None,
        "first_seconds": None,
    },
}
"""Columns that step 003 adds, and what they hold in rows of before."""

ADDED = {**_ADDED_003, "measurements": {**_ADDED_003["measurements"], "covers": ""}}
"""Columns that steps after the first have added to tables that are exported, and what they hold in rows of before."""


def _003_account(db: Database) -> None:
    """What makes an account add up: whose call it is, what the program spent outside of calls, and inside of them.

    Calibrations are no measurements: they have tables of their own, and nothing here ever copies one into the other.
    """
    for table, columns in _ADDED_003.items():
        for name, default in columns.items():
            kind = {str: "TEXT", int: "INTEGER"}.get(type(default), "REAL")
            filled = "" if default is None else f" NOT NULL DEFAULT {default!r}"
            db.execute(f'ALTER TABLE {table} ADD COLUMN "{name}" {kind}{filled}')
    _summaries_by_call(db)
    db.table("phases").create(
        {"run_id": str, "name": str, "joules": float, "seconds": float, "detail": str},
        pk=("run_id", "name"),
        foreign_keys=[("run_id", "runs", "id")],
    )
    db.table("parts").create(
        {
            "run_id": str,
            "number": int,
            "measurement_id": str,
            "path": str,
            "kind": str,
            "direction": str,
            "file": str,
            "line": int,
            "joules": float,
            "seconds": float,
            "count": int,
            "observed": int,
            "low": float,
            "high": float,
            "called_file": str,
            "called_line": int,
            "operations": str,
            "repeats": str,
        },
        pk=("run_id", "number"),
        foreign_keys=[("run_id", "runs", "id")],
    )
    db.table("insides").create(
        {"run_id": str, "note": str, "looked_at": float, "flows": str, "sparse": str, "lines": str},
        pk="run_id",
        foreign_keys=[("run_id", "runs", "id")],
    )
    db.table("parts").create_index(["measurement_id"])
    db.table("parts").create_index(["file", "line"])
    db.table("calibrations").create(
        {
            "id": str,
            "machine_id": str,
            "machine": str,
            "environment_id": str,
            "meter": str,
            "estimated": int,
            "measured": str,
            "quick": int,
            "repeatability": float,
            "scale": float,
        },
        pk="id",
        foreign_keys=[("environment_id", "environments", "id")],
    )
    db.table("coefficients").create(
        {
            "calibration_id": str,
            "name": str,
            "mode": str,
            "family": str,
            "values": str,
            "smallest": float,
            "largest": float,
            "points": int,
            "reach": str,
            "watts": float,
            "trace": float,
        },
        pk=("calibration_id", "name", "mode"),
        foreign_keys=[("calibration_id", "calibrations", "id")],
    )


SITE_KEY = (
    "api",
    "file",
    "project_id",
    "project",
    "function",
    "text",
    "number",
    "source",
    "machine",
    "meter",
    "backend",
    "device",
    "precision",
)
"""What makes a row of `summaries` the answer for one call site, of one machine, meter and back end."""


def _summaries_by_call(db: Database) -> None:
    """Ready answers by what a call is, instead of by its line alone; they are made anew after every upgrade."""
    db.table("summaries").drop()
    db.table("summaries").create(
        {
            **dict.fromkeys(SITE_KEY, str),
            "number": int,
            "line": int,
            "column": int,
            "kind": str,
            "arguments": str,
            "method": str,
            "run_id": str,
            "program": str,
            "machine_id": str,
            "estimated": int,
            "started": str,
            "version": str,
            "runs": int,
            "measurements": int,
            "sites": int,
            "resolved": int,
            "seconds": float,
            "times": int,
            "total": float,
            "low": float,
            "high": float,
            "cpu": float,
            "ram": float,
            "gpu": float,
            "below": float,
            "first": float,
            "exclusive": float,
            "spread": str,
        },
        pk=SITE_KEY,
    )
    db.table("summaries").create_index(["file"])
    db.table("summaries").create_index(["api", "arguments"])


def _004_interval_covers(db: Database) -> None:
    """What an interval holds: the meter's doubt alone, repeated runs too, or runs as they usually are."""
    for table in ("measurements", "summaries"):
        db.execute(f"ALTER TABLE {table} ADD COLUMN \"covers\" TEXT NOT NULL DEFAULT ''")


def _005_fused_layers(db: Database) -> None:
    """Layers that TensorFlow runs as part of another one: JSON of paths, files and lines."""
    db.execute("ALTER TABLE parts ADD COLUMN \"fused\" TEXT NOT NULL DEFAULT '[]'")
