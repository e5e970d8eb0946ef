"""Studies of frameworks: phases from calls of Keras, hot functions, and models × frameworks in one command."""

from __future__ import annotations

import csv
import itertools
import json
import subprocess
import sys
from pathlib import Path

import pytest

from energy_measure.comparison.hot_functions import read_profile
from energy_measure.comparison.marks import phases_of_run, read_marks
from energy_measure.comparison.study import INTERRUPTED, read_study, run_study
from energy_measure.problems import MeasureProblem

INJECTED = Path(sys.modules["energy_measure"].__file__ or "").parent / "injected"
TRAINS = """
import keras, numpy as np
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse")
x = np.ones((64, 4), "float32")
model.fit(x, x[:, :1], validation_data=(x, x[:, :1]), epochs=2, verbose=0)
for _ in range(3):
    model.train_on_batch(x, x[:, :1])
model.predict(x, verbose=0)
print(__name__, __file__)
"""
WORKS = """
import sys
def hot(times):
    return sum(i * i for i in range(times))
print("score:", hot(int(sys.argv[1]) * {times}) % 7)
"""


@pytest.mark.tensorflow
@pytest.mark.xdist_group("tensorflow")
def test_training_and_inference_are_told_by_calls_of_keras(tmp_path):
    script, calls = tmp_path / "trains.py", tmp_path / "calls"
    script.write_text(TRAINS)
    done = subprocess.run(
        [sys.executable, str(INJECTED / "marked_run.py"), str(calls), str(script)],
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == f"__main__ {script}"
    marks = read_marks(calls)
    names = [mark.name for mark in marks]
    # Validation inside of `fit` is no phase of its own; batches that follow each other closely are one mark.
    assert set(names) == {"training", "inference"}
    assert names[-1] == "inference"
    assert all(one.end_ns <= other.start_ns for one, other in itertools.pairwise(marks))


def test_a_program_marks_phases_where_energy_lsp_is_not_installed(tmp_path):
    script, spans = tmp_path / "marks.py", tmp_path / "spans"
    script.write_text("import energy_lsp\nwith energy_lsp.span('any  name\\udc80'):\n    print('here')\n")
    isolated = [sys.executable, "-S"]  # without site-packages, as in a project's own environment
    assert subprocess.run([*isolated, str(script)], capture_output=True, check=False).returncode != 0
    done = subprocess.run(
        [*isolated, str(INJECTED / "marked_run.py"), str(tmp_path / "calls"), str(script)],
        env={"ENERGY_LSP_SPANS": str(spans)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "here\n"
    assert [mark.name for mark in read_marks(spans)] == ["any name\\udc80"]


def test_a_phase_that_the_program_marks_itself_is_not_counted_twice(tmp_path):
    (tmp_path / "spans").write_text("10 20 training\n")
    (tmp_path / "calls").write_text("12 18 training\n30 40 inference\n")
    found = phases_of_run(tmp_path / "spans", tmp_path / "calls")
    assert [(mark.name, mark.start_ns, mark.end_ns) for mark in found] == [
        ("training", 10, 20),
        ("inference", 30, 40),
    ]


def test_a_profile_that_is_none_gives_no_functions(tmp_path):
    profile = tmp_path / "profile.json"
    assert read_profile(profile, tmp_path) == []
    for text in (
        "",
        "[]",
        '{"seconds": 0, "functions": [["f", 1, "g", 1, 1]]}',
        '{"seconds": 1, "functions": [[1]]}',
    ):
        profile.write_text(text)
        assert read_profile(profile, tmp_path) == []


STUDY = """
[study]
name = "Two ways"
quick = true
rest = 0.05
meter = "cpu-time"

[framework.plain]
python = {python}
[framework.double]
python = {python}
env = {{ SOMETHING = "1" }}

[[model]]
name = "=squares"
arguments = ["60000"]
programs = {{ plain = "one.py", double = "two.py" }}

[[model]]
name = "broken"
arguments = ["1000"]
programs = {{ plain = "one.py", double = "missing_module.py" }}
"""


def test_a_study_gives_one_page_and_one_table_and_goes_on_where_a_program_fails(tmp_path):
    (tmp_path / "one.py").write_text(WORKS.format(times=5))
    (tmp_path / "two.py").write_text(WORKS.format(times=15))
    (tmp_path / "missing_module.py").write_text("import a_module_that_nobody_has\n")
    (tmp_path / "study.toml").write_text(STUDY.format(python=json.dumps(sys.executable)))
    done = subprocess.run(
        [sys.executable, "-m", "energy_lsp", "compare", "--matrix", "study.toml", "--format", "json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)
    squares, broken = told["comparisons"]
    assert (squares["model"], squares["before"], squares["after"]) == ("=squares", "plain", "double")
    assert squares["problem"] is None
    assert squares["ratio"] > 1.0
    assert squares["estimated"]
    assert "score" in squares["metrics"]["before"]
    places = {one["file"] for one in squares["hot_functions"]["after"][:3]}
    assert "two.py" in places
    assert 0 < sum(one["share"] for one in squares["hot_functions"]["after"]) <= 1
    assert broken["problem"].endswith("No module named 'a_module_that_nobody_has'")
    rows = list(csv.DictReader((tmp_path / "study.csv").read_text().splitlines()))
    assert {row["respect"] for row in rows} == {effect["name"] for effect in squares["effects"]}
    # A spreadsheet must not take a name for a formula.
    assert {row["model"] for row in rows} == {"'=squares"}
    # Corrected over the whole study: never below what the test itself gave.
    assert all(float(row["p_holm"]) >= float(row["p"]) for row in rows)
    page = (tmp_path / "study.html").read_text()
    assert "=squares: plain and double" in page
    assert "a_module_that_nobody_has" in page
    assert "http" not in page.replace("http-equiv", "")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[study]\npairs = 2\n", "pairs in [study] must be 6 or more"),
        ("[studies]\n", "there is no [studies] in a plan"),
        (
            "[framework.a]\n[[model]]\nname = 'm'\nprograms = { a = 'x.py', b = 'y.py' }\n",
            "add [framework.b]",
        ),
        ("[framework.a]\n[[model]]\nname = 'm'\nprograms = { a = 'x.py' }\n", "compares nothing"),
        ("[framework]\na = 1\n", "write [framework.NAME]"),
        ("[model]\nname = 'm'\n", "write [[model]], with two brackets"),
        ("[study]\nmeter = 3\n", "meter in [study] must be a text"),
    ],
)
def test_what_is_wrong_with_a_study_is_said_in_one_sentence(tmp_path, text, sentence):
    study = tmp_path / "study.toml"
    study.write_text(text)
    with pytest.raises(MeasureProblem) as problem:
        read_study(study)
    assert sentence in str(problem.value)


def test_a_program_that_is_not_there_is_named_before_anything_runs(tmp_path):
    study = tmp_path / "study.toml"
    study.write_text(
        "[framework.a]\n[framework.b]\n[[model]]\nname = 'm'\nprograms = { a = 'x.py', b = 'y.py' }\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "energy_lsp", "compare", "--matrix", str(study)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 2
    assert "there is no program" in done.stderr
    assert "x.py" in done.stderr


def test_an_interrupted_study_gives_what_is_finished(tmp_path, monkeypatch):
    (tmp_path / "one.py").write_text("")
    models = "".join(
        f"[[model]]\nname = '{name}'\nprograms = {{ a = 'one.py', b = 'one.py' }}\n" for name in "xyz"
    )
    (tmp_path / "study.toml").write_text(f"[framework.a]\n[framework.b]\n{models}")

    def compare(pair, *, progress, **settings):
        progress(0, 6)
        if told:
            raise KeyboardInterrupt  # as Ctrl-C does while the second model is measured
        told.append(pair)
        raise MeasureProblem("it failed")

    told: list[object] = []
    monkeypatch.setattr("energy_measure.comparison.study.compare_programs", compare)
    cells = run_study(read_study(tmp_path / "study.toml"))
    assert [(cell.model, cell.problem) for cell in cells] == [
        ("x", "it failed"),
        ("y", INTERRUPTED),
        ("z", INTERRUPTED),
    ]
