"""Trials on copies: what saves is proven, what fails or prints otherwise is told, the project stays as it is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from energy_code.rule_engine.context import Edit
from energy_measure.comparison.windows import Metered, MeteredWindow
from energy_measure.problems import MeasureProblem
from energy_measure.tuning.candidate import Candidate, read_sources
from energy_measure.tuning.likeness import Tolerance, comparable, judged
from energy_measure.tuning.search import Tuning
from energy_measure.tuning.session import TuneRequest, TuneResult, as_json, tune
from energy_measure.tuning.trial import Trial, Tuned
from energy_measure.tuning.workshop import Outcome, Workshop

PROGRAM = b"""
rounds = 3_000_000
total = 0
for number in range(rounds):
    total += number % 7
open("left_behind.txt", "w").write("x")
print("loss", 0.5)
"""


def change(name: str, old: bytes, new: str, **more: bool) -> Candidate:
    at = PROGRAM.index(old)
    return Candidate(name, name, "train.py", 2, {"train.py": [Edit(at, at + len(old), new)]}, **more)


FASTER = change("faster", b"3_000_000", "300_000")
OTHER = change("other", b"3_000_000", "300_000; print('extra')")
FAILING = change("failing", b"total = 0", "total = none")


def tuned(
    tmp_path: Path, candidates: list[Candidate], program: bytes = PROGRAM, minutes: float = 5.0
) -> Tuned:
    (tmp_path / "train.py").write_bytes(program)
    entry = tmp_path / "train.py"
    sources = read_sources(tmp_path, entry)
    workshop = Workshop(tmp_path, entry, Path(sys.executable), (), sources)
    with workshop, Metered("cpu-time") as metered:
        found = Tuning(workshop, metered, minutes * 60, Tolerance(), lambda *told: None).run(candidates)
        assert workshop.untouched()
    assert [path.name for path in tmp_path.iterdir()] == ["train.py"], "nothing is left behind"
    return found


def test_what_saves_is_proven_and_what_fails_or_differs_is_told(tmp_path: Path) -> None:
    found = tuned(tmp_path, [FASTER, OTHER, FAILING])
    by_name = {trial.candidate.name: trial for trial in found.trials}
    assert by_name["faster"].verdict == "saves"
    assert by_name["faster"].results == "equal"
    assert by_name["failing"].verdict == "failed"
    assert "NameError" in by_name["failing"].note
    assert by_name["other"].results == "different"
    assert [one.name for one in found.chosen] == ["faster"]
    assert found.before is not None
    assert found.before.ratio < 0.6


def test_the_patch_applies_with_git(tmp_path: Path) -> None:
    before, after = b"a = 1\nb = 2", b"a = 1\nb = 3"
    (tmp_path / "train.py").write_bytes(before)
    nothing = Tuned([], [], None, 1.0, 1.0, "m", True, "cpu", False, False)
    patch = TuneResult(nothing, {"train.py": (before, after)}, True).patch
    subprocess.run(["git", "apply", "-"], input=patch, text=True, cwd=tmp_path, check=True)
    assert (tmp_path / "train.py").read_bytes() == after


def test_what_was_only_explored_claims_no_joules() -> None:
    told = as_json(Trial(FASTER, ratios=[0.7]))
    assert (told["saved_joules"], told["share"], told["verdict"]) == (None, None, "no difference")
    assert "no claim" in told["note"]


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (b"raise ValueError('no data')", "no data"),
        (b"input()", "asks for input"),
        (
            b"import argparse\np = argparse.ArgumentParser()\np.add_argument('x')\np.parse_args()",
            "give them after `--`",
        ),
        (b"import time\ntime.sleep(60)", "takes too long"),
    ],
)
def test_a_program_that_cannot_be_tuned_gets_a_sentence(tmp_path: Path, program: bytes, words: str) -> None:
    with pytest.raises(MeasureProblem, match=words):
        tuned(tmp_path, [], program, minutes=0.3)


def test_a_program_that_prints_randomly_is_compared_with_its_own_scatter(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    # Whatever the order of the runs, both sides print these three numbers about as often: chance does not decide.
    counter = tmp_path_factory.mktemp("counting") / "counter"
    counter.write_text("")
    printing = f"""
with open({str(counter)!r}, "a") as file:
    file.write("x")
    print("loss", (0.5, 0.6, 0.7)[file.tell() % 3])
"""
    program = PROGRAM.replace(b'print("loss", 0.5)', printing.encode())
    at = program.index(b"3_000_000")
    faster = Candidate("faster", "", "train.py", 2, {"train.py": [Edit(at, at + 9, "300_000")]})
    found = tuned(tmp_path, [faster], program)
    assert found.seeded
    assert found.trials[0].results == "seeds"
    assert found.equal == (), "only what is equal is applied"


def test_a_program_without_results_is_not_called_equal(tmp_path: Path) -> None:
    program = PROGRAM.replace(b'print("loss", 0.5)', b'print("took 1.5 s")')
    found = tuned(tmp_path, [FASTER], program)
    [trial] = found.trials
    assert trial.results is None
    assert "nothing could be compared" in trial.note
    assert "print a result" in trial.note
    assert (found.chosen, found.equal) == ((), ())


def test_what_only_looked_dearer_is_not_called_so(tmp_path: Path) -> None:
    found = tuned(tmp_path, [change("slower", b"3_000_000", "30_000_000")])
    [trial] = found.trials
    assert trial.verdict == "no difference"
    assert "not proven" in trial.note


def ran(printed: str) -> Outcome:
    return Outcome(MeteredWindow(0, 1), printed.encode(), (), 0, "")


@pytest.mark.parametrize(
    ("printed", "something"),
    [
        ("", False),
        ("took 3.2 s\n", False),
        ("32/32 ━━━━━━━━━━━━━━━━━━━━ 1s 2ms/step\n", False),
        ("accuracy: 0.93 in 3 s\n", True),
        ("a cat\n", True),
    ],
)
def test_times_and_progress_bars_are_no_results(printed: str, something: bool) -> None:
    assert comparable(ran(printed)) is something


def test_numbers_within_the_tolerance_are_compared_with_their_own_scatter() -> None:
    before = [ran(f"loss {number}") for number in (50.0, 50.1, 50.05)]
    shifted = [ran(f"loss {number}") for number in (50.42, 50.45, 50.4)]
    alike = [ran(f"loss {number}") for number in (50.06, 50.02, 50.1)]
    assert judged(before, shifted, False, Tolerance()) == "different"
    assert judged(before, shifted, True, Tolerance()) == "trade-off"
    assert judged(before, alike, False, Tolerance()) == "equal"
    steady = [ran("loss 50.0")] * 3
    assert judged(steady, [ran("loss 50.3")] * 3, False, Tolerance()) == "equal", "compiling rounds otherwise"


def test_a_candidate_to_skip_that_is_not_there_gets_a_sentence(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_bytes(PROGRAM)
    request = TuneRequest(script, tmp_path, python=sys.executable, skip=("no-such",))
    with pytest.raises(MeasureProblem, match="no candidate no-such to skip; there is"):
        tune(request, lambda *told: None)
