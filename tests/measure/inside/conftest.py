"""Profiles as TensorFlow writes them, made by hand."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from energy_measure.injected.inside import reader

HERE = Path(__file__).parent


@pytest.fixture
def messages() -> Any:
    """The description of profiles that TensorFlow ships."""
    pytest.importorskip("google.protobuf")
    try:
        return reader.messages()
    except ImportError:
        pytest.skip("TensorFlow is not installed")


@pytest.fixture
def journal(tmp_path: Path) -> Callable[..., Path]:
    """Writes what the hooks would have noted: `journal([["layer", …], …], profiles=[bytes, …])`."""

    def write(records: list[Any], profiles: list[bytes] | None = None) -> Path:
        lines = list(records)
        for number, content in enumerate(profiles or []):
            name = f"profile-7-{number}"
            (tmp_path / name).mkdir()
            (tmp_path / name / "vm.xplane.pb").write_bytes(content)
            lines.append(["session", [name, 0, 10**9, 0, 0, 10**9, 0]])
        path = tmp_path / "inside-7.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return path

    return write


def labelled_source() -> str:
    """The labelled program with the line of its call in the name of each layer."""
    text = (HERE / "labelled.py").read_text()
    lines = text.split("\n")
    marks = [
        (keyword.value.end_lineno or 0, keyword.value.end_col_offset or 0, node.lineno)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg == "name"
    ]
    for row, column, line in sorted(marks, reverse=True):
        before, after = lines[row - 1][:column], lines[row - 1][column:]
        lines[row - 1] = f"_at{line}".join(before.rsplit("_@", 1)) + after
    return "\n".join(lines)
