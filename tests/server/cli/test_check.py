"""`energy-lsp check`: formats, fixes, budget, exit codes, many files."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import nbformat
import pytest
from click.testing import CliRunner, Result

from energy_data.database.database import Database
from energy_data.model import RuleEvidence
from energy_data.program_evidence import in_program
from energy_data.project_identity import project_ids
from energy_lsp.cli import main

SAFE = "import tensorflow as tf\n\n\ndef f(x: tf.Tensor):\n    return tf.pow(x, 2)\n"


@pytest.fixture
def check(workspace: Path, database: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run the command in the workspace."""
    monkeypatch.chdir(workspace)
    monkeypatch.setenv("ENERGY_LSP_DB", str(database))
    monkeypatch.setenv("HOME", str(workspace.parent))
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: str) -> Result:
        from energy_lsp.checking.run import _folder

        _folder.cache_clear()
        return CliRunner().invoke(main, ["check", *arguments])

    return run


def test_text_shows_the_source_and_the_costliest_calls(check: Any) -> None:
    result = check("model.py")
    assert result.exit_code == 1
    assert "model.py:16:12 pow2" in result.stdout
    assert "   16 |     return tf.pow(tf.abs(data), 2)" in result.stdout
    assert "      |            ^^^^^^^^^^^^^^^^^^^^^^^" in result.stdout
    assert "[fix]" in result.stdout
    assert "Costliest calls" in result.stdout
    assert "120 J" in result.stdout
    assert "1 file, 1 finding, 1 fixable with --fix, 120 J in 9 calls." in result.stdout


def test_hotspots_are_one_line_each_and_what_they_have_in_common_is_said_once(check: Any) -> None:
    shown = check("model.py").stdout
    hotspots = [line for line in shown.splitlines() if " hotspot " in line]
    assert hotspots
    first = "model.py:15:9 hotspot fit: 120 J, 100% of this file, in 10 calls of 12.0 J (95% interval 10.8 to 13.2 J)"
    assert hotspots[0] == first
    common = next(line for line in shown.splitlines() if line.startswith("Hotspot"))
    assert "measured here, at the call itself · " in common
    machine = common.split(" · ")[1]
    assert len(hotspots) > 1
    assert shown.count(machine) == 1
    assert shown.index(common) > shown.index(hotspots[-1])


def test_calls_that_took_next_to_nothing_are_told_together(check: Any) -> None:
    table = check("model.py").stdout.split("Costliest calls")[1]
    shares = re.findall(r"^ +[\d.]+ +(\d+%|< 1%) ", table, re.M)
    assert shares == ["100%"], "nobody looks for the rest"
    assert re.search(r"^… and 8 calls more of at most [\d.]+ mJ each\.$", table, re.M)


def test_a_rule_that_does_not_exist_brings_the_nearest(check: Any) -> None:
    assert "there is no rule 'pow-2'. Did you mean pow2?" in check("--select", "pow-2", "model.py").stderr
    assert "`energy-lsp rules list` names them all" in check("--ignore", "zzzz", "model.py").stderr


def test_json_has_place_rule_fix_and_figures(check: Any) -> None:
    items = json.loads(check("model.py", "--format", "json").stdout)
    rule = next(item for item in items if item["rule"] == "pow2")
    assert {key: rule[key] for key in ("file", "line", "column", "end_line", "end_column", "fix", "api")} == {
        "file": "model.py",
        "line": 16,
        "column": 12,
        "end_line": 16,
        "end_column": 35,
        "fix": "safe",
        "api": "tensorflow.math.pow",
    }
    hotspot = next(item for item in items if item["rule"] == "hotspot")
    assert hotspot["joules"] == 12.0
    assert hotspot["total_joules"] == 120.0
    assert hotspot["times"] == 10
    assert hotspot["layer"] == "here"
    assert hotspot["estimated"] is False
    assert hotspot["devices"] == {"cpu": 9.0, "ram": 3.0}
    assert (hotspot["low"], hotspot["high"]) == (pytest.approx(10.8), pytest.approx(13.2))


