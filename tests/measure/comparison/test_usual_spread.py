"""What one run says of the spread between runs: what repeated ones have shown."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import pytest

from energy_data.database.database import Database
from energy_data.model import Environment, InputSignature, Machine, Measurement, Quantity, Run
from energy_measure.statistics import student_95
from energy_measure.usual_spread import spread_of, usual_spread, widened

MACHINE = Machine("cpu", "", 1, "Linux", "")


def measured(number: int, spread: float, repeats: int = 5) -> Measurement:
    half = student_95(repeats - 1) * spread / math.sqrt(repeats)
    return Measurement(
        id=f"m{number}",
        run_id="r",
        api="tensorflow.matmul",
        file="a.py",
        line=number + 1,
        signature=InputSignature(),
        seconds=1.0,
        joules={"cpu": Quantity(1.0, 0.01)},
        count=1,
        repeats=repeats,
        resolved=True,
        method="in place",
        low=1.0 - half,
        high=1.0 + half,
    )


def test_the_spread_is_that_of_runs_not_of_their_mean() -> None:
    assert spread_of(measured(0, 0.05)) == pytest.approx(0.05)
    assert spread_of(measured(0, 0.05, repeats=2)) is None


def test_a_call_that_was_replayed_once_says_nothing_of_runs() -> None:
    assert spread_of(dataclasses.replace(measured(0, 0.05), covers="sampling and runs")) is not None
    assert spread_of(dataclasses.replace(measured(0, 0.05), covers="sampling")) is None


def test_it_is_learned_from_the_same_machine_and_meter_by_method(tmp_path: Path) -> None:
    path = tmp_path / "energy.db"
    assert usual_spread(path, MACHINE, "rapl") == {}
    run = Run(
        "r",
        MACHINE,
        Environment("3.11", "2.21", "3.15"),
        "python a.py",
        "2026-01-01T00:00:00Z",
        "rapl",
        False,
        True,
    )
    with Database.open(path) as database:
        database.put_run(run, [measured(number, 0.02 + number / 100) for number in range(5)])
    assert usual_spread(path, MACHINE, "rapl") == {"in place": pytest.approx(0.04)}
    assert usual_spread(path, MACHINE, "cpu-time") == {}
    assert usual_spread(path, dataclasses.replace(MACHINE, cpu="another"), "rapl") == {}


def test_a_figure_of_one_run_is_not_surer_than_runs_are_alike() -> None:
    low, high = widened(5.0, 4.999, 5.001, 0.05)
    assert low == pytest.approx(5.0 / 1.098)
    assert high == pytest.approx(5.49)
