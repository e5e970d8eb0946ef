"""Real editors: Neovim and Emacs (Eglot) open an example, list diagnostics, hover, apply a fix."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
SERVER = json.dumps([sys.executable, "-m", "energy_lsp", "serve"])


def drive(command: list[str], workspace: Path, database: Path, tmp_path: Path) -> dict[str, Any]:
    """Run an editor with its script; returns what the script saw."""
    seen = tmp_path / "seen.json"
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path),
        "ENERGY_LSP_DB": str(database),
        "SERVER": SERVER,
        "EXAMPLE": "model.py",
        "SEEN": str(seen),
    }
    done = subprocess.run(
        command, cwd=workspace, env=environment, capture_output=True, timeout=200, stdin=subprocess.DEVNULL
    )
    assert seen.exists(), done.stderr.decode()
    result: dict[str, Any] = json.loads(seen.read_text("utf-8"))
    assert not result.get("problem"), result
    return result


@pytest.mark.editor
@pytest.mark.skipif(shutil.which("nvim") is None, reason="the Debian package neovim is not installed")
def test_neovim(workspace: Path, database: Path, tmp_path: Path) -> None:
    command = ["nvim", "--headless", "--clean", "-n", "-c", f"luafile {HERE / 'neovim.lua'}"]
    seen = drive(command, workspace, database, tmp_path)
    assert {one["line"] for one in seen["diagnostics"]} == {15, 16, 21}
    assert "tensorflow.math.pow" in seen["hover"]
    assert "Measured here" in seen["hover"]
    assert "Ignore pow2 here" in seen["actions"]
    assert "return tf.square(tf.abs(data))" in (workspace / "model.py").read_text()


@pytest.mark.editor
@pytest.mark.skipif(shutil.which("emacs") is None, reason="the Debian package emacs-nox is not installed")
def test_emacs_eglot(workspace: Path, database: Path, tmp_path: Path) -> None:
    found = subprocess.run(
        ["emacs", "--batch", "--eval", "(progn (package-initialize) (require 'eglot))"], capture_output=True
    )
    if found.returncode != 0:
        pytest.skip("the Debian package elpa-eglot is not installed")
    subprocess.run(["git", "init", "-q"], cwd=workspace, check=True)
    seen = drive(["emacs", "--batch", "-q", "-l", str(HERE / "emacs.el")], workspace, database, tmp_path)
    assert any("fit: 120 J, 100% of this file" in one for one in seen["diagnostics"])
    assert "tensorflow.math.pow" in seen["hover"]
    assert "Ignore pow2 here" in seen["actions"]
    assert "return tf.square(tf.abs(data))" in (workspace / "model.py").read_text()
