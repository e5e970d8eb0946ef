"""`energy-lsp check` on many files: people see how far it is, logs and pipes do not."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from energy_lsp.cli.source.check import MANY

CHECK = [sys.executable, "-m", "energy_lsp", "check", ".", "--format", "json"]


@pytest.fixture
def many(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("")
    for number in range(MANY):
        (tmp_path / f"file{number:03}.py").write_text("import tensorflow as tf\ny = tf.pow(x, 2)\n")
    return tmp_path


def findings(output: bytes) -> list[str]:
    return [item["file"] for item in json.loads(output) if item["rule"] == "pow2"]


@pytest.mark.skipif(os.name == "nt", reason="there are no pseudo-terminals")
def test_a_terminal_shows_how_far_it_is(many: Path) -> None:
    import pty

    terminal, other = pty.openpty()
    result = many.with_suffix(".json")
    with result.open("wb") as file, subprocess.Popen(CHECK, cwd=many, stdout=file, stderr=other) as process:
        os.close(other)
        shown = b""
        while data := _read(terminal):
            shown += data
    os.close(terminal)
    assert process.returncode == 1
    assert findings(result.read_bytes()) == [f"file{number:03}.py" for number in range(MANY)]
    plain = re.sub(rb"\x1b\[[\d;?]*[a-zA-Z]", b"", shown)
    counts = [int(done) for done in re.findall(rb"Checking\s+(\d+)/%d" % MANY, plain)]
    assert counts[-1] == MANY
    assert counts == sorted(counts)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux says so when the other side is closed
        return b""


def test_what_is_no_terminal_gets_none(many: Path) -> None:
    done = subprocess.run(CHECK, cwd=many, capture_output=True)
    assert done.returncode == 1
    assert done.stderr == b""
    assert len(findings(done.stdout)) == MANY
