"""`energy-lsp inside`: the layers of a run in the terminal, as JSON and CSV, and how sure they are."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from energy_data.database.database import Database
from energy_data.model import Environment, InputSignature, Inside, Machine, Measurement, Part, Quantity, Run
from energy_lsp.cli import main
from energy_lsp.inside.footprints import summarised_footprints
from energy_lsp.inside.precision import similarity, total_variation

RUN = "20261118-000000-aa"


def part(
    path: str, kind: str, direction: str, joules: float, line: int = 0, repeats: tuple[float, ...] = ()
) -> Part:
    return Part(
        RUN,
        f"{RUN}-0",
        path,
        kind,
        direction,  # type: ignore[arg-type]
        "model.py" if line else "",
        line,
        joules,
        joules / 10.0,
        100,
        20,
        joules * 0.9,
        joules * 1.1,
        operations={"MatMul": joules},
        repeats=repeats or (joules, joules),
    )


PARTS = [
    part("net/block_0/dense", "Dense", "forward", 1.0, 3, (1.1, 0.9)),
    part("net/block_0/dense", "Dense", "backward", 2.0, 3),
    part("net/block_1/dense", "Dense", "forward", 1.0, 3),
    part("net/block_1/dense", "Dense", "backward", 2.0, 3),
    part("net/<b>[red]head\x1b[31m", "Dense", "forward", 0.5, 4),
    part("optimizer", "optimizer", "optimizer", 0.5),
]


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "energy.sqlite"
    run = Run(
        RUN,
        Machine("cpu", "", 1, "os", ""),
        Environment("3.11", "2.21", "3.15"),
        "python model.py",
        "2026-11-18T00:00:00+00:00",
        "rapl",
        False,
        None,
        project=str(tmp_path),
    )
    call = Measurement(
        f"{RUN}-0",
        RUN,
        "keras.Model.fit",
        "model.py",
        9,
        InputSignature(),
        1.0,
        {"cpu": Quantity(7.0, 0.1)},
        1,
        2,
        True,
        "in place",
        column=1,
    )
    (tmp_path / "model.py").write_text("")
    with Database.open(path) as database:
        inside = Inside(
            RUN,
            "Windows of steps were profiled.",
            0.2,
            (("net/block_0/dense", "net/block_1/dense"),),
            {"2": 0.99},
        )
        database.replace_run(run, [call], parts=PARTS, inside=inside)
    return path


def ask(database: Path, *arguments: str) -> str:
    done = CliRunner().invoke(main, ["inside", *arguments, "--db", str(database)])
    assert done.exit_code == 0, done.output
    return done.output


def test_layers_are_shown_with_their_lines_and_passes(database: Path) -> None:
    shown = ask(database, "latest")
    assert "net/block_0/dense" in shown
    assert "model.py:3" in shown
    assert "7.00 J altogether, measured; apportioned" in shown
    assert "Windows of steps were profiled." in shown
    assert "\x1b" not in shown
    assert "<b>[red]head" in shown


def test_a_file_stands_for_its_last_run(database: Path) -> None:
    leaves = json.loads(ask(database, str(database.parent / "model.py"), "--format", "json"))
    assert sum(leaf["joules"] for leaf in leaves) == 7.0
    assert leaves[0]["call"] == {"file": "model.py", "line": 9, "column": 1, "api": "keras.Model.fit"}
    assert leaves[0]["share"] == pytest.approx(1.0 / 7.0)


@pytest.mark.parametrize(
    ("by", "first"),
    [
        ("pass", "backward"),
        ("kind", "Dense"),
        ("line", "model.py:3"),
        ("operation", "net/block_0/dense/MatMul"),
    ],
)
def test_parts_are_added_up_as_asked(database: Path, by: str, first: str) -> None:
    groups = json.loads(ask(database, "latest", "--by", by, "--format", "json"))
    assert groups[0]["name"] == first
    assert sum(group["share"] for group in groups) == pytest.approx(1.0)


def test_one_block_can_be_looked_at_alone(database: Path) -> None:
    rows = list(
        csv.DictReader(io.StringIO(ask(database, RUN[:12], "--of", "net/block_0", "--format", "csv")))
    )
    assert [row["pass"] for row in rows] == ["forward", "backward"]


def test_a_block_is_a_share_of_the_whole_call(database: Path) -> None:
    leaves = json.loads(ask(database, RUN[:12], "--of", "net/block_0", "--format", "json"))
    assert [leaf["share"] for leaf in leaves] == [pytest.approx(1 / 7), pytest.approx(2 / 7)]
    assert {leaf["call"]["api"] for leaf in leaves} == {"keras.Model.fit"}


def test_a_table_is_grouped_as_asked(database: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(ask(database, RUN[:12], "--by", "pass", "--format", "csv"))))
    assert {row["name"]: float(row["joules"]) for row in rows} == {
        "forward": 2.5,
        "backward": 4.0,
        "optimizer": 0.5,
    }


def test_a_layer_that_is_not_there_is_one_sentence(database: Path) -> None:
    done = CliRunner().invoke(main, ["inside", "latest", "--of", "net/none", "--db", str(database)])
    assert done.exit_code == 2
    assert done.output == "No layer is called net/none; at the top there are: net, optimizer.\n"


def test_a_run_without_an_inside_says_why(database: Path) -> None:
    with Database.open(database) as open_:
        run = open_.runs()[0]
        open_.replace_run(
            run,
            open_.measurements(RUN),
            inside=Inside(RUN, "The program uses TensorFlow's profiler itself.", 0.0),
        )
    done = CliRunner().invoke(main, ["inside", "latest", "--db", str(database)])
    assert done.exit_code == 2
    assert "The program uses TensorFlow's profiler itself." in done.output


def test_precision_over_repeats(database: Path) -> None:
    shown = ask(database, "latest", "--precision")
    assert "over all pairs of 2 repeats 0.99" in shown
    assert "Total variation between repeats: 2.4 points" in shown
    assert "Sparser samples (ASSS): 2 times fewer: 0.9900" in shown


def test_precision_as_a_table(database: Path) -> None:
    rows = list(csv.reader(io.StringIO(ask(database, "latest", "--precision", "--format", "csv"))))
    assert rows[:2] == [["name", "of", "value"], ["repeats", "", "2"]]
    assert ["more_repeats", "2"] in [row[:2] for row in rows]


def test_blocks_built_alike_are_one_whatever_they_are_called() -> None:
    groups = {group.name: group for group in summarised_footprints(PARTS)}
    assert groups["net/block_*/dense"].joules == 6.0
    other = [
        part("net/encoder/dense", "Dense", "forward", 1.0),
        part("net/decoder/conv", "Conv2D", "forward", 1.0),
    ]
    assert {group.name for group in summarised_footprints(other)} == {"net/encoder/dense", "net/decoder/conv"}


def test_similarity_does_not_see_what_total_variation_does() -> None:
    one, other = {"a": 10.0, "b": 5.0, "c": 0.0}, {"a": 10.0, "b": 5.0, "c": 3.0}
    assert similarity(one, {name: 3 * value for name, value in one.items()}) == pytest.approx(1.0)
    assert total_variation(one, one) == 0.0
    assert similarity(one, other) > 0.94
    assert total_variation(one, other) == pytest.approx(1 / 6)


def test_parts_survive_export_and_import(database: Path, tmp_path: Path) -> None:
    file, second = tmp_path / "export.jsonl", tmp_path / "second.sqlite"
    command = [sys.executable, "-m", "energy_lsp", "db", "export", "--db", str(database)]
    with file.open("wb") as lines:
        told = subprocess.run(command, stdout=lines, stderr=subprocess.PIPE, check=True, text=True).stderr
    assert all(isinstance(json.loads(line), dict) for line in file.read_text().splitlines())
    assert "1 run" in told
    done = CliRunner().invoke(main, ["db", "import", "jsonl", str(file), "--db", str(second)])
    assert done.exit_code == 0, done.output
    with Database.read(second) as copy:
        assert copy.parts(RUN) == PARTS
        assert copy.inside(RUN) is not None


def test_two_versions_are_compared_layer_by_layer(database: Path) -> None:
    with Database.open(database) as open_:
        run = replace(open_.runs()[0], id="20261119-bb", started="2026-11-19T00:00:00+00:00")
        call = replace(open_.measurements(RUN)[0], id="b-0", run_id=run.id)
        after = [
            replace(one, run_id=run.id, measurement_id="b-0", joules=2 * one.joules) for one in PARTS[:2]
        ]
        after.append(
            replace(part("net/new", "Dense", "forward", 3.0, 8), run_id=run.id, measurement_id="b-0")
        )
        open_.replace_run(run, [call], parts=after, inside=Inside(run.id, "All.", 1.0))
    arguments = ["compare", "--inside", RUN, "20261119-bb", "--db", str(database), "--format", "json"]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    found = json.loads(done.output)
    changes = {layer["path"]: (layer["state"], layer["difference"]) for layer in found["layers"]}
    assert changes["block_0/dense"] == ("both", 3.0)
    assert changes["new"] == ("added", 3.0)
    assert changes["optimizer"] == ("gone", -0.5)
    text = CliRunner().invoke(main, arguments[:-2]).output
    assert "Correlation" in text
    assert "total variation" in text


def test_a_program_to_compare_that_is_not_there_is_told() -> None:
    done = CliRunner().invoke(main, ["compare", "none.py", "other.py"])
    assert done.exit_code == 2
    assert "does not exist" in done.output


def test_blocks_that_are_built_otherwise_stay_apart_whatever_they_are_called() -> None:
    built = {"left": "Dense", "right": "Dense", "up": "Conv2D", "down": "Conv2D"}
    parts = [replace(PARTS[0], path=f"net/{name}/inner", kind=kind) for name, kind in built.items()]
    names = sorted(group.name for group in summarised_footprints(parts))
    assert len(names) == 2
    assert all(name.endswith("/inner") for name in names)
