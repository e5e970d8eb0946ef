"""Which measurements answer for a call site and for an API."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from energy_data.database.database import Database
from energy_data.database.store import EnergyStore
from energy_data.database.summaries import summarise_everything
from energy_data.exchange.interchange import merge
from energy_data.model import Environment, Figure, Measurement, Quantity, Run
from energy_data.project_identity import project_id

MakeRun = Callable[..., Run]
MakeMeasurement = Callable[..., Measurement]


def cpu(joules: float, stderr: float = 0.1) -> dict[str, Quantity]:
    return {"cpu": Quantity(joules, stderr)}


def answer(path: Path, runs: Iterable[tuple[Run, list[Measurement]]], **place: object) -> Figure:
    with Database.open(path) as database:
        for run, measurements in runs:
            database.add_run(run, measurements)
    figure = EnergyStore.open(path).lookup("keras.Sequential.fit", **place)  # type: ignore[arg-type]
    assert figure is not None
    return figure


def test_one_measurement_answers_with_its_interval(
    tmp_path: Path, run: MakeRun, measurement: MakeMeasurement
) -> None:
    figure = answer(tmp_path / "a.db", [(run(), [measurement(joules=cpu(10.0, 1.0))])])
    assert (figure.total, figure.spread, figure.origin == "site") == (10.0, "interval", False)
    assert (figure.low, figure.high) == pytest.approx((8.04, 11.96))
    assert (figure.runs, figure.measurements, figure.sites, figure.resolved) == (5, 1, 1, 1)


def test_the_newest_run_answers_for_a_call_site(
    tmp_path: Path, run: MakeRun, measurement: MakeMeasurement
) -> None:
    newer = (run(id="b", started="2026-06-01T00:00:00Z"), [measurement(joules=cpu(5.0))])
    older = (run(id="a", started="2026-05-01T00:00:00Z"), [measurement(joules=cpu(50.0))])
    for name, order in {"forward": [older, newer], "backward": [newer, older]}.items():
        figure = answer(tmp_path / f"{name}.db", order, file="train.py", line=12)
        assert (figure.total, figure.origin == "site", figure.date) == (5.0, True, "2026-06-01T00:00:00Z")


def test_inputs_of_one_call_site_are_weighted_by_how_often_they_came(
    tmp_path: Path, run: MakeRun, measurement: MakeMeasurement
) -> None:
    parts = [measurement(joules=cpu(10.0), count=9), measurement(joules=cpu(1.0), count=1)]
    figure = answer(tmp_path / "a.db", [(run(), parts)], file="train.py", line=12)
    assert figure.total == pytest.approx(9.1)


def test_call_sites_that_differ_answer_as_a_range(
    tmp_path: Path, run: MakeRun, measurement: MakeMeasurement
) -> None:
    sites = [measurement(line=line, joules=cpu(float(line))) for line in (10, 20, 30, 40, 50)]
    figure = answer(tmp_path / "a.db", [(run(), sites)], file="other.py", line=1)
    assert (figure.low, figure.total, figure.high) == (20.0, 30.0, 40.0)
    assert (figure.spread, figure.sites, figure.origin == "site") == ("range", 5, False)


def test_what_was_not_resolved_is_a_bound_and_not_a_number(
    tmp_path: Path, run: MakeRun, measurement: MakeMeasurement
) -> None:
    dim = [measurement(joules=cpu(0.001, 0.5), resolved=False, high=None)]
    figure = answer(tmp_path / "a.db", [(run(), dim)])
    assert (figure.total, figure.low, figure.high, figure.devices) == (None, None, None, {})
    assert figure.below == pytest.approx(0.981)
    assert (figure.resolved, figure.measurements) == (0, 1)


def test_an_api_is_unresolved_when_most_of_its_call_sites_are(
    tmp_path: Path, run: MakeRun, measurement: MakeMeasurement
) -> None:
    dim = [measurement(line=line, resolved=False, high=float(line)) for line in (1, 2)]
    figure = answer(tmp_path / "a.db", [(run(), [*dim, measurement(line=3, joules=cpu(1.5))])])
    assert figure.total is None
    assert figure.below == 2.0


def test_tracing_says_nothing_of_the_operation(
    tmp_path: Path, run: MakeRun, measurement: MakeMeasurement
) -> None:
    traced = measurement(at_trace_time=True, joules=cpu(500.0))
    figure = answer(tmp_path / "a.db", [(run(), [traced, measurement(joules=cpu(5.0))])])
    assert (figure.total, figure.measurements) == (5.0, 1)


def test_what_was_merged_does_not_pass_for_measured_here(
    tmp_path: Path, run: MakeRun, measurement: MakeMeasurement
) -> None:
    laptop = replace(run().machine, cpu="Apple M3", gpu="")
    theirs = run(id="theirs", machine=laptop, started="2027-01-01T00:00:00Z")
    with Database.open(tmp_path / "theirs.db") as database:
        database.add_run(theirs, [measurement(joules=cpu(2.0)), measurement(api="tf.matmul")])
    mine = answer(tmp_path / "mine.db", [(run(), [measurement(joules=cpu(7.0))])])
    with Database.open(tmp_path / "mine.db") as database:
        merge(database, tmp_path / "theirs.db")
    store = EnergyStore.open(tmp_path / "mine.db")
    assert store.lookup("keras.Sequential.fit") == mine
    product = store.lookup("tf.matmul")
    assert product is not None
    assert (product.source, product.machine) == ("team", "Apple M3")


def test_a_copy_of_ones_own_database_is_still_measured_here(
    tmp_path: Path, run: MakeRun, measurement: MakeMeasurement
) -> None:
    mine = answer(tmp_path / "mine.db", [(run(), [measurement()])])
    with Database.open(tmp_path / "copy.db") as database:
        merge(database, tmp_path / "mine.db")
    assert EnergyStore.open(tmp_path / "copy.db").lookup("keras.Sequential.fit") == mine


@pytest.mark.parametrize("mine", ["mine", "TMP/mine"])
def test_other_projects_with_the_same_file_names_never_answer(
    tmp_path: Path, run: MakeRun, measurement: MakeMeasurement, mine: str
) -> None:
    project = mine.replace("TMP", str(tmp_path))
    with Database.open(tmp_path / "a.db") as database:
        database.add_run(run(id="a", project=project), [measurement(joules=cpu(1.0))])
        newer = run(id="b", project="/home/someone/else", started="2027-01-01T00:00:00Z")
        database.add_run(newer, [measurement(line=line, joules=cpu(9.0)) for line in (12, 13)])
        other = run(id="c", project=project, project_id="another", started="2027-02-01T00:00:00Z")
        database.add_run(other, [measurement(line=14)])
    store = EnergyStore.open(tmp_path / "a.db", tmp_path / "mine")
    assert [(site.line, site.figure.total) for site in store.sites("train.py")] == [(12, 1.0)]


def test_a_call_is_found_by_its_project_wherever_that_lies(
    tmp_path: Path, run: MakeRun, measurement: MakeMeasurement
) -> None:
    identity = project_id(tmp_path / "new place")
    with Database.open(tmp_path / "a.db") as database:
        database.add_run(run(project="/gone/old place", project_id=identity), [measurement()])
    assert len(EnergyStore.open(tmp_path / "a.db", tmp_path / "new place").sites("train.py")) == 1


def test_calls_on_one_line_and_calls_that_look_alike_are_told_apart(
    tmp_path: Path, run: MakeRun, measurement: MakeMeasurement
) -> None:
    calls = [
        measurement(line=5, column=1, text="m.fit(a)", joules=cpu(1.0), count=1),
        measurement(line=5, column=20, text="m.fit(b)", joules=cpu(2.0), count=3),
        measurement(line=9, column=1, text="m.fit(a)", joules=cpu(4.0), count=1),
    ]
    with Database.open(tmp_path / "a.db") as database:
        database.add_run(run(), calls)
        moved = [measurement(line=one.line + 2, column=one.column, text=one.text) for one in calls[:1]]
        database.add_run(run(id="later", started="2027-01-01T00:00:00Z"), moved)
    found = EnergyStore.open(tmp_path / "a.db").sites("train.py")
    assert [(site.line, site.column, site.figure.total, site.figure.times) for site in found] == [
        (5, 20, 2.0, 3),
        (7, 1, 123.0, 4),
        (9, 1, 4.0, 1),
    ]


def test_figures_of_another_back_end_are_not_this_program_s(
    tmp_path: Path, run: MakeRun, measurement: MakeMeasurement
) -> None:
    project = str(tmp_path / "mine")
    jax = Environment("3.11.9", "", "3.15.0", backend="jax")
    with Database.open(tmp_path / "a.db") as database:
        database.add_run(run(id="a", project=project), [measurement(line=line) for line in (1, 2)])
        later = run(id="b", project=project, environment=jax, started="2027-01-01T00:00:00Z")
        database.add_run(later, [measurement(line=2, joules=cpu(7.0))])
    store = EnergyStore.open(tmp_path / "a.db", tmp_path / "mine")
    assert [(site.line, site.figure.total) for site in store.sites("train.py")] == [(2, 7.0)]
    assert store.with_shapes("keras.Sequential.fit", ("float32[128,784]",)).total == 7.0  # type: ignore[union-attr]
    assert store.with_shapes("keras.Sequential.fit", ("float32[1,784]",)) is None


def test_what_ran_in_place_and_what_was_repeated_alone_are_kept_apart(
    tmp_path: Path, run: MakeRun, measurement: MakeMeasurement
) -> None:
    with Database.open(tmp_path / "a.db") as database:
        cold = measurement(line=1, joules=cpu(447e-6), method="in place")
        warm = measurement(line=2, joules=cpu(101e-6), method="replayed")
        database.add_run(run(id="a"), [cold])
        database.add_run(run(id="b", started="2027-01-01T00:00:00Z"), [warm])
    store = EnergyStore.open(tmp_path / "a.db")
    asked = "keras.Sequential.fit", ("float32[128,784]",)
    once, often = store.with_shapes(*asked), store.with_shapes(*asked, often=True)
    assert once is not None
    assert often is not None
    assert (once.total, once.method) == (447e-6, "in place")
    assert (often.total, often.method) == (101e-6, "replayed")


def test_what_only_the_first_call_costs_is_counted_once(
    tmp_path: Path, run: MakeRun, measurement: MakeMeasurement
) -> None:
    with Database.open(tmp_path / "a.db") as database:
        database.add_run(
            run(), [measurement(joules=cpu(2.0), count=10, first_joules=30.0, exclusive_joules=1.5)]
        )
    (site,) = EnergyStore.open(tmp_path / "a.db").sites("train.py")
    assert site.figure.of_run(10) == pytest.approx(48.0)
    assert site.figure.own_of_run(10) == pytest.approx(43.0)


def test_adding_a_run_leaves_the_same_answers_as_making_all_of_them_anew(
    tmp_path: Path, run: MakeRun, measurement: MakeMeasurement
) -> None:
    """Runs in any order, of two machines and projects, with traced calls and imported records between."""
    generator = random.Random(3)
    laptop = replace(run().machine, cpu="Apple M3")
    with Database.open(tmp_path / "a.db") as database:
        for number in range(40):
            a_run = run(
                id=f"run-{generator.random()}",
                started=f"2026-05-{generator.randint(1, 9):02}T00:00:00Z",
                machine=generator.choice([laptop, run().machine]),
                project=generator.choice(["one", "two"]),
            )
            method = "imported" if number % 7 == 0 else "in place"
            calls = [
                measurement(
                    line=generator.randint(1, 3),
                    joules=cpu(generator.random()),
                    resolved=generator.random() < 0.7,
                    at_trace_time=generator.random() < 0.3,
                    method=method,
                )
                for _ in range(generator.randint(0, 4))
            ]
            database.add_run(a_run, calls)
            everything = "SELECT * FROM summaries ORDER BY api, file, line, project, machine, meter, source"
            kept = [tuple(row) for row in database.connection.execute(everything)]
            with database.transaction() as tables:
                summarise_everything(tables)
            assert [tuple(row) for row in database.connection.execute(everything)] == kept, number
