"""Calls of the program's own compiled functions and iterations over datasets: measured, shown, ranked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from energy_data.database.database import Database
from energy_data.model import Environment, InputSignature, Machine, Measurement, Quantity, Run
from energy_lsp.cli import main

STEP = """\
import tensorflow as tf

@tf.function
def step(x):
    return tf.reduce_sum(x)

data = tf.data.Dataset.range(4)
for x in data:
    step( x )  # the step
"""


@pytest.fixture
def project(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    more = getattr(request, "param", [])
    root = tmp_path / "project"
    root.mkdir()
    (root / "pyproject.toml").write_text("")
    database = tmp_path / "energy.db"
    common: dict[str, Any] = {"id": "", "run_id": "r", "signature": InputSignature(), "seconds": 0.1}
    common |= {"repeats": 2, "resolved": True, "method": "in place", "file": "train.py"}
    calls = [
        ("step", "step(x)", "compiled", 9, 5, 40, 2.0, 30.0),
        ("tensorflow.data.Dataset", "data", "iteration", 8, 10, 4, 0.5, None),
        ("tensorflow.data.Dataset.range", "tf.data.Dataset.range(4)", "api", 7, 8, 1, 1.0, None),
        *(more if isinstance(more, list) else []),
    ]
    status = "finished" if isinstance(more, list) else more
    run = Run(
        *("r", Machine("CPU", "", 1, "Linux", ""), Environment("3", "2.21", "3"), "python train.py"),
        *("2026-11-16T02:00:00+00:00", "rapl", False, True),
        project=str(root),
        status=status,
    )
    with Database.open(database) as opened:
        opened.add_run(
            run,
            [
                Measurement(
                    api=api,
                    text=text,
                    kind=kind,  # type: ignore[arg-type]
                    line=line,
                    column=column,
                    count=count,
                    joules={"cpu": Quantity(joules, 0.01)},
                    first_joules=first,
                    **common,
                )
                for api, text, kind, line, column, count, joules, first in calls
            ],
        )
    monkeypatch.chdir(root)
    monkeypatch.setenv("ENERGY_LSP_DB", str(database))
    return root


def hotspots(project: Path, text: str) -> list[dict[str, Any]]:
    from energy_lsp.checking.run import _folder

    _folder.cache_clear()
    (project / "train.py").write_text(text)
    result = CliRunner().invoke(
        main, ["check", "train.py", "--format", "json", "--exit-zero", "--hotspots", "9"]
    )
    found = [item for item in json.loads(result.stdout) if item["rule"] == "hotspot"]
    return sorted(found, key=lambda item: -item["total_joules"])


def test_the_costliest_measured_is_the_first_hotspot_whatever_kind_it_is(project: Path) -> None:
    found = hotspots(project, STEP)
    told = [(one["api"], one["kind"], one["line"], one["column"], one["times"]) for one in found]
    assert told == [
        ("step", "compiled", 9, 5, 40),
        ("tensorflow.data.Dataset", "iteration", 8, 10, 4),
        ("tensorflow.data.Dataset.range", "api", 7, 8, 1),
    ]
    assert found[0]["total_joules"] == pytest.approx(30 + 39 * 2.0)
    assert found[0]["first_joules"] == 30.0
    assert (found[0]["origin"], found[0]["source"], found[0]["times_from"]) == ("site", "here", "measured")
    assert found[0]["share"] == pytest.approx(108 / 111)


def test_own_steps_follow_edits_and_are_gone_with_their_text(project: Path) -> None:
    moved = "# more\n\n" + STEP.replace("step( x )", "step(\n        x\n    )")
    first = hotspots(project, moved)[0]
    assert (first["api"], first["line"]) == ("step", 11)
    assert "step" not in [one["api"] for one in hotspots(project, STEP.replace("step( x )", "other(x)"))]


def test_an_edited_step_has_the_figure_of_before(project: Path) -> None:
    edited = STEP.replace("step( x )", "step(x + 1)").replace("in data", "in data.take(2)")
    found = {one["api"]: one for one in hotspots(project, edited)}
    assert found["step"]["edited"]
    assert found["tensorflow.data.Dataset"]["edited"]
    assert not found["tensorflow.data.Dataset.range"]["edited"]


OTHER_LOOPS = [
    ("BatchDataset", "data", "iteration", 8, 10, 9, 3.0, None),
    ("MapDataset", "data", "iteration", 11, 10, 2, 20.0, None),
]


@pytest.mark.parametrize("project", [OTHER_LOOPS], indirect=True)
def test_a_loop_over_one_dataset_or_another_has_the_figures_of_both(project: Path) -> None:
    """And not what other loops over something of that name took."""
    found = hotspots(project, STEP + "\nfor x in data:\n    print(x)\n")
    loops = {one["api"]: (one["line"], one["times"]) for one in found if one["kind"] == "iteration"}
    assert loops == {"tensorflow.data.Dataset": (8, 4), "BatchDataset": (8, 9), "MapDataset": (11, 2)}


@pytest.mark.parametrize(
    ("project", "words"),
    [("failed", "in a run that failed"), ("partial", "in a run that was stopped")],
    indirect=["project"],
)
def test_figures_of_a_run_that_did_not_end_well_say_so(project: Path, words: str) -> None:
    for item in hotspots(project, STEP):
        assert item["run_status"] in ("failed", "partial")
        assert words in item["message"]
    predicted = CliRunner().invoke(main, ["predict", "train.py"], env={"COLUMNS": "200"})
    assert words in predicted.stdout
    asked = CliRunner().invoke(main, ["predict", "train.py", "--format", "json"])
    calls = {call["api"]: call["run_status"] for call in json.loads(asked.stdout)["calls"]}
    assert calls["tensorflow.data.Dataset.range"] in ("failed", "partial")


def test_figures_of_a_run_that_ended_well_say_nothing_of_it(project: Path) -> None:
    assert {item["run_status"] for item in hotspots(project, STEP)} == {"finished"}
    assert "in a run that" not in CliRunner().invoke(main, ["predict", "train.py"]).stdout


@pytest.mark.parametrize(
    "project", [[("torch.Tensor.backward", "loss.backward()", "api", 10, 1, 40, 9.0, None)]], indirect=True
)
def test_calls_of_pytorch_are_found_by_their_text(project: Path) -> None:
    (project / "train.py").write_text(f"# moved\n{STEP}loss.backward()\n")
    done = CliRunner().invoke(main, ["check", "train.py", "--format", "json"])
    first = next(item for item in json.loads(done.stdout) if item["rule"] == "hotspot")
    assert (first["api"], first["line"], first["origin"]) == ("torch.Tensor.backward", 11, "site")
    assert first["total_joules"] == pytest.approx(40 * 9.0)
