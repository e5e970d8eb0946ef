"""What IPython alone understands in a notebook runs as there, or is named as left out."""

from __future__ import annotations

import ast
import json
import os
import subprocess
from pathlib import Path

import pytest

from energy_code.workspace.notebook import neutralised
from energy_code.workspace.project import Project
from energy_measure.injected.notebook import cell_magics, shell_lines
from energy_measure.program.call_sites import Instrumented
from energy_measure.program.notebook_magics import cell_magic, left_out, line_commands


def test_a_shell_command_that_is_assigned_gives_its_lines() -> None:
    written, neutral = "x = 3\nfiles = !printf 'a\\nb{x}'", "x = 3\nfiles = 0#.............."
    commands = {str(line): command for line, command in line_commands(written, neutral).items()}
    names: dict[str, object] = {}
    tree = ast.parse(neutral)
    shell_lines.run_assigned(tree, commands, names)
    exec(compile(tree, "cell", "exec"), names)
    assert names["files"] == ["a", "b3"]
    assert names["files"].s == "a b3"


def test_a_bare_shell_line_is_run_and_shown_unless_it_installs(capfd: pytest.CaptureFixture[str]) -> None:
    written = "x = 3\nif x:\n    !echo hi \\\n  {x} && false\n!pip install -q nothing\nt = '''\n!no\n'''"
    neutral = neutralised(written.encode()).decode()
    commands = {str(line): command for line, command in line_commands(written, neutral).items()}
    names: dict[str, object] = {}
    tree = ast.parse(neutral)
    shell_lines.run_assigned(tree, commands, names)
    exec(compile(tree, "cell", "exec"), names)
    shown = capfd.readouterr()
    assert (shown.out, names["_exit_code"]) == ("hi 3\n", 1)
    assert "`!pip install -q nothing` is left out: nothing is installed while measuring." in shown.err


def run_cell(written: str, names: dict[str, object]) -> None:
    neutral = neutralised(written.encode()).decode()
    magic = cell_magic(written)
    if magic is not None:
        cell_magics.run_cell_magic(magic, names)
        return
    commands = {str(line): command for line, command in line_commands(written, neutral).items()}
    tree = ast.parse(neutral)
    shell_lines.run_assigned(tree, commands, names)
    exec(compile(tree, "cell", "exec"), names)


def test_a_bash_cell_runs_in_bash(capfd: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    run_cell("%%bash\nfor word in one two; do\n  echo $word\ndone\npip install nothing\n", names)
    run_cell("%%bash --out kept -s a 'b c'\necho $2\n", names)
    shown = capfd.readouterr()
    assert shown.out == "one\ntwo\n"
    assert "`pip install nothing` is left out" in shown.err
    assert names == {"kept": "b c\n"}
    with pytest.raises(subprocess.CalledProcessError):
        run_cell("%%bash\nexit 3\n", names)
    run_cell("%%bash --no-raise-error\nexit 3\n", names)


def test_a_file_that_a_cell_writes_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_cell("%%writefile helper.py\nvalue = 3\n", {})
    run_cell("%%writefile -a helper.py\nother = 4\n", {})
    assert (tmp_path / "helper.py").read_text() == "value = 3\nother = 4\n"


def test_folder_and_variables_change_as_the_lines_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ENERGY_TEST_COLOUR", "")
    (tmp_path / "data").mkdir()
    run_cell("where = 'data'\n%cd {where}\n%env ENERGY_TEST_COLOUR=blue\n%matplotlib inline\n", {})
    assert Path.cwd() == tmp_path / "data"
    assert os.environ["ENERGY_TEST_COLOUR"] == "blue"


@pytest.mark.parametrize(
    ("cell", "named"),
    [
        ("%%time\nx = 1", []),
        ("%matplotlib inline\n%load_ext tensorboard\n!ls\n%cd ..", []),
        ("%%bash\necho", []),
        ("%%html\n<b>", []),
        ("%%perl\nprint 1", ["%%perl"]),
        ("%run helper.py\nx = 1 % 3", ["%run helper.py"]),
        ("home = %env HOME", ["home = %env HOME"]),
        ("text = '''\n100%safe\n'''\nx = 7 %y", []),
    ],
)
def test_what_does_not_run_is_named(cell: str, named: list[str]) -> None:
    assert left_out(cell, neutralised(cell.encode()).decode()) == named


def test_a_notebook_says_which_cells_it_leaves_out(tmp_path: Path) -> None:
    cells = ["import tensorflow as tf\ntf.ones(3)", "%%R\nplot(x)"]
    content = {"cells": [{"cell_type": "code", "source": cell} for cell in cells]}
    notebook = tmp_path / "program.ipynb"
    notebook.write_text(json.dumps(content))
    instrumented = Instrumented()
    instrumented.add_notebook(notebook, Project(tmp_path), tmp_path)
    assert instrumented.left_out == ["program.ipynb cell 2: `%%R` is left out."]
