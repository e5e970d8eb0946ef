"""`docs/reference/json.md` has every field of every command's JSON: of what quick commands print, and of what others build."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from energy_lsp.cli import main

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "reference" / "json.md").read_text("utf-8")
SHARED = "Words that all commands share"
SOURCE = "import tensorflow as tf\n\nx = tf.ones([2])\nfor _ in range(3):\n    y = tf.pow(x, 2.0)\n"


def words(*sections: str) -> set[str]:
    """The fields that some sections of the page name."""
    found: set[str] = set()
    for section in (SHARED, *sections):
        parts = re.split(r"^## ", PAGE, flags=re.MULTILINE)
        text = next(part for part in parts if part.partition("\n")[0].strip("` ") == section)
        for word in re.findall(r"`([^`\n]+)`", text):
            found.update(re.split(r"[.,\s]+", word.replace("[]", "")))
    return found


def fields(value: Any) -> Iterator[str]:
    """Every key of an object and of those in it."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from fields(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from fields(inner)


@pytest.mark.parametrize(
    ("section", "command"),
    [
        ("check", "check model.py"),
        ("calls", "calls model.py"),
        ("rules list", "rules list"),
        ("doctor", "doctor"),
        ("db info", "db info"),
        ("db lookup", "db lookup tf.matmul"),
        ("runs", "runs list"),
    ],
)
def test_what_a_command_prints_is_on_the_page(
    section: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENERGY_LSP_DB", str(tmp_path / "energy.db"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(SOURCE)
    printed = CliRunner().invoke(main, [*command.split(), "--format", "json"]).stdout
    try:
        printed_fields = json.loads(printed)
    except ValueError:
        printed_fields = [json.loads(line) for line in printed.splitlines()]
    assert printed_fields or section == "runs"
    assert set(fields(printed_fields)) - words(section) == set()


BUILT = {
    "compare": ("cli/measuring/compared.py", ("as_json", "effect_json", "hot_functions_json"), ("inside",)),
    "sweep": ("cli/measuring/sweep.py", ("as_json", "_curve_json", "_fit_json"), ()),
    "campaign": ("cli/measuring/campaign.py", ("_as_json",), ()),
    "rules list": ("cli/source/rules.py", ("_row",), ()),
}
"""Of commands that run programs: the functions that build their JSON, and further sections that tell of it."""


@pytest.mark.parametrize("section", BUILT)
def test_what_a_command_builds_is_on_the_page(section: str) -> None:
    file, functions, others = BUILT[section]
    tree = ast.parse((ROOT / "server" / "energy_lsp" / file).read_text("utf-8"))
    built = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name in functions]
    assert {node.name for node in built} == set(functions)
    keys = {
        key.value
        for function in built
        for node in ast.walk(function)
        if isinstance(node, ast.Dict)
        for key in node.keys
        if isinstance(key, ast.Constant) and isinstance(key.value, str)
    }
    assert keys - words(section, *others) == set()
