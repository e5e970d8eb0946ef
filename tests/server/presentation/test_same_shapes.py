"""A call that was never measured, when another one with the same shapes was: said so everywhere, and in no sum."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from energy_data.model import Environment
from energy_lsp.cli import main

ELSEWHERE = """import tensorflow as tf
tf.pow(tf.ones((64, 8)), 2)
"""
HERE = """import tensorflow as tf

for step in range(5):
    tf.pow(tf.zeros((64, 8)), 2)
tf.pow(tf.zeros((64, 9)), 2)
"""
POW = "tensorflow.math.pow"
JAX = Environment("3.11", "2.21.0", "3.15", backend="jax")


@pytest.fixture
def project(tmp_path: Path, figures: Callable[..., None]) -> Path:
    """Never measured; another project was."""
    root = tmp_path / "never"
    root.mkdir()
    (root / "pyproject.toml").write_text("")
    (root / "program.py").write_text(HERE)
    (tmp_path / "energy.db").unlink(missing_ok=True)
    figures(
        tmp_path / "energy.db",
        {POW: 0.25},
        file="other.py",
        source=ELSEWHERE,
        project="elsewhere",
        shapes=("float32[64,8]",),
    )
    return root


def check(project: Path, *options: str) -> str:
    command = ["check", str(project), "--db", str(project.parent / "energy.db"), *options]
    return CliRunner().invoke(main, command).stdout


def found(project: Path) -> dict[int, dict[str, Any]]:
    items = json.loads(check(project, "--format", "json", "--select", "pow2"))
    return {item["line"]: item for item in items}


def test_check_says_what_another_call_with_the_same_shapes_took(project: Path) -> None:
    items = found(project)
    same = items[4]
    assert (same["origin"], same["source"], same["joules"]) == ("signature", "here", pytest.approx(0.25))
    assert (same["times"], same["times_from"], same["share"]) == (5, "source", None)
    assert same["total_joules"] == pytest.approx(5 * 0.25)
    assert items[5]["origin"] == "api", "other shapes"
    assert items[5]["joules"] is None


def test_it_is_in_no_sum_and_no_hotspot(project: Path) -> None:
    assert all(item["rule"] != "hotspot" for item in found(project).values())
    text = check(project)
    assert "J in" not in text
    assert "not measured" in text


def test_another_back_end_s_figure_is_not_shown(
    tmp_path: Path, project: Path, figures: Callable[..., None]
) -> None:
    (tmp_path / "energy.db").unlink()
    figures(
        tmp_path / "energy.db",
        {POW: 0.25},
        file="other.py",
        source=ELSEWHERE,
        project="elsewhere",
        shapes=("float32[64,8]",),
        environment=JAX,
    )
    assert found(project)[4]["origin"] == "api"


@pytest.mark.asyncio
async def test_the_editor_says_so(start: Any, workspace: Path, database: Path, project: Path) -> None:
    assert database.parent == project.parent, "one database for both"
    (workspace / "program.py").write_text(HERE)
    async with start("full") as session:
        uri = session.open("program.py")
        text = await session.hover(uri, 3, 9)
        assert text.startswith("1\\.25 J · `tensorflow.math.pow`"), "not bold: it is not of this call"
        assert "Measured here, at another call, same shapes\\." in text
        assert "× 5 calls in the source" in text
        assert "same shapes" not in await session.hover(uri, 4, 5)
        summary = await session.command("energyLsp.server.summary", {"uri": uri})
        calls = [
            call for file in summary["files"] for function in file["functions"] for call in function["calls"]
        ]
        first = next(call for call in calls if call["api"] == POW)
        assert (first["origin"], first["share"]) == ("signature", None)
        assert "at another call with the same shapes" in first["provenance"]
        assert summary["known_joules"] == 0.0
