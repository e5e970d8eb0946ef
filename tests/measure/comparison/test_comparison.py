"""Two sides in interleaved pairs: the figures, the callables, and whole programs from the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from energy_measure.comparison.pairs import NotResolvedError, compare, compare_callables, orders, repeats_for
from energy_measure.comparison.rules import RuleCase, UnequalOutputsError, corrected, measure_case
from energy_measure.comparison.windows import MeteredProcess
from scene import package
from waveform import Waveform


def test_a_saving_is_found_and_two_equal_sides_are_not():
    rng = np.random.default_rng(0)
    before, control, same = (rng.normal(1.0, 0.03, 15).tolist() for _ in range(3))
    saving = compare(before, rng.normal(0.6, 0.02, 15).tolist(), control)
    assert saving.differs
    assert saving.low < 0.6 < saving.high
    assert saving.p_value == pytest.approx(2 / 2**15)
    assert saving.a12 == 0.0
    assert saving.control_ratio == pytest.approx(1.0, abs=0.03)
    assert not compare(before, same, control).differs


def test_equal_sides_rarely_seem_to_differ():
    rng = np.random.default_rng(1)
    found = [compare(*(rng.lognormal(0, 0.1, 15).tolist() for _ in range(3))).differs for _ in range(60)]
    assert np.mean(found) <= 0.1


def test_a_side_that_cannot_be_seen_has_no_ratio():
    with pytest.raises(NotResolvedError, match="more work"):
        compare([0.1, -0.1, 0.2, -0.2], [1.0] * 4, [1.0] * 4)


def test_every_round_holds_both_sides_and_the_control_in_changing_order():
    drawn = list(orders(30, seed=0))
    assert all(sorted(order) == ["after", "before", "control"] for order in drawn)
    assert len(set(drawn)) == 6
    assert drawn == list(orders(30, seed=0))


def test_repeats_fill_the_window():
    x = np.random.default_rng(0).random(10_000)
    assert 3 <= repeats_for(lambda: np.sort(x), 0.05) <= 20_000


def sum_of_squares(times: int) -> int:
    return sum(i * i for i in range(times))


def test_callables_are_compared_with_the_meters_of_this_machine():
    """Half the work takes half the CPU time, whatever else the machine does."""
    with MeteredProcess("cpu-time") as metered:
        half = RuleCase("half", "small", "eager", lambda: sum_of_squares(4000), lambda: sum_of_squares(2000))
        row = measure_case(half, metered, pairs=8)
    assert (row.rule, row.size, row.mode, row.pairs) == ("half", "small", "eager", 8)
    assert row.ratio == pytest.approx(0.5, abs=0.15)
    assert row.estimated
    assert row.meter == "cpu-time"
    assert row.joules_before > 0


def test_unequal_outputs_are_no_evidence():
    wrong = RuleCase("wrong", "small", "eager", lambda: 1, lambda: 2)
    with pytest.raises(UnequalOutputsError, match=r"wrong \(small, eager\): the outputs differ, 1 is not 2"):
        measure_case(wrong, None, difference=lambda a, b: f"{a} is not {b}")


def test_p_values_are_corrected_over_all_rows():
    with MeteredProcess("cpu-time") as metered:
        case = RuleCase("r", "small", "eager", lambda: sum_of_squares(2000), lambda: sum_of_squares(2000))
        row = measure_case(case, metered, pairs=6)
    rows = corrected([row, row, row])
    assert rows[0].p_value == pytest.approx(min(1.0, 3 * row.p_value))


METERED_IN_A_SCENE = """
import time
from energy_measure.comparison.windows import MeteredProcess

def work():
    end = time.process_time() + 0.25
    while time.process_time() < end:
        pass

with MeteredProcess("rapl") as metered:
    windows = []
    for _ in range(3):
        metered.rest(0.3)
        windows.append(metered.work(work))
    metered.rest(0.3)
    answer = metered.joules(windows).tolist()
