"""Sides of different kinds, in the words in which studies of frameworks report them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from energy_lsp.cli.measuring.compared import pairs_needed, side_names
from energy_measure.comparison.effects import effects
from energy_measure.comparison.marks import printed_metrics, read_marks
from energy_measure.comparison.programs import ProgramPair
from energy_measure.program.interpreters import python_of
from energy_measure.statistics import wilcoxon

PROGRAM = """
import os, time
import energy_lsp
def work(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
with energy_lsp.span("training"):
    work(0.05)
with energy_lsp.span("inference"):
    work(float(os.environ["WORK"]))
print("accuracy:", os.environ["WORK"])
"""


def test_respects_are_compared_and_corrected_together() -> None:
    before = [10.0 + 0.1 * n for n in range(10)]
    after = [value * 1.5 for value in before]
    found = effects(
        {
            ("cpu", "J"): (before, after),
            ("all devices", "J"): ([value + 1.0 for value in before], [value + 1.0 for value in after]),
            ("time", "s"): (before, [value + 0.01 for value in before]),
        }
    )
    cpu, _, time = found.respects
    assert cpu.cliffs_delta == 1.0
    assert (cpu.magnitude, cpu.a12_magnitude, cpu.a12) == ("large", "large", 1.0)
    assert cpu.p_holm == pytest.approx(3 * cpu.p_value)
    assert time.magnitude == "negligible"
    assert cpu.before.interval.low <= cpu.before.median <= cpu.before.interval.high
    assert found.spearman_before == pytest.approx(1.0)


def test_one_device_that_is_all_devices_is_one_test() -> None:
    before = [10.0 + 0.1 * n for n in range(10)]
    sides = (before, [value * 1.5 for value in before])
    cpu, everything = effects({("cpu", "J"): sides, ("all devices", "J"): sides}).respects
    assert cpu.p_holm == everything.p_holm == cpu.p_value


def test_sides_of_one_script_are_called_by_what_differs() -> None:
    one, two = Path("a.py"), Path("b.py")
    python, other = Path("/x/python"), Path("/y/python")
    assert side_names(ProgramPair(one, two, python)) == ("a.py", "b.py")
    sides = ProgramPair(one, one, python, before_env={"N": "1", "M": "1"}, after_env={"N": "2", "M": "1"})
    assert side_names(sides) == ("a.py N=1", "a.py N=2")
    assert side_names(ProgramPair(one, one, python, after_env={"N": "2"})) == ("a.py", "a.py N=2")
    assert side_names(ProgramPair(one, one, python, after_python=other)) == (
        f"a.py by {python}",
        f"a.py by {other}",
    )
    assert side_names(ProgramPair(one, one, python)) == ("a.py (before)", "a.py (after)")


def test_how_many_pairs_can_show_anything_is_told() -> None:
    for rows in (1, 7, 21):
        pairs = pairs_needed(rows)
        before = [float(10 + n) for n in range(pairs)]
        after = [value * 2 + n * 0.1 for n, value in enumerate(before)]
        assert rows * wilcoxon(before, after) < 0.05
        assert pairs == 6 or rows * wilcoxon(before[1:], after[1:]) >= 0.05


def test_marks_of_others_are_read_with_care(tmp_path: Path) -> None:
    text = b"1 5 train\n7 6 backwards\nnonsense\n8 9 in\x1bfer ence\n\xff\xfe\n"
    (tmp_path / "spans").write_bytes(text)
    found = [(mark.name, mark.end_ns - mark.start_ns) for mark in read_marks(tmp_path / "spans")]
    assert read_marks(tmp_path / "none") == []
    (tmp_path / "device").symlink_to("/dev/zero")
    assert read_marks(tmp_path / "device") == []
    assert found == [("train", 4), ("infer ence", 1)]


def test_the_last_number_of_a_name_counts() -> None:
    found = printed_metrics(b"loss: 0.9\naccuracy=0.5 loss: 0.25\nversion: 1.2.3\nval_loss: 1e-3\n")
    assert found == {"accuracy": 0.5, "loss": 0.25, "val_loss": 1e-3}


def test_a_phase_that_nobody_measures_is_the_same_nothing_each_time() -> None:
    code = "import energy_lsp; assert energy_lsp.span('a') is energy_lsp.span('b')\nwith energy_lsp.span('a'): print('ran')"
    environment = {name: value for name, value in os.environ.items() if name != "ENERGY_LSP_SPANS"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "ran\n", done.stderr


def test_sides_may_differ_in_what_they_print_and_are_compared_by_phase(tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text(PROGRAM)
    venv.create(tmp_path / "bare", with_pip=False)  # energy-lsp is not there, `energy_lsp.span` is
    command = [
        *(sys.executable, "-m", "energy_lsp", "compare", "p.py", "p.py", "--quick", "--rest", "0.05"),
        *("--before-env", "WORK=0.05", "--after-env", "WORK=0.2", "--format", "json"),
        *(
            "--before-python",
            sys.executable,
            "--after-python",
            str(python_of(tmp_path / "bare")),
            "--profile",
        ),
    ]
    refused = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert refused.returncode == 1
    assert "print different things" in refused.stderr
    done = subprocess.run(
        [*command, "--outputs", "differ"], cwd=tmp_path, capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["same_output"] is None
    assert found["metrics"] == {"before": {"accuracy": 0.05}, "after": {"accuracy": 0.2}}
    by_name = {effect["name"]: effect for effect in found["effects"]}
    assert {"cpu", "all devices", "time", "training: time", "inference: all devices"} <= set(by_name)
    inference = by_name["inference: all devices"]
    assert inference["after"]["median"] > 2 * inference["before"]["median"]
    assert inference["magnitude"] == "large"
    assert by_name["inference: time"]["cliffs_delta"] == 1.0
