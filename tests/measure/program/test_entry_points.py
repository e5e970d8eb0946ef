"""Which scripts of a project run, with which interpreter, with which options."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from energy_code.model import Call
from energy_code.workspace.project import Project
from energy_measure.problems import MeasureProblem
from energy_measure.program.entry_points import (
    find_entry_points,
    named_entry_points,
    python_files,
)
from energy_measure.program.imports import makes_up_names, reached_files
from energy_measure.program.interpreter_search import interpreters
from energy_measure.program.interpreters import (
    create_environment,
    environment_folder,
    find_interpreter,
    python_of,
)
from energy_measure.program.requirements import declared_requirements
from energy_measure.request import MeasureOptions, project_root, read_options

CALL = "import tensorflow as tf\n"


def entries(bench: Any) -> list[str]:
    project = Project(bench.project)

    def calls_of(path: Path) -> Sequence[Call]:
        analysis = project.analyse(path)
        return analysis.calls() if analysis is not None else ()

    found = find_entry_points(bench.project, python_files(bench.project), calls_of)
    return [path.relative_to(bench.project).as_posix() for path in found]


def test_scripts_that_nothing_imports(bench: Any) -> None:
    main = "if __name__ == '__main__':\n    import model\n    model.build()\n"
    bench.write(
        {
            "train.py": main,
            "model.py": CALL + "def build():\n    return tf.constant(1)\n",
            "plain.py": CALL + "print(tf.constant(2))\n",
            "library.py": CALL + "def f():\n    return tf.constant(3)\n",
            "imported.py": CALL + "tf.constant(1)\nif __name__ == '__main__':\n    pass\n",
            "user.py": CALL + "import imported\ntf.add(1, 2)\n",
            "unrelated.py": "if __name__ == '__main__':\n    print('no tensors')\n",
            "test_model.py": CALL + "tf.constant(1)\n",
            "pkg/__init__.py": "",
            "pkg/deep.py": CALL + "from . import helper\nif '__main__' == __name__:\n    helper.run()\n",
            "pkg/helper.py": CALL + "def run():\n    tf.square(1)\ntf.square(2)\n",
            "broken.py": "def (:\n",
            ".venv/lib/hidden.py": CALL + "tf.constant(1)\n",
        }
    )
    assert entries(bench) == ["pkg/deep.py", "plain.py", "train.py", "user.py"]


def test_no_entry_point_says_what_to_do(bench: Any) -> None:
    bench.write(library="def f(): pass\n")
    with pytest.raises(MeasureProblem, match="name one with --entry"):
        entries(bench)


def test_named_entry_points(bench: Any) -> None:
    bench.write(a="", b="")
    assert named_entry_points(bench.project, ["b.py", "a.py"]) == [
        bench.project / "b.py",
        bench.project / "a.py",
    ]
    with pytest.raises(MeasureProblem, match=r"c\.py"):
        named_entry_points(bench.project, ["c.py"])


def test_modules_that_a_script_reaches(bench: Any) -> None:
    bench.write(
        {
            "main.py": "import a\nimport importlib\nimportlib.import_module('plugin')\n",
            "a.py": "def f():\n    from pack.inner import g\n",
            "pack/__init__.py": "",
            "pack/inner.py": "from . import sibling\n",
            "pack/sibling.py": "import os\n",
            "plugin.py": "",
            "other.py": "",
        }
    )
    names = {path.relative_to(bench.project).as_posix() for path in reached_files(bench.project / "main.py")}
    assert names == {"main.py", "a.py", "pack/__init__.py", "pack/inner.py", "pack/sibling.py", "plugin.py"}


def reached(bench: Any, script: str) -> set[str]:
    found = reached_files(bench.project / script, None, bench.project)
    return {path.relative_to(bench.project).as_posix() for path in found}


def test_modules_of_the_project_that_are_installed_or_put_into_the_path(bench: Any) -> None:
    bench.write(
        {
            "src/lib/__init__.py": "",
            "src/lib/deep/__init__.py": "",
            "src/lib/deep/net.py": "from ..tools import f\n",
            "src/lib/tools.py": "",
            "tools.py": "",
            "parts/helper.py": "",
            "unused/helper.py": "",
            "scripts/installed.py": "from lib.deep import net\n",
            "scripts/above.py": "import os, sys\nsys.path.append(os.path.join(os.path.dirname(__file__), '..', 'parts'))\nimport helper\n",
            "scripts/root.py": "import sys, pathlib\nsys.path.insert(0, str(pathlib.Path(__file__).parents[1]))\nimport tools\n",
            "main.py": "import sys\nsys.path.insert(0, 'parts')\nfrom helper import g\n",
        }
    )
    packages = {"src/lib/__init__.py", "src/lib/deep/__init__.py", "src/lib/deep/net.py", "src/lib/tools.py"}
    assert reached(bench, "scripts/installed.py") == {"scripts/installed.py", *packages}
    assert reached(bench, "scripts/above.py") == {"scripts/above.py", "parts/helper.py"}
    assert reached(bench, "scripts/root.py") == {"scripts/root.py", "tools.py"}
    assert reached(bench, "main.py") == {"main.py", "parts/helper.py"}


@pytest.mark.parametrize(
    ("text", "made_up"),
    [
        ("import importlib\nimportlib.import_module('models.' + name)\n", True),
        ("model = __import__(f'models.{name}', fromlist=['x'])\n", True),
        ("import runpy\nrunpy.run_path('other.py')\n", True),
        ("import importlib\nimportlib.import_module('models.vgg')\n", False),
        ("import models\n", False),
    ],
)
def test_names_that_a_program_makes_up(bench: Any, text: str, made_up: bool) -> None:
    bench.write(main=text)
    assert makes_up_names(bench.project / "main.py") is made_up


def test_the_interpreter_asked_for_comes_first(bench: Any) -> None:
    found = find_interpreter(bench.project, bench.project, sys.executable)
    assert found.path == Path(sys.executable)
    assert found.version == sys.version_info[:3]
    with pytest.raises(MeasureProblem, match="no-such-python"):
        find_interpreter(bench.project, bench.project, "no-such-python")


def test_the_projects_own_environment_comes_next(bench: Any) -> None:
    own = python_of(bench.project / ".venv")
    own.parent.mkdir(parents=True)
    own.write_text("#!/bin/sh\necho '[[3, 12, 1], false]'\n")
    own.chmod(0o755)
    (bench.project / "sub").mkdir()
    with pytest.raises(
        MeasureProblem, match=r"^Neither TensorFlow nor Keras is installed for .*\.venv/bin/python; "
    ) as problem:
        find_interpreter(bench.project / "sub", bench.project)
    assert str(problem.value).count(". ") == 0, "one sentence"
    with pytest.raises(MeasureProblem, match=r" --python or install it there\.$"):
        find_interpreter(bench.project, bench.project, creates=False)
    own.write_text("#!/bin/sh\necho '[[3, 7, 1], true]'\n")
    with pytest.raises(MeasureProblem, match=r"is Python 3\.7\.1"):
        find_interpreter(bench.project, bench.project)


def test_an_environment_is_made_once_and_reused(
    bench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    text = "# nothing to fetch\n"
    (bench.project / "requirements.txt").write_text(text)
    monkeypatch.chdir(bench.project.parent)
    made = create_environment(Path(bench.project.name))
    folder = environment_folder(bench.project, Path(sys.executable), text)
    assert made == python_of(folder)
    assert made.exists()
    (folder / "mark").write_text("")
    assert create_environment(bench.project) == made
    assert (folder / "mark").exists(), "it was not made anew"
    assert environment_folder(bench.project, Path(sys.executable), "# changed\n") != folder


def test_an_environment_is_another_when_an_included_file_changes(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("-r more.txt\n")
    (tmp_path / "more.txt").write_text("keras==3.12\n")
    before = declared_requirements(tmp_path)
    (tmp_path / "more.txt").write_text("keras==3.15\n")
    after = declared_requirements(tmp_path)
    assert before.arguments == after.arguments == ("-r", str(tmp_path / "requirements.txt"))
    assert before.text != after.text


def test_nothing_to_make_an_environment_from(bench: Any) -> None:
    with pytest.raises(MeasureProblem, match="--python"):
        create_environment(bench.project)


def test_options_come_from_the_project_and_are_overruled(bench: Any) -> None:
    (bench.project / "pyproject.toml").write_text(
        '[tool.energy-lsp.measure]\nrepeat = 3\nentry = ["a.py"]\nperiod-ms = 2\narguments = ["--fast"]\n'
    )
    options = read_options(bench.project, repeat=None, meter="cpu-time", entry=())
    assert options == MeasureOptions(
        repeat=3, entry=("a.py",), period_ms=2.0, arguments=("--fast",), meter="cpu-time"
    )
    assert read_options(bench.project, repeat=7).repeat == 7
    assert read_options(bench.project, quick=True).repeat == 1
    assert read_options(bench.project, quick=True, repeat=2).repeat == 2


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("repeats = 3", "repeats in .* is no option, and left out; there are entry, python, repeat"),
        ('repeat = "3"', "repeat in .* must be a whole number; the default is used"),
        ("repeat = 1979-05-27", "repeat in .* must be a whole number"),
        ("repeat = {a = 1}", "repeat in .* must be a whole number"),
        ("repeat = true", "repeat in .* must be a whole number"),
        ("quick = 1", "quick in .* must be true or false"),
        ("entry = [1]", "entry in .* must be a list of texts"),
        ('arguments = [["a"]]', "arguments in .* must be a list of texts"),
        ("python = 3", "python in .* must be a text"),
        ('python = "~nosuchuser/python"', "python in .* names a user that is not known"),
        ('python = "a\\u0000b"', "python in .* null character"),
        ("repeat = 0", "repeat in .* must be between 1 and"),
        ("timeout = -1", "timeout in .* must be between 0 and"),
        ("timeout = nan", "timeout in .* finite"),
        ("timeout = -inf", "timeout in .* finite"),
        ("timeout = 1" + 399 * "0", "timeout in .* too large"),
        ("period-ms = -1", "period-ms in .* must be between 1 and 500"),
        ("period-ms = 1e9", "period-ms in .* must be between 1 and 500"),
        ("active-watts = -3", "active-watts in .* must be between"),
        ('inside = "maybe"', "inside in .* must be one of auto, all, off"),
        ("repeat = [", "cannot be read"),
        ("arguments = " + 5000 * "[" + 5000 * "]", "arguments. is nested too deeply"),
    ],
)
def test_wrong_options_are_told_and_the_defaults_used(bench: Any, line: str, sentence: str) -> None:
    (bench.project / "pyproject.toml").write_text(f"[tool.energy-lsp.measure]\n{line}\n")
    told: list[str] = []
    assert read_options(bench.project, note=told.append) == MeasureOptions()
    assert len(told) == 1
    assert re.search(sentence, told[0]), told


@pytest.mark.parametrize("text", ["tool = 1", "[tool]\nenergy-lsp = []", "[tool.energy-lsp]\nmeasure = 'x'"])
def test_what_is_no_table_is_told(bench: Any, text: str) -> None:
    (bench.project / "pyproject.toml").write_text(text)
    told: list[str] = []
    assert read_options(bench.project, note=told.append) == MeasureOptions()
    assert "must be a table" in told[0]


def test_what_somebody_asked_for_is_not_replaced(bench: Any) -> None:
    with pytest.raises(MeasureProblem, match="repeat must be between 1"):
        read_options(bench.project, repeat=0)


def test_the_project_is_the_nearest_repository(bench: Any) -> None:
    deep = bench.project / "a" / "b"
    deep.mkdir(parents=True)
    assert project_root(deep) == deep
    (deep / "__init__.py").touch()
    assert project_root(deep) == project_root(deep / "x.py") == deep.parent, "a package is part of a project"
    (bench.project / ".git").mkdir()
    assert project_root(deep) == project_root(deep / "x.py") == bench.project


def test_the_names_of_one_interpreter_are_one_choice(
    bench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A virtual environment has python, python3 and python3.x side by side."""
    names = tmp_path / "bin"
    names.mkdir()
    for name in ("python", "python3", f"python3.{sys.version_info.minor}"):
        (names / name).symlink_to(sys.executable)
    monkeypatch.setenv("PATH", str(names))
    monkeypatch.setenv("HOME", str(tmp_path))
    found = [one.path for one in interpreters(bench.project, bench.project)]
    assert [path.parent for path in found].count(names) == 1
