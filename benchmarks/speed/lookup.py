"""How long a look-up for a hover takes, with one measurement in the database and with a million.

    python benchmarks/speed/lookup.py [--measurements 1000000]

Times are medians. Each is also given as a multiple of the plainest thing in the same run: fetching one row by
its key with `sqlite3` for a first look-up, a hit in a dict for a repeated one.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for what benchmarks share

from energy_data.catalogue.catalogue import Catalogue
from energy_data.database.database import Database
from energy_data.database.store import EnergyStore
from energy_data.database.summaries import summarise
from energy_data.model import Environment, InputSignature, Machine, Measurement, Quantity, Run
from energy_data.published.figures import names
from record import Results

SITES_PER_API = 20
LOOKUPS = 5000
LIMIT_US = 50


def apis() -> list[str]:
    """The names of the published figures: what programs really call."""
    return sorted({name for name in names() if Catalogue.load().find(name)})[:400]


def sites() -> list[tuple[str, str, int]]:
    return [(api, f"src/part_{n}.py", 10 * n + 1) for api in apis() for n in range(SITES_PER_API)]


def fill(path: Path, count: int) -> None:
    """Runs over all call sites, as a project measured every few days would leave; the last one is the newest.

    Older runs are copies made in SQL, to save time: the newest run answers, so they leave the summaries as
    they are, which is checked.
    """
    machine = Machine("CPU", "GPU", 1 << 34, "Linux", "", ())
    places = sites()[:count]
    run = Run("newest", machine, Environment("3", "2.21", "3"), "train.py", "2026-05-01", "rapl", False, True)
    joules = {"cpu": Quantity(1.5, 0.1), "ram": Quantity(0.1, 0.01), "gpu": Quantity(5.0, 0.2)}
    calls = [
        Measurement(
            "", "", api, file, line, InputSignature(), 0.01, joules, 1, 1, resolved=True, method="in place"
        )
        for api, file, line in places
    ]
    with Database.open(path) as database:
        database.add_run(run, calls)
        with database.transaction():
            for number in range(count // len(places) - 1):
                copy_of_the_run(database.connection, f"older-{number}")
        with database.transaction() as tables:
            before = [tuple(row) for row in database.connection.execute("SELECT * FROM summaries")]
            summarise(tables, random.Random(2).sample(places, min(50, len(places))))
            after = [tuple(row) for row in database.connection.execute("SELECT * FROM summaries")]
            assert sorted(before) == sorted(after)


def copy_of_the_run(connection: sqlite3.Connection, name: str) -> None:
    for table, changed in (
        ("runs", {"id": "?", "started": "'2026-01-01'"}),
        ("measurements", {"id": "id || ?"}),
    ):
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        taken = [changed.get(column, f'"{column}"') for column in columns]
        where = "id = 'newest'" if table == "runs" else "run_id = 'newest'"
        if table == "measurements":
            taken[columns.index("run_id")] = f"'{name}'"
        connection.execute(
            f"INSERT INTO {table} SELECT {', '.join(taken)} FROM {table} WHERE {where}", (name,)
        )


def microseconds(work: Callable[[tuple[str, str, int]], object], asked: list[tuple[str, str, int]]) -> float:
    times = []
    for place in asked:
        start = time.perf_counter_ns()
        work(place)
        times.append(time.perf_counter_ns() - start)
    return statistics.median(times) / 1000


def plain_select(path: Path) -> Callable[[tuple[str, str, int]], object]:
    connection = sqlite3.connect(path)
    sql = "SELECT * FROM summaries WHERE api = ? AND file = ? AND line = ?"
    return lambda place: connection.execute(sql, place).fetchone()


def measure(path: Path) -> list[tuple[str, float, float]]:
    generator = random.Random(1)
    places = sites()
    generator.shuffle(places)
    asked = places[:LOOKUPS]
    store = EnergyStore.open(path)

    def at_site(place: tuple[str, str, int]) -> object:
        return store.lookup(place[0], file=place[1], line=place[2])

    def in_general(place: tuple[str, str, int]) -> object:
        return store.lookup(place[0], file="elsewhere.py", line=place[2])

    select, answers = plain_select(path), {place: place for place in asked}
    select_time = microseconds(select, asked)
    dict_time = microseconds(lambda place: answers[place], asked)
    files = sorted({file for _, file, _ in places})
    first = microseconds(
        lambda place: EnergyStore.open(path).sites(place[1]), [("", file, 0) for file in files]
    )
    each = first / max(1, len(store.sites(files[0])))
    rows = [("a file's calls, read at once, each", each, each / select_time)]
    for label, work, unit in (
        ("look-up at a call site, asked before", at_site, dict_time),
        ("look-up of an API at a new place", in_general, select_time),
        ("look-up of an API, asked before", in_general, dict_time),
    ):
        taken = microseconds(work, asked)
        rows.append((label, taken, taken / unit))
    rows += [("(one row by key, plain sqlite3)", select_time, 1.0), ("(a hit in a dict)", dict_time, 1.0)]
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--measurements", type=int, default=1_000_000)
    arguments = parser.parse_args()
    results = Results("speed/lookup", topic="Database", title="Look-up for a hover")
    with tempfile.TemporaryDirectory() as folder:
        for count in (1, arguments.measurements):
            path = Path(folder) / f"{count}.db"
            fill(path, count)
            opened = time.perf_counter()
            EnergyStore.open(path).close()
            held = sqlite3.connect(path).execute("SELECT count(*) FROM measurements").fetchone()[0]
            print(f"{held:,} measurements, {path.stat().st_size / 1e6:,.1f} MB,", end=" ")
            print(f"opened in {(time.perf_counter() - opened) * 1000:.1f} ms")
            for label, taken, ratio in measure(path):
                print(f"  {label:<36} {taken:7.1f} µs  {ratio:5.1f} ×")
                goal = None if label.startswith("(") else LIMIT_US
                results.add(f"{label}, of {held:,}", taken, "µs", at_most=goal)
    results.write()


if __name__ == "__main__":
    main()
