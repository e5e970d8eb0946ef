"""`energy-lsp measure` from the outside: what it prints, keeps, and leaves behind."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from energy_data.database.database import Database
from energy_data.model import PHASES

TRAIN = """
import sys
import tensorflow as tf

def step(x):
    return tf.square(tf.add(x, 1))

def main():
    total = 0
    for i in range(200):
        total = tf.add(total, step(i))
    end = tf.constant(0)
    for i in range(400_000):
        end += i
    print("total", total, sys.argv[1:])

if __name__ == "__main__":
    main()
"""


def alive(mark: str) -> list[int]:
    """Processes whose command line or environment holds a text."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (folder / "environ").read_bytes().decode(errors="replace"):
                state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
                if state != "Z" and int(folder.name) != os.getpid():
                    found.append(int(folder.name))
        except OSError:
            continue
    return found


def gone(mark: str) -> bool:
    """Whether all processes with a mark end by themselves."""
    deadline = time.monotonic() + 15
    while alive(mark):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_json_holds_what_was_promised_and_nothing_else(bench: Any, command: Any, tmp_path: Path) -> None:
    bench.write(train=TRAIN)
    before = {path: path.stat().st_mtime_ns for path in bench.project.rglob("*")}
    printed = tmp_path / "printed.txt"
    done = command.run(
        "train.py", "--repeat", "2", "--format", "json", "--program-output", str(printed), "--", "--x", "a b"
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["meter"] == "cpu-time"
    assert report["estimated"] is True
    assert set(report["program"]) == {"seconds", "joules", "unaccounted", "phases"}
    phases = {phase["name"]: phase["joules"] for phase in report["program"]["phases"]}
    assert tuple(phases) == PHASES
    assert sum(phases.values()) == pytest.approx(report["program"]["joules"])
    assert (report["status"], report["error"]) == ("finished", "")
    assert report["program"]["joules"] > 0
    keys = {
        "api",
        "kind",
        "file",
        "line",
        "column",
        "cell",
        "function",
        "count",
        "times",
        "times_from",
        "total_joules",
        "first_joules",
        "shapes",
        "seconds",
        "joules",
        "interval",
        "interval_covers",
        "resolved",
        "method",
        "trace_time",
    }
    assert all(set(call) == keys for call in report["calls"])
    for call in report["calls"]:  # what one run replayed, the other leaves alone
        once = call["method"] == "replayed"
        assert call["interval_covers"] == ("sampling" if once else "sampling and runs")
    assert all(set(call["joules"]) == {"cpu", "ram", "gpu", "total", "per_call"} for call in report["calls"])
    places = {(call["api"], call["file"], call["line"], call["count"]) for call in report["calls"]}
    assert places == {
        ("tensorflow.math.square", "train.py", 5, 200),
        ("tensorflow.math.add", "train.py", 5, 200),
        ("tensorflow.math.add", "train.py", 10, 200),
        ("tensorflow.constant", "train.py", 11, 1),
    }
    for call in report["calls"]:
        if call["resolved"]:
            assert call["interval"]["low"] <= call["joules"]["per_call"] <= call["interval"]["high"]
            first, each = call["first_joules"], call["joules"]["per_call"]
            beyond = 0.0 if first is None else max(first, 0.0) - each
            assert call["joules"]["total"] == pytest.approx(each * call["count"] + beyond)
        else:
            assert call["joules"]["total"] is None
    assert printed.read_text() == "total 2686700 ['--x', 'a b']\n" * 2
    assert {path: path.stat().st_mtime_ns for path in bench.project.rglob("*")} == before
    (run,) = command.runs()
    assert run.command == "python train.py --x <2>"
    assert run.estimated
    assert run.environment.tensorflow == "2.99.0"
    with Database.read(command.database) as database:
        measurements = database.measurements(run.id)
        assert {measurement.repeats for measurement in measurements} == {2}
        assert database.traces(run.id)
        assert len(database.spans(run.id)) == 601


MANY_CALLS = """
import tensorflow as tf
for i in range(2500):
    tf.add(i, 1)
"""


def test_where_it_comes_from_is_recorded_and_all_calls_if_asked_for(bench: Any, command: Any) -> None:
    bench.write({"many.py": MANY_CALLS})
    for words in (
        ["init", "-q", "-b", "trunk"],
        ["remote", "add", "origin", "https://eve:hunter2@example.org/eve/things.git"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"],
    ):
        subprocess.run(["git", "-C", str(bench.project), *words], check=True)
    done = command.run("many.py", "--quick", "--events")
    assert done.returncode == 0, done.stderr
    (run,) = command.runs()
    assert run.repository == "https://example.org/eve/things.git"
    assert (run.owner, run.branch) == ("eve", "trunk")
    assert re.match(r"\d{4}-\d\d-\d\dT", run.commit_date)
    assert run.settings["quick"] is True
    assert run.stability_seconds is not None
    with Database.read(command.database) as database:
        spans = database.spans(run.id)
    assert len(spans) == 2500
    assert all(0 <= span.start <= span.end for span in spans)


def test_a_path_with_dots_belongs_to_the_project_that_it_leads_to(bench: Any, command: Any) -> None:
    program = "import tensorflow as tf\ntf.square(2)\n"
    bench.write({"here/pyproject.toml": "", "there/pyproject.toml": "", "there/main.py": program})
    assert command.run("here/../there/main.py", "--quick").returncode == 0
    (run,) = command.runs()
    assert run.project == "there"
    with Database.read(command.database) as database:
        assert [one.file for one in database.measurements(run.id)] == ["main.py"]


def test_the_database_names_no_folder_of_this_machine(bench: Any, command: Any, tmp_path: Path) -> None:
    bench.write(train=TRAIN + f"    raise OSError({str(bench.project)!r} + '/data/x.npy, /srv/eve/y.npy')\n")
    script = bench.project / "train.py"
    command.run(str(script), "--quick", "--", "--out", str(tmp_path / "out"))
    (run,) = command.runs()
    assert (run.command, run.project) == ("python train.py --out <2>", bench.project.name)
    assert run.error == "OSError: data/x.npy, …/y.npy"
    written = b"".join(path.read_bytes() for path in command.database.parent.glob("energy.db*"))
    assert str(bench.project.parent).encode() not in written
    asked = json.loads(command.run(str(script), "--list", "--format", "json").stdout)
    assert [program["seconds"] for program in asked["programs"]] == [run.seconds], (
        "it is found again by its identity"
    )


def test_calls_too_short_for_the_meter_are_replayed(bench: Any, command: Any) -> None:
    lines = "".join(f"    tf.constant({number})\n" for number in range(12))
    bench.write(main=f"import tensorflow as tf\nif __name__ == '__main__':\n{lines}")
    report = json.loads(command.run("main.py", "--quick", "--format", "json").stdout)
    replayed = [call for call in report["calls"] if call["method"] == "replayed"]
    assert len(replayed) >= 6, "each takes a microsecond, and the meter is read every few milliseconds"
    for call in replayed:
        assert call["resolved"]
        assert 0 < call["interval"]["low"] <= call["joules"]["per_call"] <= call["interval"]["high"] < 1e-3


def test_text_ends_with_the_costliest_calls_and_the_sum(bench: Any, command: Any) -> None:
    bench.write(train=TRAIN)
    done = command.run("train.py", "--repeat", "1")
    assert done.returncode == 0, done.stderr
    assert "estimated by cpu-time" in done.stdout
    assert "tf.math.square" in done.stdout
    assert re.search(r"^Calls took ≈ [\d.]+ [kmµ]?J of it as they ran", done.stdout, re.M)
    assert "went into what is around them" in " ".join(done.stdout.split())
    assert "energy-lsp check" in done.stdout
    assert "total 2686700 []" in done.stderr, "the program's own output"
    assert "total 2686700" not in done.stdout
    assert "run 1 of 1" in done.stderr


def test_the_command_for_the_report_works_as_it_is_printed(bench: Any, command: Any) -> None:
    bench.write(train=TRAIN)
    done = command.run("train.py", "--quick")
    [printed] = re.findall(r"^Report: `(.+)`\.$", done.stdout, re.MULTILINE)
    program, *arguments = shlex.split(printed)
    assert program == "energy-lsp"
    line = "from energy_lsp.cli import main; main()"
    subprocess.run(
        [sys.executable, "-c", line, *arguments], cwd=bench.project, env=bench.environment, check=True
    )
    assert "train.py" in (bench.project / "report.html").read_text("utf-8")


def test_a_project_says_what_it_will_run(bench: Any, command: Any) -> None:
    bench.write(
        {
            "train.py": TRAIN,
            "more/again.py": "import tensorflow as tf\nprint(open('here.txt').read(), tf.square(3))\n",
            "here.txt": "seen from the project",
        }
    )
    done = command.run(".", "--quick", "--format", "json")
    assert done.returncode == 0, done.stderr
    announced = done.stderr.index("python more/again.py"), done.stderr.index("python train.py")
    assert max(announced) < done.stderr.index("run 1 of 1"), "listed before anything runs"
    assert "seen from the project 9" in done.stderr
    assert {call["file"] for call in json.loads(done.stdout)["calls"]} == {"train.py", "more/again.py"}
    assert len(command.runs()) == 2


def test_a_failing_program_is_told_and_its_results_are_kept(bench: Any, command: Any) -> None:
    bench.write(main="import tensorflow as tf\nimport sys\ntf.identity(1)\nsys.exit(3)\n")
    done = command.run("main.py", "--repeat", "3", "--format", "json")
    assert done.returncode == 1
    assert "python main.py left with status 3" in done.stderr
    assert [call["count"] for call in json.loads(done.stdout)["calls"]] == [1]
    assert len(command.runs()) == 1


def test_an_error_is_named_where_the_program_is_said_to_have_failed(bench: Any, command: Any) -> None:
    bench.write(main="import tensorflow as tf\ntf.identity(1)\nopen('no-such-file.npz')\n")
    done = command.run("main.py", "--quick", "--format", "json")
    assert "s (FileNotFoundError: [Errno 2] No such file or directory: 'no-such-file.npz')." in done.stderr


def test_a_crash_is_told(bench: Any, command: Any) -> None:
    bench.write(main="import tensorflow as tf\nimport os\ntf.identity(1)\nos.kill(os.getpid(), 11)\n")
    done = command.run("main.py", "--repeat", "3", "--format", "json")
    assert done.returncode == 1
    assert "was killed by signal 11" in done.stderr
    assert json.loads(done.stdout)["program"]["seconds"] > 0


def test_tensorflow_absent_is_one_sentence(bench: Any, command: Any, tmp_path: Path) -> None:
    bench.write(main="import tensorflow as tf\ntf.constant(1)\n")
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')
    bare.chmod(0o755)
    done = command.run("main.py", "--python", str(bare))
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"Neither TensorFlow nor Keras is installed for {bare}")
    assert done.stderr.count("\n") == 1


def test_a_program_that_cannot_be_parsed_is_told_with_its_line(bench: Any, command: Any) -> None:
    bench.write(main="import tensorflow as tf\ntf.constant(1\n")
    done = command.run("main.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert "main.py cannot be measured: its line 2 cannot be parsed." in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere.py"], "There is no nowhere.py"),
        (["main.py", "--meter", "sundial"], "There is no meter 'sundial'"),
        (["main.py"], "calls no TensorFlow or Keras API"),
    ],
)
def test_what_cannot_be_measured_is_told(
    bench: Any, command: Any, arguments: list[str], sentence: str
) -> None:
    bench.write(main="print('plain')\n")
    done = command.run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


