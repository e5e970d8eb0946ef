"""Many processes at one database: nothing lost, nothing doubled, nobody told that it is locked."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from energy_data.database.database import Database
from energy_data.database.store import EnergyStore

WRITERS, READERS, RUNS, CALLS = 8, 2, 20, 100

SHARED = """
import sys
from pathlib import Path
from energy_data.database.database import Database
from energy_data.model import *
from energy_data.database.store import EnergyStore
path, number = Path(sys.argv[1]), int(sys.argv[2])
"""

WRITER = f"""{SHARED}
machine = Machine("CPU", "", 1, "Linux", "", ())
for run_number in range({RUNS}):
    run = Run(f"{{number}}-{{run_number}}", machine, Environment("3", "2", "3"), "train.py",
              f"2026-01-01T00:00:{{run_number:02}}Z", "rapl", False, True, project="p")
    calls = [
        Measurement("", "", "keras.Sequential.fit", "train.py", line, InputSignature(), 1.0,
                    {{"cpu": Quantity(1.0 + number, 0.1)}}, 1, 1, True, "in place")
        for line in range({CALLS})
    ]
    with Database.open(path) as database:
        assert database.add_run(run, calls)
print("wrote")
"""

READER = f"""{SHARED}
import time
done, looks = Path(sys.argv[3]), 0
while not done.exists():
    store = EnergyStore.open(path)
    figure = store.lookup("keras.Sequential.fit", file="train.py", line=5)
    store.close()
    if path.exists():
        with Database.read(path) as database:
            counts = database.counts()
            assert counts["measurements"] % {CALLS} == 0, counts
    looks += figure is not None and figure.source == "here"
    time.sleep(0.1)
print("looked" if looks else "saw nothing")
"""


def started(script: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.timeout(180)
def test_eight_writers_and_two_readers(tmp_path: Path) -> None:
    path, done = tmp_path / "energy.db", tmp_path / "done"
    readers = [started(READER, path, number, done) for number in range(READERS)]
    writers = [started(WRITER, path, number) for number in range(WRITERS)]
    wrote = [writer.communicate() for writer in writers]
    done.touch()
    looked = [reader.communicate() for reader in readers]
    assert wrote == [("wrote\n", "")] * WRITERS
    assert looked == [("looked\n", "")] * READERS
    with Database.read(path) as database:
        count = database.connection.execute(
            "SELECT count(*), count(DISTINCT id) FROM measurements"
        ).fetchone()
        assert tuple(count) == (WRITERS * RUNS * CALLS,) * 2
        assert {len(database.measurements(run.id)) for run in database.runs()} == {CALLS}
        assert database.connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    figure = EnergyStore.open(path).lookup("keras.Sequential.fit")
    assert figure is not None
    assert (figure.total, figure.sites) == (8.0, CALLS), "the last of the equally new runs answers"