def test_columns_count_characters(check: Any, workspace: Path) -> None:
    (workspace / "wide.py").write_text('import tensorflow as tf\n"é😀"; y = tf.pow(tf.abs(x), 2)\n')
    items = json.loads(check("wide.py", "--format", "json").stdout)
    assert next(item["column"] for item in items if item["rule"] == "pow2") == 11


def test_sarif_is_valid(check: Any, workspace: Path) -> None:
    write_notebook(workspace / "study é.ipynb")
    (workspace / "broken.ipynb").write_text("{")
    result = check(".", "--format", "sarif")
    sarif = json.loads(result.stdout)
    schema = json.loads((Path(__file__).parent / "sarif-2.1.0.json").read_text("utf-8"))
    jsonschema.validate(sarif, schema)
    for rule in sarif["runs"][0]["tool"]["driver"]["rules"]:
        for text in (rule["shortDescription"]["text"], rule["fullDescription"]["text"]):
            assert text[0].isupper() or text[0] == "`"
            assert text.endswith(".")
            assert len(text.split()) > 2
    found = sarif["runs"][0]["results"]
    assert {one["ruleId"] for one in found} == {"pow2", "hotspot"}
    places = {one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in found}
    assert places == {"model.py", "study%20%C3%A9.ipynb"}
    assert sarif["runs"][0]["invocations"][0]["executionSuccessful"] is False
    assert result.exit_code == 2


def test_github_annotations_are_escaped(check: Any, workspace: Path) -> None:
    (workspace / "a,b:c.py").write_text(SAFE)
    lines = check("a,b:c.py", "--format", "github").stdout.splitlines()
    annotation = next(line for line in lines if "pow2" in line)
    assert annotation.startswith(
        "::notice file=a%2Cb%3Ac.py,line=5,endLine=5,col=12,endColumn=24,title=energy-lsp pow2::"
    )


def test_severity_reaches_the_formats(check: Any) -> None:
    lines = check("model.py", "--format", "github", "--rule-severity", "error").stdout
    assert "::error file=model.py,line=16" in lines


def test_fix_applies_what_is_safe(check: Any, workspace: Path) -> None:
    path = workspace / "safe.py"
    path.write_bytes(SAFE.replace("\n", "\r\n").encode())
    path.chmod(0o755)
    result = check("safe.py", "--fix")
    assert result.exit_code == 0
    assert "1 fixed" in result.stdout
    assert path.read_bytes() == SAFE.replace("\n", "\r\n").replace("tf.pow(x, 2)", "tf.square(x)").encode()
    assert os.stat(path).st_mode & 0o777 == 0o755
    assert sorted(one.name for one in workspace.iterdir()) == ["model.py", "pyproject.toml", "safe.py"]


def test_fix_leaves_what_needs_review(check: Any, workspace: Path) -> None:
    source = "import tensorflow as tf\ny = tf.sqrt(tf.reduce_sum(tf.square(x)))\n"
    (workspace / "review.py").write_text(source)
    result = check("review.py", "--fix", "--select", "euclid-norm")
    assert result.exit_code == 1
    assert (workspace / "review.py").read_text() == source


def write_notebook(path: Path) -> None:
    cells = [
        nbformat.v4.new_markdown_cell("# Study"),
        nbformat.v4.new_code_cell("import tensorflow as tf"),
        nbformat.v4.new_code_cell("def f(x: tf.Tensor):\n    return tf.pow(x, 2)"),
    ]
    path.write_text(nbformat.writes(nbformat.v4.new_notebook(cells=cells)))


def test_notebooks_are_checked_and_fixed(check: Any, workspace: Path) -> None:
    path = workspace / "study.ipynb"
    write_notebook(path)
    items = json.loads(check("study.ipynb", "--format", "json").stdout)
    rule = next(item for item in items if item["rule"] == "pow2")
    assert (rule["cell"], rule["line"], rule["column"]) == (3, 2, 12)
    assert check("study.ipynb", "--fix").exit_code == 0
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert [cell.source for cell in notebook.cells] == [
        "# Study",
        "import tensorflow as tf",
        "def f(x: tf.Tensor):\n    return tf.square(x)",
    ]