ENDLESS = """
import multiprocessing
import pathlib
import sys
import time
import tensorflow as tf

def sleep(mark):
    pathlib.Path(mark).touch()
    time.sleep(600)

if __name__ == "__main__":
    print(tf.square(3))
    count = pathlib.Path("count")
    runs = len(count.read_text()) if count.exists() else 0
    count.write_text("x" * (runs + 1))
    if runs >= int(sys.argv[1]):
        multiprocessing.get_context("fork").Process(target=sleep, args=("started",)).start()
"""


def test_timeout_ends_everything_and_keeps_finished_runs(bench: Any, command: Any) -> None:
    bench.write(main=ENDLESS)
    bench.environment["ENERGY_TEST_MARK"] = mark = f"timeout-{bench.project}"
    done = command.run("main.py", "--repeat", "3", "--timeout", "4", "--format", "json", "--", "1")
    assert done.returncode == 1
    assert "stopped after 4 s (--timeout). What its run gave is kept." in done.stderr
    assert json.loads(done.stdout)["calls"][0]["api"] == "tensorflow.math.square"
    assert len(command.runs()) == 1
    assert gone(mark)


def test_a_run_that_was_stopped_keeps_what_it_did(bench: Any, command: Any) -> None:
    bench.write(main=ENDLESS)
    done = command.run("main.py", "--timeout", "2", "--format", "json", "--", "0")
    assert done.returncode == 1
    report = json.loads(done.stdout)
    assert report["status"] == "partial"
    assert "stopped after 2 s" in report["error"]
    assert [call["api"] for call in report["calls"]] == ["tensorflow.math.square"]
    phases = [phase["joules"] for phase in report["program"]["phases"]]
    assert sum(phases) == pytest.approx(report["program"]["joules"])
    (run,) = command.runs()
    assert run.status == "partial"


