"""`energy-lsp report`: one page that holds the run, allows nothing from outside, and cannot be turned into markup."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from energy_data.database.database import Database
from energy_data.model import (
    CallSpan,
    Environment,
    InputSignature,
    Machine,
    Measurement,
    Quantity,
    Run,
    Trace,
)
from energy_lsp.cli import main

HOSTILE = '</script><img src=x onerror="alert(1)">'


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "energy.db"
    run = Run(
        id="20261116-one",
        machine=Machine("Xeon", "", 8 << 30, "Linux", ""),
        environment=Environment("3.11", "2.21.0", "3.15.1"),
        command=f"python train.py {HOSTILE}",
        started="2026-11-16T02:00:00+00:00",
        meter="cpu-time",
        estimated=True,
        stable=True,
        seconds=4.0,
        joules={"cpu": Quantity(10.0, 0.1)},
        unaccounted_joules=2.0,
    )
    fit = Measurement(
        id="",
        run_id=run.id,
        api="keras.Sequential.fit",
        file=f"train{HOSTILE}.py",
        line=3,
        signature=InputSignature(),
        seconds=2.0,
        joules={"cpu": Quantity(4.0, 0.1)},
        count=2,
        repeats=5,
        resolved=True,
        method="in place",
        low=3.8,
        high=4.2,
    )
    trace = Trace(
        run.id, "cpu", tuple(i / 1000 for i in range(10_000)), tuple(float(i % 7) for i in range(10_000))
    )
    span = CallSpan(run.id, "keras.Sequential.fit", "train.py", 3, 0, 0.5, 2.5)
    with Database.open(path) as opened:
        opened.add_run(run, [fit], [trace], [span])
    return path


def report(*arguments: str | Path) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, ["report", *map(str, arguments)])
    return result.exit_code, result.stdout, result.stderr


def test_the_page_holds_the_run_and_nothing_from_outside(database: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    code, said, _ = report("latest", "--html", page, "--db", database)
    assert code == 0
    assert "Wrote" in said
    text = page.read_text("utf-8")
    data = json.loads(re.search(r'type="application/json" id="data">(.*?)</script>', text, re.S)[1])  # type: ignore[index]
    assert data["run"]["total"] == 10.0
    assert data["run"]["estimated"] is True
    [call] = data["calls"]
    assert (call["joules"], call["low"], call["high"]) == (8.0, 7.6, 8.4)  # both calls together
    assert data["spans"] == [["keras.Sequential.fit", "train.py", 3, 0, 0.5, 2.5]]
    assert len(data["traces"][0]["seconds"]) <= 4000
    assert max(data["traces"][0]["watts"]) == 6.0  # thinning keeps the peaks
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]  # type: ignore[index]
    assert policy.startswith("default-src 'none'")
    assert not re.search(r"""(src|href)=["']https?:""", text)
    assert "estimated with cpu-time" in text


def test_text_from_the_database_is_no_markup(database: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    report("20261116", "--html", page, "--db", database)
    assert "<img" not in page.read_text("utf-8")
    assert page.read_text("utf-8").count("</script>") == 4  # data, library, page, inside: none of the run's


def test_an_unknown_run_is_answered_with_the_ones_there_are(database: Path, tmp_path: Path) -> None:
    code, _, complaint = report("nothing", "--html", tmp_path / "x.html", "--db", database)
    assert code == 2
    assert "No run begins with 'nothing'" in complaint
    assert "20261116-one" in complaint
    assert not (tmp_path / "x.html").exists()


def test_before_the_first_measurement_it_says_how_to_make_one(tmp_path: Path) -> None:
    Database.open(tmp_path / "empty.db").close()
    code, _, complaint = report("--html", tmp_path / "x.html", "--db", tmp_path / "empty.db")
    assert code == 2
    assert "energy-lsp measure" in complaint


def test_a_page_that_cannot_be_written_is_named(database: Path, tmp_path: Path) -> None:
    code, _, complaint = report("--html", tmp_path / "no" / "x.html", "--db", database)
    assert code == 2
    assert "cannot be written" in complaint