def test_select_and_ignore(check: Any) -> None:
    assert check("model.py", "--ignore", "pow2").exit_code == 0
    assert check("model.py", "--select", "l2-loss").exit_code == 0
    assert check("model.py", "--select", "l2-loss,pow2").exit_code == 1
    wrong = check("model.py", "--select", "nonsense")
    assert wrong.exit_code == 2
    assert "there is no rule 'nonsense'" in wrong.stderr


def test_budget(check: Any) -> None:
    over = check("model.py", "--ignore", "pow2", "--budget", "100")
    assert over.exit_code == 1
    assert "Over the budget: 120 J measured, 100 J allowed." in over.stderr
    assert check("model.py", "--ignore", "pow2", "--budget", "200").exit_code == 0


def test_exit_zero_and_hotspots_that_only_inform(check: Any) -> None:
    assert check("model.py", "--exit-zero").exit_code == 0
    informed = check("model.py", "--ignore", "pow2")
    assert informed.exit_code == 0
    assert "hotspot" in informed.stdout


def test_statistics(check: Any) -> None:
    assert "Statistics" in check("model.py", "--statistics").stdout


def test_a_comment_silences(check: Any, workspace: Path) -> None:
    (workspace / "quiet.py").write_text(SAFE.replace("2)", "2)  # energy: ignore[pow2]"))
    assert check("quiet.py").exit_code == 0


def test_excluded_files_are_left_alone(check: Any, workspace: Path) -> None:
    (workspace / "old").mkdir()
    (workspace / "old" / "a.py").write_text(SAFE)
    assert check("old").exit_code == 1
    assert check("old", "--exclude", "old/**").exit_code == 0


def test_a_wrong_option_in_pyproject_is_named(check: Any, workspace: Path) -> None:
    (workspace / "pyproject.toml").write_text('[tool.energy-lsp]\nhotspots = "many"\n')
    result = check("model.py", "--select", "pow2")
    assert result.exit_code == 1
    assert "Warning: pyproject.toml: `hotspots` must be a whole number; using 3." in result.stderr


def test_a_bad_database_is_named(check: Any, database: Path) -> None:
    database.write_bytes(b"not a database at all" * 100)
    result = check("model.py")
    assert result.exit_code == 1
    assert "Warning:" in result.stderr
    assert database.name in result.stderr


def test_what_cannot_be_read_is_said_and_the_rest_checked(check: Any, workspace: Path) -> None:
    (workspace / "broken.ipynb").write_text("{")
    result = check(".")
    assert result.exit_code == 2
    assert "broken.ipynb could not be checked" in result.stderr
    assert "pow2" in result.stdout


def test_a_missing_path_is_a_wrong_use(check: Any) -> None:
    assert check("nowhere.py").exit_code == 2


def test_many_files_on_all_cores_in_a_stable_order(check: Any, workspace: Path) -> None:
    for number in range(60):
        (workspace / f"part{number:02}.py").write_text(SAFE)
    items = json.loads(check(".", "--format", "json").stdout)
    files = [item["file"] for item in items if item["rule"] == "pow2"]
    assert files == ["model.py", *(f"part{number:02}.py" for number in range(60))]


def test_progress_counts_every_file(check: Any, workspace: Path) -> None:
    from energy_lsp.checking.run import CheckScope, check_files
    from energy_lsp.workspace.python_files import find_files

    for number in range(40):
        (workspace / f"part{number:02}.py").write_text(SAFE)
    files = find_files([workspace])
    steps: list[tuple[str, int, int]] = []
    results = check_files(files, {}, CheckScope(), lambda *step: steps.append(step))
    assert len(results) == 41
    assert steps == sorted(steps, key=lambda step: (step[0] == "Checking", step[1]))
    assert {step[2] for step in steps} == {41}
    assert len([step for step in steps if step[0] == "Checking"]) > 1
    assert ("Indexing", 41, 41) in steps
    assert steps[-1] == ("Checking", 41, 41)


def test_nothing_of_the_protocol_is_loaded(workspace: Path) -> None:
    program = "import sys; from energy_lsp.cli import main\ntry: main()\nfinally: print('lsprotocol' in sys.modules, 'asyncio' in sys.modules)"
    arguments = ["check", "model.py", "--fix", "--format", "json"]
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], cwd=workspace, capture_output=True, text=True
    )
    assert done.stdout.splitlines()[-1] == "False False", done.stderr


