from __future__ import annotations

from pathlib import Path

import pytest

from energy_lsp.workspace import settings
from energy_lsp.workspace.settings import DEFAULTS, Settings, combine, read, read_pyproject


@pytest.mark.parametrize("key", ["hotspot_joules", "hotspot-joules", "hotspotJoules"])
def test_every_spelling_names_the_same_option(key: str) -> None:
    assert read({key: 2}, "here") == ({"hotspot_joules": 2.0}, [])


def test_spellings_turn_into_each_other() -> None:
    for name in settings.NAMES:
        assert settings.snake(settings.camel(name)) == name
        assert settings.snake(settings.kebab(name)) == name


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"hotspots": "many"}, "pyproject.toml: `hotspots` must be a whole number; using 3."),
        ({"hotspots": -1}, "pyproject.toml: `hotspots` must be at least 0; using 3."),
        ({"hotspots": 2.5}, "pyproject.toml: `hotspots` must be a whole number; using 3."),
        (
            {"hotspot-joules": float("nan")},
            "pyproject.toml: `hotspot-joules` must be a finite number; using 0.",
        ),
        ({"code-lens": "yes"}, "pyproject.toml: `code-lens` must be true or false; using true."),
        ({"database": 7}, "pyproject.toml: `database` must be a text; using ''."),
        (
            {"rule-severity": "loud"},
            "pyproject.toml: `rule-severity` must be one of off, hint, information, warning, error; "
            "using 'information'.",
        ),
        ({"ignore": [1]}, "pyproject.toml: `ignore` must be a list of texts; using []."),
        (
            {"hotspot": 1},
            "pyproject.toml: there is no option `hotspot`. Did you mean `hotspots`?",
        ),
    ],
)
def test_a_wrong_option_is_named_and_its_default_used(options: dict[str, object], expected: str) -> None:
    good, problems = read(options, "pyproject.toml")
    assert good == {}
    assert problems == [expected]


def test_one_wrong_option_leaves_the_others_alone() -> None:
    good, problems = read({"hotspots": "x", "codeLens": False}, "editor")
    assert good == {"code_lens": False}
    assert len(problems) == 1


def test_command_line_over_editor_over_pyproject() -> None:
    pyproject = {"hotspots": 1, "budget": 5.0, "ignore": ("a",)}
    editor = {"hotspots": 7, "budget": DEFAULTS.budget}
    command = {"ignore": ("b",)}
    assert combine(pyproject, editor, command) == Settings(hotspots=7, budget=5.0, ignore=("b",))


def test_an_editor_that_sends_all_defaults_does_not_hide_pyproject() -> None:
    editor = {name: getattr(DEFAULTS, name) for name in settings.NAMES}
    assert combine({"hotspots": 9}, editor).hotspots == 9


def test_reads_the_tool_table(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.energy-lsp]\nselect = ["a", "b"]\nhotspots = 0\n')
    assert read_pyproject(tmp_path) == ({"select": ("a", "b"), "hotspots": 0}, [])


def test_no_pyproject_is_no_problem(tmp_path: Path) -> None:
    assert read_pyproject(tmp_path) == ({}, [])


@pytest.mark.parametrize("text", ["[tool", "[tool]\nenergy-lsp = 3\n", "\x00"])
def test_a_broken_pyproject_is_reported_and_left_out(tmp_path: Path, text: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    good, problems = read_pyproject(tmp_path)
    assert good == {}
    assert problems[0].startswith("pyproject.toml")


def test_every_option_is_documented() -> None:
    from dataclasses import fields

    assert all(option.metadata["text"].endswith(".") for option in fields(Settings))
