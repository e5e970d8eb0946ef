"""`energy-lsp debug` prints what each stage holds."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from energy_lsp.cli import main

PROGRAM = """import tensorflow as tf


def scale(x, by=2):
    return tf.pow(x, 2)


y = scale(tf.ones(3))
"""


@pytest.mark.parametrize(
    ("stage", "line"),
    [
        ("tree", "    identifier 4:4 'scale'"),
        ("ir", "    code: FunctionCode name='scale' qualname='scale' local_names=['by', 'x']"),
        ("values", "5: tf.pow → ApiFunction(name='tensorflow.math.pow')"),
        ("values", "8: scale → Function('scale')"),
        ("summary", "  call at +31 reaches tensorflow.math.pow, confidence 1, 1 times"),
        ("findings", "5:11 pow2 "),
        ("hints", "5:11 tensorflow.math.pow: "),
    ],
)
def test_a_stage_is_printed(tmp_path: Path, stage: str, line: str) -> None:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    result = CliRunner().invoke(main, ["debug", stage, str(file)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert any(one.startswith(line) for one in result.output.splitlines()), result.output


@pytest.mark.parametrize("stage", ["tree", "ir", "values", "summary", "findings"])
def test_broken_and_deep_programs_are_printed_too(tmp_path: Path, stage: str) -> None:
    file = tmp_path / "broken.py"
    file.write_text(f"import tensorflow as tf\ndef f(:\n  tf.ones(\nx = {'(' * 150}tf.ones(1){')' * 150}\n")
    result = CliRunner().invoke(main, ["debug", stage, str(file)], catch_exceptions=False)
    assert result.exit_code == 0, result.output


def test_a_file_that_is_not_there_or_too_long_is_one_sentence(tmp_path: Path) -> None:
    missing = CliRunner().invoke(main, ["debug", "tree", str(tmp_path / "no.py")])
    assert missing.exit_code == 2
    assert "give a Python file" in missing.output
    (tmp_path / "long.py").write_text("x = 1\n" * 4000)
    long = CliRunner().invoke(main, ["debug", "tree", str(tmp_path / "long.py")])
    assert long.exit_code == 2
    assert "cut out a part" in long.output
