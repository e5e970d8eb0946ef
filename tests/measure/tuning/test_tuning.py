"""Trials on copies: what saves is proven, what fails or prints otherwise is told, the project stays as it is."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from energy_code.rule_engine.context import Edit
from energy_measure.comparison.windows import MeteredProcess, MeteredWindow
from energy_measure.host.processes import KILL
from energy_measure.injected import original
from energy_measure.problems import MeasureProblem
from energy_measure.program.entry_points import SKIPPED_FOLDERS
from energy_measure.tuning.candidate import Candidate, read_sources
from energy_measure.tuning.confirming import NO_TIME, confirm
from energy_measure.tuning.likeness import Tolerance, comparable, judged
from energy_measure.tuning.runner import ProgramFailed, Runner
from energy_measure.tuning.search import Tuning
from energy_measure.tuning.session import TuneRequest, TuneResult, as_json, tune
from energy_measure.tuning.trial import Trial, Tuned
from energy_measure.tuning.workshop import Version, VersionRun, Workshop
from energy_measure.tuning.written import Written

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
    with workshop, MeteredProcess("cpu-time") as metered:
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


@pytest.mark.parametrize("name", ["train.py", "src/deep er/train.py"])
@pytest.mark.parametrize(
    "before",
    [
        b"a = 1\nb = 2",
        b"a = 1\nb = 2\n",
        b"a = 1\r\nb = 2\r\nc = 3\r\n",
        b"a = 1\r\nb = 2",
        b"a = 1\n\x0c\nb = 2\n",
        "a = '\u2028'\nb = 2\n".encode(),
    ],
)
def test_the_patch_applies_with_git(tmp_path: Path, name: str, before: bytes) -> None:
    after = before.replace(b"b = 2", b"b = 3")
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_bytes(before)
    nothing = Tuned([], [], None, 1.0, 1.0, "m", True, "cpu", False, False)
    patch = TuneResult(nothing, {name: (before, after)}, ()).patch
    subprocess.run(["git", "apply", "-"], input=patch.encode(), cwd=tmp_path, check=True)
    assert (tmp_path / name).read_bytes() == after


def test_what_was_only_explored_claims_no_joules() -> None:
    told = as_json(Trial(FASTER, ratios=[0.7]))
    assert (told["saved_joules"], told["share"], told["verdict"]) == (None, None, "no difference")
    assert "no claim" in told["note"]


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (
            b"print(1)\nraise ValueError('no data')",
            r"train.py:2: ValueError: no data\): make it run by itself first",
        ),
        (b"def f(:\n    pass", "train.py:1: SyntaxError"),
        (b"import sys\nsys.exit(3)", "ended with status 3: make it run"),
        pytest.param(
            b"import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)",
            r"crashed: Segmentation fault \(signal 11\)",
            marks=pytest.mark.skipif(sys.platform != "linux", reason="signals have other names elsewhere"),
        ),
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


@pytest.mark.parametrize(
    "statement",
    [
        "open({kept!r}, 'w').write('y')",
        "open({new!r}, 'ab')",
        "os.remove({kept!r})",
        "os.replace('train.py', {kept!r})",
        "shutil.rmtree({root!r})",
        "os.rename(os.path.dirname({root!r}), {root!r} + '2')",
        "os.makedirs({new!r})",
        "pathlib.Path({kept!r}).write_text('y')",
        "try: open({kept!r}, 'w')\nexcept OSError: pass",
    ],
)
def test_an_absolute_path_does_not_lead_to_the_original(tmp_path: Path, statement: str) -> None:
    kept, new = tmp_path / "data.txt", tmp_path / "new"
    kept.write_text("x")
    entry = tmp_path / "train.py"
    statement = statement.format(kept=str(kept), new=str(new), root=str(tmp_path))
    entry.write_text(f"import os, pathlib, shutil\nprint(open({str(kept)!r}).read())\n{statement}\n")
    before = entry.read_bytes()
    request = TuneRequest(entry, tmp_path, minutes=1.0, python=sys.executable, meter="cpu-time")
    with pytest.raises(
        MeasureProblem, match=r"writes to .*, in the original, by an absolute path.*relative path"
    ):
        tune(request, lambda *told: None)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.txt", "train.py"]
    assert (kept.read_text(), entry.read_bytes()) == ("x", before)


def test_temporary_files_and_folders_that_are_there_are_no_harm(tmp_path: Path) -> None:
    for name in ("tmp", "models"):
        (tmp_path / name).mkdir()
    entry = tmp_path / "train.py"
    entry.write_text(
        f"import os, tempfile\nos.makedirs({str(tmp_path / 'models')!r}, exist_ok=True)\n"
        "with tempfile.NamedTemporaryFile() as file: file.write(b'x')\n"
        "with tempfile.TemporaryDirectory() as folder: open(os.path.join(folder, 'y'), 'w').close()\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(tmp_path / "tmp"))
        with Workshop(tmp_path, entry, Path(sys.executable), (), read_sources(tmp_path, entry)) as workshop:
            outcome = workshop.run(Version())
            assert (outcome.status, outcome.refused) == (0, "")
            assert workshop.untouched()


def test_a_project_that_loses_a_file_meanwhile_is_tuned_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "data.txt").write_text("x")
    entry = tmp_path / "train.py"
    entry.write_text("print(open('data.txt').read())")
    with Workshop(tmp_path, entry, Path(sys.executable), (), read_sources(tmp_path, entry)) as workshop:
        (tmp_path / "data.txt").unlink()
        assert workshop.run(Version()).output.strip() == b"x"
        assert workshop.changed() == ["data.txt"]


def test_folders_of_tools_are_those_that_no_copy_has() -> None:
    assert original.TOOLS == SKIPPED_FOLDERS


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("empty.py", "", "does nothing: name the script"),
        ("comments.py", "# later\n\n", "does nothing: name the script"),
        ("notes.txt", "print(1)", "no Python script by its name"),
    ],
)
def test_what_is_no_program_is_not_run(tmp_path: Path, name: str, text: str, words: str) -> None:
    (tmp_path / name).write_text(text)
    request = TuneRequest(tmp_path / name, tmp_path, python=sys.executable, meter="cpu-time")
    with pytest.raises(MeasureProblem, match=words):
        tune(request, lambda *told: None)


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
    program = PROGRAM.replace(b'print("loss", 0.5)', b'print("took 1.5 s")').replace(
        b'write("x")', b'write("")'
    )
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


def ran(printed: str) -> VersionRun:
    return VersionRun(MeteredWindow(0, 1), printed.encode(), (), 0, "")


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


def test_files_that_a_program_writes_are_results(tmp_path: Path) -> None:
    for wrote, results in (("0.5", "equal"), ("0.7", "different")):
        folder = tmp_path / wrote
        folder.mkdir()
        program = PROGRAM.replace(
            b'write("x")', b'write("loss 0.5" if rounds > 1_000_000 else "loss %s")' % wrote.encode()
        )
        found = tuned(folder, [FASTER], program.replace(b'print("loss", 0.5)', b""))
        [trial] = found.trials
        assert trial.results == results
        assert [one.name for one in found.chosen] == (["faster"] if results == "equal" else [])


def test_arrays_are_read_and_what_cannot_be_read_is_only_there(tmp_path: Path) -> None:
    before = Written(tmp_path, [])
    np.save(tmp_path / "w.npy", np.array([1.5, 2.5]))
    (tmp_path / "model-123.keras").write_bytes(b"\x00\xff")
    np.save(tmp_path / "o.npy", np.array([{}], dtype=object), allow_pickle=True)
    text = before.text(["w.npy", "model-123.keras", "o.npy"]).decode()
    assert "1.5 2.5" in text
    assert "[written: model-.keras]" in text


def test_where_the_output_goes_is_no_change_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_bytes(b"print(1)")
    (tmp_path / "told.json").write_text("")
    entry = tmp_path / "train.py"
    shop = Workshop(
        tmp_path, entry, Path(sys.executable), (), read_sources(tmp_path, entry), [tmp_path / "told.json"]
    )
    with shop:
        (tmp_path / "told.json").write_text("{}")
        assert shop.untouched()
        (tmp_path / "other.txt").write_text("{}")
        assert shop.changed() == ["other.txt"]


def test_rounds_that_take_too_long_cost_the_least_wanted_tests() -> None:
    """Two tests need four rounds; with time for three, one test is left, which three can settle."""
    runner = SlowRunner(seconds=115.0, slower=2.2)
    first, second = Trial(FASTER, ratios=[0.5], seconds=2.0), Trial(OTHER, ratios=[0.5], seconds=2.0)
    first.results = second.results = "equal"
    second.candidate = replace(OTHER, changes_results=True)
    found = confirm(runner, [first, second], False, Tolerance())  # type: ignore[arg-type]
    assert found.whole is not None
    assert first.verdict == "saves"
    assert second.note == NO_TIME.format(9)
    assert "--budget 9 minutes" in second.note


class SlowRunner:
    """Runs that take longer than they did before, and no time in fact."""

    def __init__(self, seconds: float, slower: float) -> None:
        self.left, self.run_seconds, self._slower = seconds, 5.0, slower
        self.workshop = self
        self.entry = Path("train.py")
        self.enough_minutes = 9

    def tell(self, what: str, part: float) -> None:
        pass

    def round(self, versions: Sequence[Version], *, seed: int | None) -> list[tuple[VersionRun, float]]:
        self.run_seconds = 5.0 * self._slower
        self.left -= self.run_seconds * (1 + len(versions))
        joules = [10.0, 10.1 + self.left * 1e-3, *([5.0] * len(versions))]
        return [(ran("loss 1"), joules[index]) for index in range(1 + len(versions))]


def test_one_test_is_tried_with_a_little_less_time_than_it_should_take() -> None:
    """Three rounds of 15 s should take 45 s; with 40 s, and runs that are quicker than before, they fit."""
    runner = SlowRunner(seconds=40.0, slower=0.8)
    trial = Trial(FASTER, ratios=[0.5], seconds=5.0, results="equal")
    assert confirm(runner, [trial], False, Tolerance()).whole is not None  # type: ignore[arg-type]
    assert trial.verdict == "saves"


class EndlessRuns:
    """A workshop in which every run is stopped when its time is over, and a meter that nobody asks."""

    def __init__(self) -> None:
        self.timeouts: list[float] = []

    def run(self, version: Version, *, timeout: float, **other: object) -> VersionRun:
        self.timeouts.append(timeout)
        return replace(ran(""), status=-KILL)

    def rest(self, seconds: float) -> None:
        pass


def test_a_run_is_stopped_when_the_budget_is_over_and_says_nothing_of_its_candidate() -> None:
    endless = EndlessRuns()
    runner = Runner(endless, endless, 100.0, lambda *told: None)  # type: ignore[arg-type]
    runner.base = [(replace(ran("loss 1"), window=MeteredWindow(0, 40_000_000_000)), 1.0)]
    with pytest.raises(ProgramFailed):
        runner.round([Version()], seed=None)
    assert len(endless.timeouts) == 1, "the others of the round are not begun"
    assert endless.timeouts[0] <= 102.0, "beyond 100 s only what the last round may take"
