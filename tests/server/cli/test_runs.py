"""`energy-lsp runs` and the summary of `report`: what was measured, run by run."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from energy_data.database.database import Database
from energy_data.model import (
    Environment,
    InputSignature,
    Machine,
    Measurement,
    Phase,
    Quantity,
    Run,
)
from energy_data.project_places import remember_place
from energy_lsp.cli import main

MACHINE = Machine("Xeon", "", 8 << 30, "Linux", "")


def run(day: int, joules: float, **more: object) -> Run:
    made = Run(
        id=f"2026111{day}-run",
        machine=MACHINE,
        environment=Environment("3.11", "2.21.0", "3.15.1"),
        command="python train.py",
        started=f"2026-11-1{day}T02:00:00+00:00",
        meter="rapl",
        estimated=False,
        stable=True,
        seconds=4.0,
        joules={"cpu": Quantity(joules, 0.1)},
        unaccounted_joules=2.0,
        commit=f"c0ffee{day}0000",
    )
    return replace(made, **more)  # type: ignore[arg-type]


def call(of: Run, api: str, line: int, joules: float, text: str) -> Measurement:
    return Measurement(
        id="",
        run_id=of.id,
        api=api,
        file="train.py",
        line=line,
        signature=InputSignature(),
        seconds=1.0,
        joules={"cpu": Quantity(joules, 0.1)},
        count=2,
        repeats=1,
        resolved=True,
        method="in place",
        function="main",
        text=text,
    )


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "energy.db"
    with Database.open(path) as opened:
        for day, joules in ((1, 4000.0), (2, 2000.0), (3, 1800.0)):
            made = run(day, joules)
            # The call to `fit` moves down a line with each commit and stays the same call.
            calls = [call(made, "keras.Sequential.fit", 10 + day, joules / 4, "model.fit(x,y)")]
            if day == 3:
                calls.append(call(made, "tensorflow.matmul", 5, 1.0, "tf.matmul(a,b)"))
            phases = [
                Phase(made.id, "imports", 300.0, 1.0),
                Phase(made.id, "calls", joules - 300.0, 3.0),
                Phase(made.id, "unexplained", -2.35e-5, 0.0),
            ]
            opened.replace_run(made, calls, phases=phases)
    return path


def cli(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, list(map(str, arguments)))


def test_runs_are_listed_newest_first_in_one_unit(database: Path) -> None:
    done = cli("runs", "--db", database)
    rows = [line for line in done.stdout.splitlines() if "-run" in line]
    assert [row.split()[0] for row in rows] == ["20261113-run", "20261112-run", "20261111-run"]
    assert "energy, kJ" in done.stdout
    assert [row.split()[4] for row in rows] == ["1.800", "2.000", "4.000"]
    told = json.loads(cli("runs", "list", "--format", "json", "--last", "1", "--db", database).stdout)
    assert [(one["id"], one["joules"], one["commit"]) for one in told] == [
        ("20261113-run", 1800.0, "c0ffee30000")
    ]


def test_a_report_without_a_page_is_a_summary(database: Path) -> None:
    text = cli("report", "--db", database).stdout
    assert "1.80 kJ (0.500 Wh) in 4.00 s, measured with rapl on Xeon." in text
    assert "imports" in text
    assert "keras.Sequential.fit" in text
    assert (
        "-2" not in text.split("unexplained")[1].splitlines()[0]
    )  # noise about nothing is no negative energy
    assert "CO₂" not in text  # nobody set what a kilowatt-hour emits
    assert text == cli("runs", "show", "--db", database).stdout
    assert text == cli("runs", "latest", "--db", database).stdout


def test_grams_and_money_are_shown_once_they_are_set(database: Path, tmp_path: Path) -> None:
    options = (
        "--grid-gco2-per-kwh",
        "400",
        "--price-per-kwh",
        "0.3",
        "--price-currency",
        "EUR",
        "--pue",
        "2",
    )
    text = cli("report", "--db", database, *options).stdout
    # 1.8 kJ are 0.5 Wh, the building takes as much again: 1 Wh.
    assert "0.400 g CO₂e at 400 g/kWh, times 2 for the building (PUE)." in text
    assert "Less than 0.001 EUR at 0.3 EUR/kWh" in text
    for word in ("marginal", "embodied", "idle"):
        assert word in text
    page = tmp_path / "x.html"
    cli("report", "--db", database, "--html", page, *options)
    assert "0.400 g CO₂e" in page.read_text("utf-8")
    with Database.read(database) as opened:
        assert not any("co2" in str(run.settings).lower() for run in opened.runs())


def test_two_runs_are_compared_call_by_call(database: Path) -> None:
    told = json.loads(
        cli("runs", "compare", "20261111", "latest", "--format", "json", "--db", database).stdout
    )
    changes = {change["name"]: (change["before"], change["after"]) for change in told["calls"]}
    assert changes == {"keras.Sequential.fit": (2000.0, 900.0), "tensorflow.linalg.matmul": (None, 2.0)}
    assert {change["name"]: change["difference"] for change in told["phases"]}["calls"] == -2200.0
    text = cli("runs", "compare", "20261111", "--db", database).stdout
    assert "The second took 55% less energy." in text
    assert "energy-lsp compare" in text
    assert cli("runs", "compare", "latest", "--db", database).exit_code == 2


def test_a_run_that_failed_says_so_on_a_narrow_screen_too(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Database.open(database) as opened:
        opened.add_run(
            run(4, 1.0, status="failed", command="python a_program_with_a_long_name.py", estimated=True)
        )
    for width in ("40", "60", "80"):
        monkeypatch.setenv("COLUMNS", width)
        rows = [line for line in cli("runs", "--db", database).stdout.splitlines() if line.endswith("failed")]
        assert len(rows) == 1, width
        assert "≈ 0.001" in rows[0]
        assert len(rows[0]) <= int(width)


def test_what_hardly_changed_is_told_together(database: Path) -> None:
    with Database.open(database) as opened:
        for day in (5, 6):
            made = run(day, 4000.0)
            calls = [
                call(made, f"tensorflow.raw_ops.Op{number}", number, 0.01 * day, f"f({number})")
                for number in range(9)
            ]
            calls.append(call(made, "keras.Sequential.fit", 20, 100.0 * day, "model.fit(x)"))
            phases = [Phase(made.id, "calls", 3000.0, 3.0), Phase(made.id, "exit", 0.0001 * day, 0.0)]
            opened.replace_run(made, calls, phases=phases)
    text = cli("runs", "compare", "20261115", "20261116", "--db", database).stdout
    assert "Op3" not in text
    assert "9 calls changed by 20.0 mJ or less." in text
    assert re.search(r"^exit .* ≈ 0$", text, re.M), "no sign before what is below a digit"
    assert "+<" not in text


def test_a_program_stays_the_same_when_its_folder_gets_its_first_commit(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    for identity, folder in (("folder-1", "here"), ("a-commit", "here"), ("b-commit", "elsewhere")):
        remember_place(identity, tmp_path / folder)
    with Database.open(database) as opened:
        for day, identity in ((7, "folder-1"), (8, "a-commit"), (9, "b-commit")):
            opened.add_run(run(day, 10.0 * day, project_id=identity))
    told = json.loads(cli("runs", "history", "20261118", "--format", "json", "--db", database).stdout)
    assert [moment["run"] for moment in told] == ["20261117-run", "20261118-run"]
    compared = cli("runs", "compare", "20261117", "20261118", "--db", database).stdout
    assert "different programs" not in compared


def test_runs_of_other_machines_do_not_compare(database: Path) -> None:
    with Database.open(database) as opened:
        other = replace(MACHINE, cpu="Ryzen")
        opened.add_run(run(4, 10.0, machine=other))
    text = cli("runs", "compare", "20261111", "20261114", "--db", database).stdout
    assert "their joules do not compare" in text
    moments = json.loads(cli("runs", "history", "20261113", "--format", "json", "--db", database).stdout)
    assert [moment["run"] for moment in moments] == ["20261111-run", "20261112-run", "20261113-run"]


def test_a_call_is_followed_over_commits_wherever_its_line_goes(database: Path) -> None:
    done = cli("runs", "history", "latest", "--call", "fit", "--format", "json", "--db", database)
    assert [(moment["commit"], moment["joules"]) for moment in json.loads(done.stdout)] == [
        ("c0ffee10000", 2000.0),
        ("c0ffee20000", 1000.0),
        ("c0ffee30000", 900.0),
    ]
    chart = cli("runs", "history", "latest", "--call", "fit", "--db", database).stdout
    assert "-50%" in chart
    assert "█▅▄" in chart
    unknown = cli("runs", "history", "latest", "--call", "predict", "--db", database)
    assert unknown.exit_code == 2
    assert "fit (line 13)" in unknown.stderr


def test_deleting_asks_and_takes_everything_of_a_run(database: Path) -> None:
    kept = CliRunner().invoke(main, ["runs", "delete", "20261112", "--db", str(database)], input="n\n")
    assert kept.exit_code == 1
    done = cli("runs", "delete", "20261112", "--yes", "--db", database)
    assert done.exit_code == 0
    with Database.read(database) as opened:
        assert [run.id for run in opened.runs()] == ["20261111-run", "20261113-run"]
        assert not opened.measurements("20261112-run")
        assert not opened.phases("20261112-run")


def test_pruning_takes_phases_along(database: Path) -> None:
    assert cli("db", "prune", "--keep", "1", "--db", database).exit_code == 0
    with Database.read(database) as opened:
        assert [run.id for run in opened.runs()] == ["20261113-run"]


def test_the_page_has_phases_history_and_links_only_when_asked(database: Path, tmp_path: Path) -> None:
    with Database.open(database) as opened:
        made = run(5, 1.0, project="/home/me/project")
        opened.replace_run(made, [], phases=[Phase(made.id, "imports", 1.0, 1.0, {"tensorflow": 0.8})])
    page = tmp_path / "x.html"
    assert cli("report", "latest", "--html", page, "--db", database).exit_code == 0
    text = page.read_text("utf-8")
    assert '"phases": [["imports", 1.0, 1.0, [["tensorflow", 0.8]]]]' in text
    assert '["2026-11-12T02:00:00+00:00", "c0ffee2000", 2000.0, false]' not in text  # another project's
    assert "/home/me/project" not in text  # it may be sent to others
    cli("report", "latest", "--html", page, "--links", "--db", database)
    assert '"project": "/home/me/project"' in page.read_text("utf-8")
    cli("report", "20261113", "--html", page, "--db", database)
    assert '["2026-11-12T02:00:00+00:00", "c0ffee2000", 2000.0, false]' in page.read_text("utf-8")


def test_a_failed_run_says_so_first(database: Path, tmp_path: Path) -> None:
    with Database.open(database) as opened:
        opened.add_run(run(6, 1.0, status="failed", error="URLError: <no network>"))
    page = tmp_path / "x.html"
    cli("report", "latest", "--html", page, "--db", database)
    header = page.read_text("utf-8").split("<header>")[1]
    assert header.startswith(
        '<p class="ending" role="alert">The program failed: URLError: &lt;no network&gt;.'
    )
    assert "failed" in cli("runs", "--db", database).stdout
