"""How long exporting, querying and merging a large database takes.

    python benchmarks/dataset.py [--rows 1000000] [--folder FOLDER]

Makes a database of so many measurements (as many runs of 5,000), exports it as Parquet, asks DuckDB for the energy by API
over 100 such files, and merges it into an empty database. Goals: export under 20 s and 120 MB, query under 1 s, merge
under 30 s, for a million measurements.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from energy_data.database.database import Database
from energy_data.model import Environment, InputSignature, Machine, Measurement, MeterInfo, Quantity, Run
from energy_data.rows import environment_row, machine_row, measurement_row, run_row
from record import Results

PER_RUN = 5000
ENVIRONMENT = Environment("3.11.9", "2.21.0", "3.15.0")
APIS = [f"tf.api{number}" for number in range(400)]
ABOUT = 'from energy_data.dataset.card import About; about = About("Benchmark", ("Somebody",))'
EXPORT = f"""
import sys, json, resource
from pathlib import Path
from energy_data.database.database import Database
from energy_data.dataset.export import export_dataset
{ABOUT}
with Database.read(Path(sys.argv[1])) as database:
    made = export_dataset(database, Path(sys.argv[2]), about)
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps([made.bytes, used.ru_maxrss / 1024, used.ru_utime + used.ru_stime]))
"""
MERGE = """
import sys, json, resource
from pathlib import Path
from energy_data.database.database import Database
from energy_data.exchange.interchange import merge
with Database.open(Path(sys.argv[2])) as database:
    merge(database, Path(sys.argv[1]))
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps([Path(sys.argv[2]).stat().st_size, used.ru_maxrss / 1024, used.ru_utime + used.ru_stime]))
"""
QUERY = (
    "SELECT api, sum(cpu_joules * count) AS joules FROM '{}' WHERE resolved GROUP BY api ORDER BY joules DESC"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path)
    asked = parser.parse_args()
    results = Results(
        "dataset", topic="Database", title=f"{asked.rows:,} measurements exported, asked and merged"
    )
    with tempfile.TemporaryDirectory(prefix="dataset-") as place:
        folder = asked.folder or Path(place)
        database = folder / f"{asked.rows}.db"
        if not database.exists():
            fill(database, asked.rows)
        megabytes = database.stat().st_size / 1e6
        print(f"{asked.rows:,} measurements, {megabytes:.0f} MB as a database")
        seconds, written = timed("export", EXPORT, database, folder / f"dataset-{time.time_ns()}")
        results.add("export as Parquet", seconds, "s", at_most=20)
        results.add("size of the export", written, "MB", at_most=120)
        results.add("energy by API over 100 files", query_parts(folder), "s", at_most=1)
        seconds, _ = timed("merge", MERGE, database, folder / f"merged-{time.time_ns()}.db")
        results.add("merge into an empty database", seconds, "s", at_most=30)
    results.write()


def fill(path: Path, rows: int) -> None:
    """A database as campaigns leave it: many runs of some programs on one machine."""
    chance = random.Random(1)
    machine = Machine(
        "a CPU", "", 1 << 34, "Linux", "", (MeterInfo("rapl", ("cpu",), 0.001, 6e-5, estimated=False),)
    )
    with Database.open(path) as database, database.transaction() as tables:
        tables.table("machines").insert(machine_row(machine))
        tables.table("environments").insert(environment_row(ENVIRONMENT))
        for number in range(max(1, rows // PER_RUN)):
            run = Run(
                id=f"20260101-{number:06d}-{chance.getrandbits(32):08x}",
                machine=machine,
                environment=ENVIRONMENT,
                command=f"python train{number % 40}.py",
                started=f"2026-01-01T00:00:{number % 60:02d}Z",
                meter="rapl",
                estimated=False,
                stable=True,
                project=f"/projects/p{number % 40}",
                seconds=100.0,
                joules={"cpu": Quantity(1000.0, 1.0)},
            )
            put(tables.conn, "runs", [run_row(run)])
            found = (one(run.id, place, number % 40, chance) for place in range(min(PER_RUN, rows)))
            put(tables.conn, "measurements", [measurement_row(found_one) for found_one in found])


def put(connection: sqlite3.Connection, table: str, rows: list[dict[str, object]]) -> None:
    names = ", ".join(f'"{name}"' for name in rows[0])
    places = ", ".join("?" * len(rows[0]))
    connection.executemany(
        f"INSERT INTO {table} ({names}) VALUES ({places})", [tuple(row.values()) for row in rows]
    )


def one(run_id: str, place: int, program: int, chance: random.Random) -> Measurement:
    joules = chance.lognormvariate(-3, 2)
    return Measurement(
        id=f"{run_id}-{place}",
        run_id=run_id,
        api=APIS[(place * 7 + program) % len(APIS)],
        file=f"src/module{place // 100}.py",
        line=place % 100 * 10 + 1,
        signature=InputSignature((f"float32[{place % 64},784]",), place % 64 * 784 * 4),
        seconds=joules / 50,
        joules={"cpu": Quantity(joules, joules / 20)},
        count=1 + place % 30,
        repeats=5,
        resolved=place % 9 != 0,
        method="in place",
        low=joules * 0.9,
        high=joules * 1.1,
        exclusive_joules=joules * 0.8,
    )


def timed(what: str, program: str, *arguments: Path) -> tuple[float, float]:
    """Seconds that a program took in a process of its own, and the megabytes that it wrote."""
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True
    )
    took = time.monotonic() - began
    size, memory, cpu = json.loads(done.stdout)
    print(f"{what}: {took:.1f} s ({cpu:.1f} s of CPU), {size / 1e6:.0f} MB written, {memory:.0f} MB peak")
    return took, size / 1e6


def query_parts(folder: Path) -> float:
    """Seconds for a question about the same rows over 100 files."""
    import duckdb
    import pyarrow.parquet as pq

    whole = max(folder.glob("dataset-*"), key=lambda path: path.name) / "measurements.parquet"
    parts = folder / "parts"
    parts.mkdir(exist_ok=True)
    table = pq.read_table(whole)
    step = -(-len(table) // 100)
    for number in range(100):
        pq.write_table(table.slice(number * step, step), parts / f"{number}.parquet", compression="zstd")
    del table
    connection = duckdb.connect()
    began, cpu = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_utime
    found = connection.execute(QUERY.format(parts / "*.parquet")).fetchall()
    took = time.monotonic() - began
    cpu = resource.getrusage(resource.RUSAGE_SELF).ru_utime - cpu
    print(f"query by API over 100 files: {took:.2f} s ({cpu:.2f} s of CPU), {len(found)} APIs")
    return took


if __name__ == "__main__":
    main()