"""


def test_work_under_a_simulated_sensor_costs_what_it_truly_costs(machine_with, ask_inside):
    """A package that idles at 20 W and draws 30 W more for each busy CPU: 0.25 s of work are 7.5 J."""
    scene = machine_with(package(0, Waveform.constant(20.0)).answering_work(30.0))
    joules = ask_inside(scene, METERED_IN_A_SCENE)
    assert np.mean(joules) == pytest.approx(7.5, rel=0.15)


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    (tmp_path / "slow.py").write_text("print(sum(i * i for i in range(3_000_000)))\n")
    (tmp_path / "fast.py").write_text("n = 2_999_999\nprint(n * (n + 1) * (2 * n + 1) // 6)\n")
    (tmp_path / "other.py").write_text("print('same')\nprint('something else')\n")
    (tmp_path / "clock.py").write_text("import time\nprint(time.monotonic_ns())\n")
    (tmp_path / "broken.py").write_text("raise ValueError('not today')\n")
    return tmp_path


def run_compare(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "energy_lsp", "compare", "--python", sys.executable, *arguments]
    return subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=200,
        env={**os.environ, "HOME": str(folder)},
    )


def test_the_command_compares_two_programs(programs):
    done = run_compare(programs, "slow.py", "fast.py", "--quick", "--meter", "cpu-time", "--format", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["pairs"] == 6
    assert found["same_output"]
    assert found["estimated"]
    assert found["differs"]
    assert found["interval"]["low"] <= found["ratio"] <= found["interval"]["high"] < 0.9
    assert found["p"] == pytest.approx(0.03125)


def test_programs_that_print_different_things_are_refused(programs):
    done = run_compare(programs, "slow.py", "other.py")
    assert done.returncode == 1
    assert "print different things" in done.stderr
    assert "+something else" in done.stderr
    assert done.stdout == ""


def test_a_program_that_never_prints_the_same_is_refused(programs):
    done = run_compare(programs, "clock.py", "clock.py")
    assert done.returncode == 1
    assert "prints something else each time" in done.stderr


def test_times_in_the_output_are_no_difference_and_rounding_is_one_unless_accepted(programs):
    # Work that any meter tells from an idle machine, however busy that is.
    timed = "import time\nprint('took', time.perf_counter(), 's')\nprint(sum(range(20_000_000)))\nprint('norm', {})\n"
    (programs / "one.py").write_text(timed.format("632.5478"))
    (programs / "rounded.py").write_text(timed.format("632.5479"))
    done = run_compare(programs, "one.py", "rounded.py", "--quick", "--meter", "cpu-time")
    assert (done.returncode, done.stdout) == (1, "")
    assert (
        "Only numbers differ, by at most 2e-07 of their size: --tolerance 1e-6 accepts that." in done.stderr
    )
    done = run_compare(
        programs, "one.py", "rounded.py", "--quick", "--meter", "cpu-time", "--tolerance", "1e-6"
    )
    assert done.returncode == 0, done.stderr
    assert "Both print the same, times apart, numbers within 2e-07 of their size." in done.stdout


def test_a_program_that_fails_says_which_and_why(programs):
    done = run_compare(programs, "slow.py", "broken.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.strip() == "broken.py ended with status 1: ValueError: not today"


def test_a_meter_that_is_not_there_and_an_interpreter_that_is_not_there(programs):
    assert "There is no meter" in run_compare(programs, "slow.py", "fast.py", "--meter", "none").stderr
    done = run_compare(programs, "slow.py", "fast.py", "--python", "/nowhere/python")
    assert (done.returncode, "There is no interpreter" in done.stderr) == (2, True)


def test_compare_callables_waits_for_what_finish_waits_for():
    """The end of a window lies after `finish`, which is called once for each."""
    finished = []
    with MeteredProcess("cpu-time") as metered:
        found = compare_callables(
            lambda: sum_of_squares(500),
            lambda: sum_of_squares(500),
            metered,
            pairs=6,
            finish=lambda: finished.append(True),
        )
    assert len(finished) == 18
    assert found.pairs == 6