DAEMON = """
import os, time
import tensorflow as tf
tf.square(3)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(600)
    os._exit(0)
os.wait()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not hand on orphans")
def test_a_daemon_that_a_program_leaves_behind_is_named_and_ended(bench: Any, command: Any) -> None:
    bench.write(main=DAEMON)
    bench.environment["ENERGY_TEST_MARK"] = mark = f"daemon-{bench.project}"
    done = command.run("main.py", "--quick", "--format", "json")
    assert done.returncode == 0
    assert [call["api"] for call in json.loads(done.stdout)["calls"]] == ["tensorflow.math.square"]
    assert "left processes behind, which were ended: python" in done.stdout + done.stderr
    assert gone(mark)


def test_exit_handlers_of_packages_are_part_of_the_program(bench: Any, command: Any) -> None:
    """As of one that uploads what it noted, for half a second; those of frameworks wait until calls were replayed."""
    tracker = """
import atexit, time

@atexit.register
def upload():
    until = time.monotonic() + 0.5
    while time.monotonic() < until:
        pass
    print("uploaded")
"""
    (bench.project.parent / "packages" / "tracker.py").write_text(tracker)
    bench.write(main="import tensorflow as tf\nimport tracker\ntf.square(3)\n")
    done = command.run("main.py", "--quick", "--format", "json")
    assert done.returncode == 0, done.stderr
    assert (done.stdout + done.stderr).count("uploaded") == 1
    phases = {phase["name"]: phase for phase in json.loads(done.stdout)["program"]["phases"]}
    assert phases["exit"]["seconds"] >= 0.5


CRASHING = """
import ctypes, tensorflow as tf
tf.square(3)
tf.square(4)
tf.py_function(ctypes.string_at, [0], None)
"""


def test_a_run_that_crashed_keeps_what_it_did_and_the_call_it_was_in(bench: Any, command: Any) -> None:
    bench.write(main=CRASHING)
    done = command.run("main.py", "--quick", "--format", "json")
    assert done.returncode == 1
    report = json.loads(done.stdout)
    assert (report["status"], "SIGSEGV" in report["error"]) == ("failed", True)
    calls = {call["api"]: call["count"] for call in report["calls"]}
    assert calls == {"tensorflow.math.square": 2, "tensorflow.py_function": 1} or calls == {
        "tensorflow.math.square": 1,
        "tensorflow.py_function": 1,
    }
    assert "killed by SIGSEGV" in command.run("main.py", "--quick").stdout.strip().splitlines()[0]


def test_calls_of_children_are_not_replayed_after_them(bench: Any, command: Any) -> None:
    bench.write(
        main="""
        import multiprocessing
        import tensorflow as tf

        def child():
            tf.square(2)

        if __name__ == "__main__":
            tf.add(1, 2)
            process = multiprocessing.get_context("spawn").Process(target=child)
            process.start()
            process.join()
        """
    )
    done = command.run("main.py", "--quick", "--format", "json")
    assert done.returncode == 0, done.stderr
    calls = {call["api"]: call for call in json.loads(done.stdout)["calls"]}
    assert calls["tensorflow.math.add"]["method"] == "replayed"
    assert (calls["tensorflow.math.square"]["method"], calls["tensorflow.math.square"]["count"]) == (
        "in place",
        1,
    )
    assert "could not be replayed" not in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_however_it_ends_no_process_and_no_file_is_left(
    bench: Any, command: Any, number: int, tmp_path: Path
) -> None:
    bench.write(main=ENDLESS)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    bench.environment["TMPDIR"] = str(temporary)
    bench.environment["ENERGY_TEST_MARK"] = mark = f"signal-{number}-{bench.project}"
    process = command.start("main.py", "--repeat", "3", "--", "1")
    wait_for(bench.project / "started")
    assert len(alive(mark)) >= 4, "command, sampler, program and its child"
    assert list(temporary.glob("energy-lsp-*"))
    process.send_signal(number)
    errors = process.communicate(timeout=60)[1]
    assert gone(mark)
    assert not list(temporary.glob("energy-lsp-*"))
    assert len(command.runs()) == 1, "the run that had finished"
    if number != signal.SIGKILL:
        assert process.returncode == 130
        assert "the run under way is lost, 1 finished run is kept" in errors


REGULAR = """
import json, time
import tensorflow as tf

