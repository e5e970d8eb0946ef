"""What goes into a database comes out of it, and older files are brought up to date."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlite_utils

from energy_data.database.database import Database
from energy_data.database.migrations import APPLICATION_ID, LATEST, migrations
from energy_data.database.store import EnergyStore
from energy_data.model import CallSpan, Measurement, Quantity, RuleEvidence, Run, Trace

MakeRun = Callable[..., Run]
MakeMeasurement = Callable[..., Measurement]


def test_everything_of_a_run_comes_back(
    tmp_path: Path, run: MakeRun, measurement: MakeMeasurement, evidence: RuleEvidence
) -> None:
    measured = [measurement(line=line, resolved=line > 1, low=1.0, high=2.0) for line in (1, 2)]
    trace = Trace("run-1", "gpu", (0.0, 0.5, 1.0), (40.0, 240.5, 39.75))
    span = CallSpan("run-1", "keras.Sequential.fit", "train.py", 12, 7, 0.25, 1.75)
    with Database.open(tmp_path / "energy.db") as database:
        assert database.add_run(run(), measured, [trace], [span])
        database.add_evidence([evidence])
    with Database.read(tmp_path / "energy.db") as database:
        assert database.runs() == [run()]
        stored = database.measurements("run-1")
        assert [(m.line, m.resolved, m.low, m.high) for m in stored] == [
            (1, False, 1.0, 2.0),
            (2, True, 1.0, 2.0),
        ]
        assert stored[0].signature == measured[0].signature
        assert stored[0].joules == measured[0].joules
        assert stored[0].exclusive_joules == 100.0
        assert database.traces("run-1") == [trace]
        assert database.spans("run-1") == [span]
        assert database.evidence("square-by-multiplication") == [evidence]


def test_a_device_that_was_not_metered_stays_absent(
    tmp_path: Path, run: MakeRun, measurement: MakeMeasurement
) -> None:
    with Database.open(tmp_path / "energy.db") as database:
        database.add_run(run(), [measurement(joules={"cpu": Quantity(1.0, 0.1)})])
        assert list(database.measurements("run-1")[0].joules) == ["cpu"]


def test_the_same_run_is_stored_once(tmp_path: Path, run: MakeRun, measurement: MakeMeasurement) -> None:
    with Database.open(tmp_path / "energy.db") as database:
        assert database.add_run(run(), [measurement()])
        assert not database.add_run(run(), [measurement()])
        assert database.counts()["measurements"] == 1


def test_equal_measurements_of_one_run_are_all_kept(
    tmp_path: Path, run: MakeRun, measurement: MakeMeasurement
) -> None:
    with Database.open(tmp_path / "energy.db") as database:
        database.add_run(run(), [measurement(), measurement()])
        assert database.counts()["measurements"] == 2


def test_a_number_that_is_none_is_refused_with_its_place(
    tmp_path: Path, run: MakeRun, measurement: MakeMeasurement
) -> None:
    with Database.open(tmp_path / "energy.db") as database:
        with pytest.raises(ValueError, match=r"keras.Sequential.fit at train.py:12: cpu_stderr is nan"):
            database.add_run(run(), [measurement(joules={"cpu": Quantity(1.0, math.nan)})])
        assert database.runs() == []


def test_names_are_stored_as_the_catalogue_spells_them(
    tmp_path: Path, run: MakeRun, measurement: MakeMeasurement
) -> None:
    with Database.open(tmp_path / "energy.db") as database:
        spellings = ("tf.keras.Sequential.fit()", "tensorflow.keras.models.Sequential.fit")
        database.add_run(run(), [measurement(api=api) for api in spellings])
        assert {m.api for m in database.measurements("run-1")} == {"keras.Sequential.fit"}


def test_the_file_uses_a_write_ahead_log_and_foreign_keys(tmp_path: Path) -> None:
    with Database.open(tmp_path / "energy.db") as database:
        pragmas = {
            name: database.connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "foreign_keys", "busy_timeout", "application_id", "user_version")
        }
        assert pragmas == {
            "journal_mode": "wal",
            "foreign_keys": 1,
            "busy_timeout": 60_000,
            "application_id": APPLICATION_ID,
            "user_version": LATEST,
        }
        with pytest.raises(sqlite3.IntegrityError):
            database.connection.execute("INSERT INTO traces VALUES ('no such run', 'cpu', 0, x'', x'')")


EARLIER = range(1, LATEST)
"""Numbers of the schemas that files of older versions have."""
FOLLOWING = {1: "002_summaries", 2: "003_account", 3: "004_interval_covers", 4: "005_fused_layers"}


def earlier_schema(path: Path, rows_from: Path, number: int = 1) -> None:
    """A file as a migration left it, holding the measurements of another."""
    old = sqlite_utils.Database(path)
    migrations().apply(old, stop_before=FOLLOWING[number])
    old.conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    old.conn.execute(f"PRAGMA user_version = {number}")
    old.attach("newer", rows_from)
    for table in ("machines", "environments", "runs", "measurements"):
        columns = ", ".join(f'"{name}"' for name in old.table(table).columns_dict)
        old.execute(f"INSERT INTO main.{table} SELECT {columns} FROM newer.{table}")
    old.conn.commit()
    old.close()


def test_what_an_interval_covers_is_kept_and_worked_out_for_files_of_before(
    tmp_path: Path, run: MakeRun, measurement: MakeMeasurement
) -> None:
    new, old = tmp_path / "new.db", tmp_path / "old.db"
    with Database.open(new) as database:
        database.add_run(run(), [measurement(repeats=1, covers="runs of this machine")])
        assert [one.covers for one in database.measurements("run-1")] == ["runs of this machine"]
    earlier_schema(old, new)
    assert [
        figure and figure.covers
        for figure in (EnergyStore.open(path).lookup("keras.Sequential.fit") for path in (new, old))
    ] == ["runs of this machine", "sampling"]
    with Database.read(old) as database:
        assert [one.covers for one in database.measurements("run-1")] == [""]


@pytest.mark.parametrize("number", EARLIER)
def test_an_older_file_is_upgraded_when_it_is_written(
    tmp_path: Path, run: MakeRun, measurement: MakeMeasurement, number: int
) -> None:
    with Database.open(tmp_path / "new.db") as database:
        database.add_run(run(), [measurement()])
    earlier_schema(tmp_path / "old.db", tmp_path / "new.db", number)
    with Database.open(tmp_path / "old.db") as database:
        assert database.runs() == [run()]
        assert database.schema == LATEST
        assert database.connection.execute("SELECT count(*) FROM summaries").fetchone()[0] == 2


@pytest.mark.parametrize("number", EARLIER)
def test_an_older_file_is_read_without_changing_it(
    tmp_path: Path, run: MakeRun, measurement: MakeMeasurement, number: int
) -> None:
    with Database.open(tmp_path / "new.db") as database:
        database.add_run(run(), [measurement()])
    old = tmp_path / "old.db"
    earlier_schema(old, tmp_path / "new.db", number)
    before = old.read_bytes()
    figure = EnergyStore.open(old).lookup("keras.Sequential.fit")
    assert figure is not None
    assert figure.total == pytest.approx(123.0)
    with Database.read(old) as database:
        assert (database.schema, len(database.measurements("run-1"))) == (number, 1)
    assert old.read_bytes() == before


def test_a_run_takes_the_place_of_what_fewer_of_its_repeats_said(
    tmp_path: Path, run: MakeRun, measurement: MakeMeasurement
) -> None:
    with Database.open(tmp_path / "energy.db") as database:
        database.replace_run(run(), [measurement(repeats=1), measurement(api="tf.add", repeats=1)])
        database.replace_run(run(seconds=99.0), [measurement(repeats=2)])
        assert [stored.seconds for stored in database.runs()] == [99.0]
        assert [stored.repeats for stored in database.measurements("run-1")] == [2]
    store = EnergyStore.open(tmp_path / "energy.db")
    assert store.lookup("keras.Sequential.fit").runs == 2  # type: ignore[union-attr]
    assert store.lookup("tf.add").source == "published"  # type: ignore[union-attr]
