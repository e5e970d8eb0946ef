"""Ctrl-C and pipes: what `energy-lsp tune` gives and leaves behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sends the signal of Ctrl-C")

PROGRAM = """
import sys
rounds = 1000 if "pandas" in sys.modules else 6_000_000
print(sum(range(rounds)) > 0)
"""
"""The candidate for optional imports, which puts that name there, saves for sure."""


def started(tmp_path: Path, *options: str) -> tuple[subprocess.Popen[str], Path, Path]:
    project, temporary = tmp_path / "project", tmp_path / "tmp"
    for folder in (project, temporary):
        folder.mkdir()
    (project / "train.py").write_text(PROGRAM)
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "energy_lsp", "tune", str(project / "train.py"), "--format", "json"),
            *("--meter", "cpu-time", "--python", sys.executable, "--project", str(project)),
            *("--db", str(tmp_path / "own.sqlite"), *options),
        ],
        env={**os.environ, "TMPDIR": str(temporary), "ENERGY_LSP_LOCK_FOLDER": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    return process, project, temporary


@pytest.mark.parametrize(
    ("stage", "known"),
    [("running the program as it is,", False), ("exploring", True), ("confirming, round 2", True)],
)
def test_ctrl_c_gives_what_is_known_and_leaves_nothing(tmp_path: Path, stage: str, known: bool) -> None:
    process, project, temporary = started(tmp_path, "--budget", "3", "--only", "optional-imports")
    assert process.stderr is not None
    for line in process.stderr:
        if stage in line:
            break
    else:
        pytest.skip(f"chance ended it before: {stage}")
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in errors
    if known:
        told = json.loads(output)
        assert told["interrupted"]
        assert told["untouched"]
        assert told["before"]["joules"] > 0
    else:
        assert "nothing is known, nothing was changed" in errors
    assert (project / "train.py").read_text() == PROGRAM
    assert [path.name for path in project.iterdir()] == ["train.py"]
    assert list(temporary.iterdir()) == []
