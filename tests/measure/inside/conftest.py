"""Profiles as TensorFlow writes them, made by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from energy_measure.injected.inside import reader


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
