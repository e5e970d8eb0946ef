"""Outside of a repository a file belongs to the program that it was measured in, whichever folder holds it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from energy_data.database.measured_folders import MeasuredFolders
from energy_data.project_identity import project_id
from energy_lsp.cli import main

NET = """import tensorflow as tf


def double(x):
    return tf.matmul(x, x)
"""
MATMUL = "tensorflow.linalg.matmul"


def hotspots(*words: str) -> list[Any]:
    done = CliRunner().invoke(main, ["check", *words, "--format", "json"])
    return [item for item in json.loads(done.stdout) if item["rule"] == "hotspot"]


def test_a_module_in_a_folder_without_init_has_its_figures(
    tmp_path: Path, figures: Callable[..., None]
) -> None:
    root = tmp_path / "work"
    (root / "models" / "deep").mkdir(parents=True)
    (root / "main.py").write_text("from models.deep.net import double\n")
    net = root / "models" / "deep" / "net.py"
    net.write_text(NET)
    database = tmp_path / "measured.db"
    measured = {"source": NET, "project": str(root), "project_id": project_id(root)}
    figures(database, {MATMUL: 3.0}, file="models/deep/net.py", **measured)
    for named in (root, root / "models", net):
        (found,) = hotspots(str(named), "--db", str(database))
        assert (found["api"], found["origin"], found["joules"]) == (MATMUL, "site", 3.0)


def test_a_database_is_named_from_where_the_command_runs(
    tmp_path: Path, figures: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "work"
    root.mkdir()
    (root / "net.py").write_text(NET)
    measured = {"source": NET, "project": str(root), "project_id": project_id(root)}
    figures(tmp_path / "measured.db", {MATMUL: 3.0}, file="net.py", **measured)
    monkeypatch.chdir(tmp_path)
    (found,) = hotspots("work", "--db", "measured.db")
    assert found["joules"] == 3.0


def test_a_namesake_in_another_folder_has_none(tmp_path: Path, figures: Callable[..., None]) -> None:
    for name in ("mine", "other"):
        (tmp_path / name / "models").mkdir(parents=True)
        (tmp_path / name / "models" / "net.py").write_text(NET)
    database = tmp_path / "measured.db"
    root = tmp_path / "mine"
    measured = {"source": NET, "project": str(root), "project_id": project_id(root)}
    figures(database, {MATMUL: 3.0}, file="models/net.py", **measured)
    assert hotspots(str(tmp_path / "other"), "--db", str(database)) == []


def test_the_last_program_counts_where_several_were_measured(tmp_path: Path) -> None:
    inner = tmp_path / "work" / "models"
    inner.mkdir(parents=True)
    outer = inner.parent
    files = {
        (project_id(inner), "net.py"): "2026-11-16T02:00:00",
        (project_id(outer), "models/net.py"): "2026-11-17T02:00:00",
        (project_id(inner), "alone.py"): "2026-11-16T02:00:00",
    }
    folders = MeasuredFolders(files)
    assert folders.root_of(inner / "net.py") == outer
    assert folders.root_of(inner / "alone.py") == inner
    assert folders.root_of(inner / "never.py") == inner
    (outer / "pyproject.toml").write_text("")
    assert folders.root_of(inner / "alone.py") == outer, "what marks a project decides"