@pytest.mark.parametrize("indent", [1, 2, 4, None])
def test_fixing_a_notebook_changes_the_fixed_lines_alone(
    check: Any, workspace: Path, indent: int | None
) -> None:
    path = workspace / "study.ipynb"
    write_notebook(path)
    notebook = json.loads(path.read_text())
    notebook["cells"][0]["source"] = "# Étude"
    notebook["cells"][2]["source"] = ["def f(x: tf.Tensor):\n", "    # Größe\n", "    return tf.pow(x, 2)"]
    before = json.dumps(notebook, indent=indent, sort_keys=True) + "\n\n"
    path.write_text(before)
    assert check("study.ipynb", "--fix").exit_code == 0
    assert path.read_text() == before.replace("tf.pow(x, 2)", "tf.square(x)")


def test_what_is_excluded_is_not_counted_outside_of_a_repository_either(
    check: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("old/deep/a.py", "new/b.py"):
        (tmp_path / "loose" / name).parent.mkdir(parents=True)
        (tmp_path / "loose" / name).write_text(SAFE)
    result = check(str(tmp_path / "loose"), "--exclude", "old/**")
    assert "1 file, 1 finding" in result.stdout
    assert "a.py" not in result.stdout
    monkeypatch.chdir(tmp_path)
    assert "1 file, 1 finding" in check("loose", "--exclude", "loose/old").stdout
    assert check("loose", "--exclude", "*").stdout.startswith("0 files, 0 findings")


def test_a_finding_has_the_energy_of_what_it_would_change(
    check: Any, workspace: Path, database: Path, figures: Any
) -> None:
    source = """\
import tensorflow as tf


def step(x, w):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.matmul(x, w))
    return tape.gradient(loss, w)


for x in data:
    step(x, tf.Variable(1.0))
"""
    (workspace / "step.py").write_text(source)
    joules = {
        "tensorflow.GradientTape": 0.002,
        "tensorflow.linalg.matmul": 3.0,
        "tensorflow.GradientTape.gradient": 5.0,
    }
    figures(database, joules, run_id="step", file="step.py", source=source)
    items = json.loads(check("step.py", "--select", "missing-function", "--format", "json").stdout)
    finding = next(item for item in items if item["rule"] == "missing-function")
    assert finding["total_joules"] == pytest.approx(8.002)
    assert finding["joules"] is None
    assert finding["share"] == pytest.approx(1.0)


def test_the_same_file_of_another_project_has_no_figures(check: Any, workspace: Path, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere"
    other.mkdir()
    (other / "pyproject.toml").write_text("")
    (other / "model.py").write_text((workspace / "model.py").read_text())
    items = json.loads(check(str(other / "model.py"), "--format", "json").stdout)
    assert "hotspot" not in [item["rule"] for item in items]
    assert {item["origin"] for item in items} <= {"api", None}


def add_trial(database: Path, root: Path, line: str, ratio: float) -> None:
    """What `tune` leaves behind that tried a rule at a line of the program."""
    trial = RuleEvidence(
        rule="pow2",
        size=in_program(project_ids(root)[0], "model.py", line),
        mode="eager",
        pairs=5,
        ratio=ratio,
        low=ratio - 0.01,
        high=ratio + 0.01,
        p_value=0.01,
        a12=0.0,
        control_ratio=1.0,
        joules_before=200.0,
        machine="Test CPU",
        meter="rapl",
        estimated=False,
        measured="2026-11-17T00:00:00+00:00",
        tensorflow="2.21.0",
    )
    with Database.open(database) as opened:
        opened.add_evidence([trial])


def test_what_was_proven_in_this_program_is_said_first(check: Any, workspace: Path, database: Path) -> None:
    add_trial(database, workspace, "return tf.pow(tf.abs(data), 2)", 0.6)
    result = check("model.py", "--format", "json")
    [item] = [item for item in json.loads(result.stdout) if item["rule"] == "pow2"]
    assert item["message"].startswith("✓ proven here: saves 80.0 J of 200 J a run, 40%: ")
    told = {key: item[key] for key in ("saved_joules", "saved_share", "program_joules", "saving_origin")}
    assert told == {
        "saved_joules": pytest.approx(80.0),
        "saved_share": pytest.approx(0.4),
        "program_joules": 200.0,
        "saving_origin": "proven",
    }


def test_what_saves_next_to_nothing_here_is_a_hint_and_no_problem(
    check: Any, workspace: Path, database: Path
) -> None:
    add_trial(database, workspace, "return tf.pow(tf.abs(data), 2)", 0.98)
    assert check("model.py").exit_code == 1
    quiet = check("model.py", "--smallest-share", "0.05", "--format", "sarif")
    assert quiet.exit_code == 0
    [found] = [one for one in json.loads(quiet.stdout)["runs"][0]["results"] if one["ruleId"] == "pow2"]
    assert found["level"] == "note"
    assert found["properties"]["saved_share"] == pytest.approx(0.02)


def test_an_impact_is_worked_out_from_what_the_call_took_in_the_last_run(
    check: Any, workspace: Path, database: Path
) -> None:
    before = json.loads(check("model.py", "--format", "json").stdout)
    assert next(item for item in before if item["rule"] == "pow2")["saved_joules"] is None
    connection = sqlite3.connect(database)
    with connection:
        connection.execute("UPDATE runs SET joules = ?", (json.dumps({"cpu": [400.0, 1.0]}),))
    connection.close()
    items = json.loads(check("model.py", "--format", "json").stdout)
    pow2 = next(item for item in items if item["rule"] == "pow2")
    if pow2["total_joules"]:
        assert pow2["program_joules"] == 400.0
        assert 0 <= pow2["saved_joules"] <= pow2["total_joules"]


def test_findings_about_the_same_call_do_not_add_up(check: Any, workspace: Path) -> None:
    (workspace / "rows.py").write_text(
        "from tensorflow import keras\n"
        "model = keras.Sequential([keras.layers.Dense(2)])\n"
        "for row in data:\n"
        "    print(model.predict(row[None]))\n"
    )
    both = ("--select", "predict-loop", "--select", "predict-rows")
    items = json.loads(check("rows.py", *both, "--format", "json").stdout)
    shared = {item["rule"]: item["same_calls_as"] for item in items if item["rule"] != "hotspot"}
    assert shared == {"predict-loop": None, "predict-rows": "predict-loop"}
    [other] = [item for item in items if item["rule"] == "predict-rows"]
    assert other["message"].endswith("; not in addition to `predict-loop`")


def test_what_fit_spends_on_tracing_is_not_saved_by_larger_steps(
    check: Any, workspace: Path, database: Path, figures: Any
) -> None:
    source = (
        "import tensorflow as tf\n"
        "from tensorflow import keras\n"
        "model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])\n"
        "model.compile(loss='mse')\n"
        "model.fit(tf.zeros([9000, 8]), tf.zeros([9000, 1]), epochs=9)\n"
    )
    (workspace / "dense.py").write_text(source)
    joules = {"keras.Sequential.fit": 40.0, "keras.Sequential.compile": 0.1}
    figures(database, joules, run_id="dense", file="dense.py", source=source)

    def saved(at_most: bool) -> float:
        items = json.loads(check("dense.py", "--select", "steps-per-execution", "--format", "json").stdout)
        [item] = [one for one in items if one["rule"] == "steps-per-execution"]
        assert item["saving_at_most"] == at_most
        return float(item["saved_joules"])

    connection = sqlite3.connect(database)
    with connection:
        connection.execute("UPDATE runs SET joules = ?", (json.dumps({"cpu": [50.0, 1.0]}),))
    all_of_it = saved(at_most=True)
    detail = json.dumps({"keras.Sequential.fit": 4.0, "keras.Sequential.compile": 0.1})
    with connection:
        connection.execute(
            "INSERT INTO phases (run_id, name, joules, seconds, detail) VALUES ('dense', 'calls', 4.1, 1.0, ?)",
            (detail,),
        )
    connection.close()
    assert 0 < saved(at_most=False) < min(all_of_it, 4.1), "36 of the 40 J were tracing"
