"""Old runs leave, and with them what was said because of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from energy_data.database.database import Database
from energy_data.database.store import EnergyStore
from energy_data.model import Measurement, Quantity, Run, Trace

Invoke = Callable[..., Result]


@pytest.fixture
def month(tmp_path: Path, run: Callable[..., Run], measurement: Callable[..., Measurement]) -> Path:
    """Five runs on five days, each a joule dearer than the one before, and one of another program."""
    path = tmp_path / "month.db"
    with Database.open(path) as database:
        for day in range(1, 6):
            started = f"2026-05-0{day}T12:00:00Z"
            call = measurement(joules={"cpu": Quantity(float(day), 0.1)})
            trace = Trace("", "cpu", (0.0, 1.0), (5.0, 6.0))
            database.add_run(run(id=f"day-{day}", started=started), [call], [trace])
        other = run(id="other", command="python other.py", started="2026-05-01T00:00:00Z")
        database.add_run(other, [measurement(api="tensorflow.constant")])
    return path


def left(path: Path) -> list[str]:
    with Database.read(path) as database:
        return [run.id for run in database.runs()]


def test_runs_before_a_day_leave(month: Path, energy_lsp: Invoke) -> None:
    result = energy_lsp("db", "prune", "--before", "2026-05-03", "--db", month)
    assert result.stdout == "Removed 3 runs, 3 measurements, 2 power traces.\n"
    assert left(month) == ["day-3", "day-4", "day-5"]
    assert EnergyStore.open(month).lookup("tensorflow.constant").source == "published"  # type: ignore[union-attr]


def test_the_newest_runs_of_each_program_stay(month: Path, energy_lsp: Invoke) -> None:
    energy_lsp("db", "prune", "--keep", "2", "--db", month)
    assert left(month) == ["other", "day-4", "day-5"]
    assert EnergyStore.open(month).lookup("keras.Sequential.fit").total == 5.0  # type: ignore[union-attr]


def test_traces_alone_may_leave(month: Path, energy_lsp: Invoke) -> None:
    result = energy_lsp("db", "prune", "--traces", "--db", month)
    assert result.stdout == "Removed 0 runs, 0 measurements, 5 power traces.\n"
    with Database.read(month) as database:
        assert database.counts()["measurements"] == 6
        assert database.counts()["traces"] == 0


def test_a_dry_run_only_tells(month: Path, energy_lsp: Invoke) -> None:
    result = energy_lsp("db", "prune", "--keep", "1", "--dry-run", "--db", month)
    assert result.stdout == "Would remove 4 runs, 4 measurements, 4 power traces.\n"
    assert len(left(month)) == 6


def test_pruning_has_to_be_told_what(month: Path, energy_lsp: Invoke) -> None:
    result = energy_lsp("db", "prune", "--db", month)
    assert result.exit_code == 2
    assert "--before DATE, --keep N or --traces" in result.stderr
    assert len(left(month)) == 6
