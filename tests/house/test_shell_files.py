"""Completions and the man page are what the code says, and pip installs them."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def build() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "build_shell_files", ROOT / "tools" / "build_shell_files.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_files_are_what_the_code_says(build: ModuleType) -> None:
    for name, text in build.files().items():
        assert (ROOT / "server" / "shell" / name).read_text("utf-8") == text, "run make docs"


def test_pip_installs_them_where_shells_look(build: ModuleType) -> None:
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    for name in build.files():
        assert f'"server/shell/{name}" = "share/' in project


def test_the_program_completes_its_commands_and_options() -> None:
    def complete(words: str, number: int, shell: str = "bash") -> list[str]:
        environment = {
            **os.environ,
            "_ENERGY_LSP_COMPLETE": f"{shell}_complete",
            "COMP_WORDS": words,
            "COMP_CWORD": str(number),
        }
        command = [sys.executable, "-c", "from energy_lsp.cli import main; main(prog_name='energy-lsp')"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        return [line.partition(",")[2] or line for line in done.stdout.splitlines()]

    assert complete("energy-lsp me", 1) == ["measure"]
    assert "--quick" in complete("energy-lsp measure --q", 2)
    assert complete("energy-lsp runs hi", 2) == ["history"]
    assert complete("energy-lsp rules show l2", 3) == ["l2-loss"]
    assert complete("energy-lsp runs de", 2, "zsh")[1:] == [
        "delete",
        "Delete runs with everything that was measured in them.",
    ], "the whole sentence"
