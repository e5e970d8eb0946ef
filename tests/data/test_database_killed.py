"""`kill -9` at any moment of an import or a merge: a file's records are all there, or none of them."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from energy_data.database.database import Database
from energy_data.database.summaries import summarise_everything
from energy_data.exchange.interchange import merge
from energy_data.model import Measurement, Run
from energy_data.studies.greenlight import import_greenlight

KILLS = 25  # of each kind
FILES, RECORDS = 20, 5
MERGED_RUNS, MERGED_CALLS = 8, 50


def steps_of(work: Callable[[], None]) -> int:
    """How many calls and returns the work makes: its moments, however fast this machine is just now."""
    receiver, sender = multiprocessing.Pipe(duplex=False)

    def counted() -> None:
        steps = 0

        def count(*_event: object) -> None:
            nonlocal steps
            steps += 1

        sys.setprofile(count)
        work()
        sys.setprofile(None)
        sender.send(steps)

    child = multiprocessing.get_context("fork").Process(target=counted)
    child.start()
    child.join()
    assert child.exitcode == 0
    return int(receiver.recv())


def killed_at(work: Callable[[], None], step: int) -> None:
    """Run in a process of its own that is killed at one of its steps, at the latest when it has finished."""

    def doomed() -> None:
        left = step

        def count(*_event: object) -> None:
            nonlocal left
            left -= 1
            if left <= 0:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.setprofile(count)
        work()
        os.kill(os.getpid(), signal.SIGKILL)

    child = multiprocessing.get_context("fork").Process(target=doomed)
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGKILL


def check(path: Path, whole: Callable[[Database], None]) -> int:
    """The database opens, is sound, holds whole files alone, and its summaries agree with them."""
    if not path.exists():
        return 0
    with Database.open(path) as database:
        assert database.connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        assert database.connection.execute("PRAGMA foreign_key_check").fetchall() == []
        whole(database)
        kept = "SELECT * FROM summaries ORDER BY api, file, line, project"
        stored = [tuple(row) for row in database.connection.execute(kept)]
        with database.transaction() as tables:
            summarise_everything(tables)
        assert [tuple(row) for row in database.connection.execute(kept)] == stored
        return database.counts()["runs"]


def moments(steps: int) -> list[int]:
    """Steps spread over the whole work, and its very last ones."""
    generator = random.Random(1)
    spread = KILLS - 3
    return [
        *(1 + int((steps - 1) * (number + generator.random()) / spread) for number in range(spread)),
        *(steps - number for number in (3, 2, 1)),
    ]


@pytest.fixture
def records(tmp_path: Path) -> Path:
    """Small files of records, some of one call, some of several."""
    folder = tmp_path / "records"
    folder.mkdir()
    samples = [[0.5 * n, 40.0] for n in range(1, 80)]
    watts = [[0, 20.0, 0.5 * n, 30] for n in range(80)]
    energy = json.dumps({"columns": ["time_elapsed", "energy (J)"], "data": samples})
    power = {"columns": ["timestamp", "power_draw (W)", "time_elapsed", "temperature"], "data": watts}
    for number in range(FILES):
        item = {
            "energy_data": {"cpu": energy, "ram": energy, "gpu": json.dumps(power)},
            "times": {
                "start_time_execution": 20 * 10**9 + number,
                "end_time_execution": 22 * 10**9,
                "sys_start_time_perf": 0,
                "sys_start_time_nvidia": 0,
            },
            "cpu_temperatures": '{"columns": ["temperature"], "data": []}',
            "settings": {},
            "input_sizes": {"args_size": 1, "kwargs_size": 0, "object_size": 0},
            "project_metadata": {
                "project_name": "p",
                "project_commit": "c",
                "script_path": "train.py",
                "api_call_line": number % 3,
            },
        }
        apis = ("tensorflow.constant()", "tensorflow.add()")
        content = [{apis[n % 2]: item} for n in range(RECORDS)]
        (folder / f"{number}.json").write_text(json.dumps(content))
    return folder


def test_killed_imports(records: Path, tmp_path: Path) -> None:
    def work(path: Path) -> None:
        with Database.open(path) as database:
            report = import_greenlight(database, records)
            assert report.malformed == []

    def whole(database: Database) -> None:
        assert {len(database.measurements(run.id)) for run in database.runs()} <= {RECORDS}

    work(tmp_path / "all.db")
    assert check(tmp_path / "all.db", whole) == FILES
    steps = steps_of(lambda: work(tmp_path / "counted.db"))
    found = set()
    for number, step in enumerate(moments(steps)):
        path = tmp_path / f"{number}.db"
        killed_at(lambda path=path: work(path), step)  # type: ignore[misc]
        found.add(check(path, whole))
    assert len(found - {0, FILES}) > 3, "kills came while files were being imported"
    work(path)
    assert check(path, whole) == FILES, "what a kill prevented can be caught up on"


def test_killed_merges(
    tmp_path: Path, run: Callable[..., Run], measurement: Callable[..., Measurement]
) -> None:
    other = tmp_path / "other.db"
    with Database.open(other) as database:
        for number in range(MERGED_RUNS):
            calls = [measurement(line=line) for line in range(MERGED_CALLS)]
            database.add_run(run(id=f"run-{number}"), calls)

    def work(path: Path) -> None:
        with Database.open(path) as database:
            merge(database, other)

    def whole(database: Database) -> None:
        counts = database.counts()
        nothing = (1, 1)
        everything = (1 + MERGED_RUNS, 1 + MERGED_RUNS * MERGED_CALLS)
        assert (counts["runs"], counts["measurements"]) in (nothing, everything)

    def prepared(name: str) -> Path:
        with Database.open(tmp_path / name) as database:
            database.add_run(run(id="mine"), [measurement(line=1000)])
        return tmp_path / name

    ready, counted = prepared("all.db"), prepared("counted.db")
    work(ready)
    assert check(ready, whole) == 1 + MERGED_RUNS
    steps = steps_of(lambda: work(counted))
    found = []
    for number, step in enumerate(moments(steps)):
        path = prepared(f"{number}.db")
        killed_at(lambda path=path: work(path), step)  # type: ignore[misc]
        found.append(check(path, whole))
    assert set(found) == {1, 1 + MERGED_RUNS}, "kills came before and after the one moment that counts"
