"""The exported dataset: tables with units, a card, a citation, checksums, and nothing that should stay at home."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest
from click.testing import Result

from energy_data.database.database import Database
from energy_data.dataset.columns import TABLES
from energy_data.dataset.export import program_of, relative
from energy_data.model import CallSpan, Measurement, Part, Phase, Run, Trace

Invoke = Callable[..., Result]
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "dataset.md"


@pytest.fixture
def dataset(
    run: Callable[..., Run], measurement: Callable[..., Measurement], tmp_path: Path, energy_lsp: Invoke
) -> Path:
    """A small database, exported."""
    secret = run(
        id="run-1",
        command="python /home/eve/secret/train.py --password hunter2",
        project="/home/eve/secret/mnist",
        temperature_series={"cpu": ((0.0, 40.0), (1.5, 45.0))},
        settings={"repeat": 3},
        repository="https://example.org/eve/mnist",
        owner="eve",
    )
    calls = [
        measurement(id="m1", file="train.py", line=3),
        measurement(id="m2", file="/home/eve/secret/other.py", line=4, text="f('hunter2')", resolved=False),
    ]
    with Database.open(tmp_path / "energy.db") as database:
        database.replace_run(
            secret,
            calls,
            [Trace("run-1", "cpu", (0.5, 1.0), (20.0, 30.0))],
            [
                CallSpan("run-1", "tf.ones", "train.py", 3, 0, 0.1, 0.2),
                CallSpan("run-1", "step:one_step", "", 0, 0, 0.1, 0.2),  # no call: not in the dataset's
            ],
            phases=[Phase("run-1", "imports", 5.0, 1.0, {"tensorflow": 5.0})],
            parts=[Part("run-1", "m1", "net/dense", "Dense", "forward", "train.py", 2, 1.0, 0.1, 5, 5)],
        )
    folder = tmp_path / "dataset"
    done = energy_lsp(
        "db",
        "export",
        folder,
        "--format",
        "parquet",
        "--db",
        tmp_path / "energy.db",
        "--author",
        "A. Lab",
        "--title",
        "T: x",
    )
    assert done.exit_code == 0, done.output
    return folder


def test_every_table_has_its_rows_and_units(dataset: Path) -> None:
    rows = {name: pq.read_metadata(dataset / f"{name}.parquet").num_rows for name in TABLES}
    assert rows == {
        "measurements": 2, "runs": 1, "phases": 1, "layers": 1, "traces": 2, "events": 1, "temperatures": 2
    }  # fmt: skip
    for name, (_, columns) in TABLES.items():
        schema = pq.read_schema(dataset / f"{name}.parquet")
        assert schema.names == [column.name for column in columns]
        for column in columns:
            notes = schema.field(column.name).metadata
            assert notes[b"description"].decode() == column.description
            assert notes.get(b"unit", b"").decode() == column.unit
    assert pq.read_schema(dataset / "measurements.parquet").field("cpu_joules").metadata[b"unit"] == b"J"


def test_a_measurement_comes_with_what_is_known_of_its_run(dataset: Path) -> None:
    first, second = pq.read_table(dataset / "measurements.parquet").to_pylist()
    assert (first["program"], first["project"], first["owner"]) == ("train.py", "mnist", "eve")
    assert (first["resolved"], second["resolved"]) == (True, False)
    assert first["tensorflow"] == "2.21.0"
    assert first["estimated"] is False


def test_nothing_of_the_machines_folders_and_no_argument_gets_out(dataset: Path) -> None:
    for path in dataset.glob("*.parquet"):
        text = str(pq.read_table(path).to_pylist())
        assert "hunter2" not in text
        assert "/home" not in text


def test_it_says_how_to_cite_and_check_it(dataset: Path) -> None:
    sums = dict(reversed(line.split("  ")) for line in (dataset / "SHA256SUMS").read_text().splitlines())
    assert set(sums) == {path.name for path in dataset.iterdir()} - {"SHA256SUMS"}
    for name, digest in sums.items():
        assert hashlib.sha256((dataset / name).read_bytes()).hexdigest() == digest
    citation = (dataset / "CITATION.cff").read_text()
    assert 'title: "T: x"' in citation
    assert 'name: "A. Lab"' in citation
    assert "CC-BY-4.0" in (dataset / "LICENSE").read_text()
    card = (dataset / "README.md").read_text()
    for name, (_, columns) in TABLES.items():
        assert f"### `{name}.parquet`" in card
        assert all(f"| `{column.name}` |" in card for column in columns)


def test_a_folder_with_something_in_it_stays_as_it_is(dataset: Path, energy_lsp: Invoke) -> None:
    before = (dataset / "SHA256SUMS").read_text()
    done = energy_lsp("db", "export", dataset, "--format", "parquet", "--db", dataset.parent / "energy.db")
    assert done.exit_code == 2
    assert "is not empty" in done.stderr
    assert (dataset / "SHA256SUMS").read_text() == before
    assert not list(dataset.parent.glob(".dataset.*"))


def test_an_empty_database_is_a_dataset_too(tmp_path: Path, energy_lsp: Invoke) -> None:
    with Database.open(tmp_path / "empty.db"):
        pass
    done = energy_lsp("db", "export", tmp_path / "d", "--format", "parquet", "--db", tmp_path / "empty.db")
    assert done.exit_code == 0, done.output
    assert pq.read_metadata(tmp_path / "d" / "measurements.parquet").num_rows == 0


def test_the_queries_of_the_documentation_run(dataset: Path) -> None:
    queries = re.findall(r"```sql\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert len(queries) >= 5
    for query in queries:
        found = duckdb.sql(query.replace("dataset/", f"{dataset}/")).fetchall()
        assert found, query


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("python train.py --x 1", "train.py"),
        ("python '/a b/train.py'", "train.py"),
        ("python C:\\\\x\\\\train.py", "train.py"),
        ("", ""),
    ],
)
def test_of_a_command_only_the_program_is_left(command: str, program: str) -> None:
    assert program_of(command).endswith(program)
    assert "/" not in program_of(command)


def test_paths_that_lead_out_of_the_project_lose_their_folders() -> None:
    assert relative("src/a.py") == "src/a.py"
    assert [relative(f) for f in ("/etc/x.py", "../x.py", "C:\\u\\x.py", "~/x.py")] == ["x.py"] * 4


def test_the_order_of_writing_needs_no_sorting(dataset: Path) -> None:
    """A million rows must not be sorted in a temporary file."""
    with sqlite3.connect(dataset.parent / "energy.db") as connection:
        plan = connection.execute("EXPLAIN QUERY PLAN SELECT * FROM measurements ORDER BY rowid").fetchall()
    assert not any("TEMP B-TREE" in row[3] for row in plan)
