"""`energy-lsp measure`: variables of the program's environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from energy_lsp.cli import main


@pytest.mark.parametrize("wrong", ["SEED", "=1", "A B=1", "1A=2", "Ä=1"])
def test_what_is_no_variable_is_refused(wrong: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("print(1)\n")
    done = CliRunner().invoke(main, ["measure", str(program), "--env", wrong])
    assert done.exit_code == 2
    assert "give NAME=VALUE" in done.stderr


@pytest.mark.tensorflow
@pytest.mark.xdist_group("tensorflow")
def test_the_program_gets_its_variables_and_nothing_of_them_is_kept(tmp_path: Path) -> None:
    program, database, printed = (tmp_path / name for name in ("program.py", "energy.db", "printed.txt"))
    program.write_text(
        "import os\nimport tensorflow as tf\ntf.ones(3)\nprint('got', os.environ['SEED'], os.environ['EMPTY'] == '')\n"
    )
    command = [sys.executable, "-m", "energy_lsp", "measure", program, "--quick", "--python", sys.executable]
    command += ["--db", database, "--format", "json", "--program-output", printed]
    command += ["--env", "SEED=hush=7 8", "--env", "EMPTY="]
    environment = {**os.environ, "ENERGY_LSP_LOCK_FOLDER": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.stdout, done.stderr
    assert json.loads(done.stdout)["status"] == "finished", done.stderr
    assert "got hush=7 8 True" in printed.read_text()
    assert b"hush" not in database.read_bytes()
    assert "hush" not in done.stdout + done.stderr
