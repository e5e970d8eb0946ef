"""What was measured on this machine decides what is suggested on it, and in which words."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from energy_data.database.database import Database
from energy_data.model import RuleEvidence
from energy_lsp.checking.run import _folder
from energy_lsp.cli import main
from rule_savings import SAVES

PROGRAM = "import tensorflow as tf\nx = tf.constant([1.0, 2.0])\ny = tf.pow(x, 2)\n"


def findings(
    tmp_path: Path, *evidence: RuleEvidence, program: str = PROGRAM, rule: str = "pow2"
) -> list[dict[str, Any]]:
    file = tmp_path / "program.py"
    file.write_text(program)
    with Database.open(tmp_path / "energy.db") as database:
        database.add_evidence(evidence)
    _folder.cache_clear()  # as in a process of its own
    arguments = ["check", str(file), "--format", "json", "--exit-zero", "--select", rule]
    result = CliRunner().invoke(main, arguments, env={"ENERGY_LSP_DB": str(tmp_path / "energy.db")})
    assert result.exit_code == 0, result.output
    return [item for item in json.loads(result.stdout) if item["rule"] == rule]


def test_a_saving_measured_here_is_told_with_its_margin(tmp_path: Path) -> None:
    [finding] = findings(tmp_path, SAVES)
    assert finding["message"].startswith("−41% ± 3 here: ")
    assert finding["evidence"] == "−41% ± 3 here (15 pairs, p 0.0003; medium inputs)"


def test_what_makes_no_difference_here_is_not_suggested_here(tmp_path: Path) -> None:
    assert findings(tmp_path, replace(SAVES, ratio=1.0, low=0.97, high=1.04, p_value=0.7)) == []


def test_without_a_measurement_here_the_shipped_evidence_names_its_machine(tmp_path: Path) -> None:
    [finding] = findings(tmp_path)
    assert re.match(r"≈ −\d+% ± \d+ elsewhere, −\d+% to −\d+% by size: ", finding["message"])
    assert "(shipped, not measured here), estimated from CPU time" in finding["evidence"]


def test_a_rule_can_be_left_out_in_some_files(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.energy-lsp]\nper-file-ignore = ["pro*.py:pow2"]\n')
    assert findings(tmp_path) == []


def test_a_rule_left_out_elsewhere_is_still_reported_here(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.energy-lsp]\nper-file-ignore = ["tests/**:*"]\n')
    assert len(findings(tmp_path)) == 1


def test_what_was_measured_elsewhere_to_make_no_difference_is_not_suggested(tmp_path: Path) -> None:
    """`log-softmax` saves in eager code; in a graph the shipped evidence has no difference."""
    graph = "import tensorflow as tf\n@tf.function\ndef f(x):\n    return tf.math.log(tf.nn.softmax(x))\n"
    eager = graph.replace("@tf.function\n", "") + "f(tf.ones([2, 3]))\n"
    assert findings(tmp_path, program=graph, rule="log-softmax") == []
    assert len(findings(tmp_path, program=eager, rule="log-softmax")) == 1
    here = replace(SAVES, rule="log-softmax", mode="graph")
    assert len(findings(tmp_path, here, program=graph, rule="log-softmax")) == 1