used = [0.0, 0.0]

def spin(number, seconds):
    begin = time.process_time()
    while time.process_time() < begin + seconds:
        pass
    used[number] += time.process_time() - begin
    time.sleep(0.001 * number)

for _ in range(80):
    tf.py_function(spin, [0, 0.002], None)
    tf.py_function(spin, [1, 0.003], None)
print(json.dumps(used))
"""


def test_calls_shorter_than_a_reading_are_told_apart_in_place_where_energy_is_estimated(
    command: Any, tmp_path: Path
) -> None:
    command.bench.write(main=REGULAR)
    output = tmp_path / "output"
    options = ["--quick", "--meter", "cpu-time", "--format", "json", "--program-output", str(output)]
    done = command.run("main.py", "--python", sys.executable, *options)
    assert done.returncode == 0, done.stderr
    used = json.loads(output.read_text())
    calls = {call["line"]: call for call in json.loads(done.stdout)["calls"]}
    first = REGULAR[1:].split("\n").index("    tf.py_function(spin, [0, 0.002], None)") + 1
    for number, call in enumerate((calls[first], calls[first + 1])):
        truth = used[number] / 80 * 2.76
        assert call["method"] == "in place"
        assert call["joules"]["per_call"] == pytest.approx(truth, rel=0.05)
        assert call["interval"]["low"] > 0.9 * truth
        assert call["interval"]["high"] < 1.1 * truth
