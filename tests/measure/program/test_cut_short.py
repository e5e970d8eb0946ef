"""A run that fails, is stopped or interrupted keeps what it did, and says so before anything else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

from energy_data.database.database import Database

LOOP = """
import os, signal, sys, time
import tensorflow as tf
for number in range(300):
    tf.square(number)
open("started", "w").close()
if sys.argv[1] == "raise":
    raise ValueError("no such file: data.csv")
if sys.argv[1] == "exit":
    sys.exit("nothing to train on")
if sys.argv[1] == "leave":
    os._exit(3)
if sys.argv[1] == "crash":
    os.kill(os.getpid(), signal.SIGSEGV)
while True:
    time.sleep(0.01)
"""


def kept(command: Any, output: str, status: str, error: str) -> None:
    """The calls and phases of the run are in the answer and in the database, marked as what they are."""
    report = json.loads(output)
    assert report["status"] == status
    assert error in report["error"]
    (call,) = report["calls"]
    assert (call["api"], call["line"]) == ("tensorflow.math.square", 4)
    assert call["times"] == 300
    phases = {phase["name"]: phase["joules"] for phase in report["program"]["phases"]}
    assert sum(phases.values()) == pytest.approx(report["program"]["joules"])
    (run,) = command.runs()
    assert run.status == status
    assert error in run.error
    with Database.read(command.database) as database:
        assert {phase.name: phase.joules for phase in database.phases(run.id)} == pytest.approx(phases)
        assert [one.api for one in database.measurements(run_id=run.id)] == ["tensorflow.math.square"]


def first_line(command: Any, *words: str) -> str:
    line = [sys.executable, "-m", "energy_lsp", *words, "--db", str(command.database)]
    return subprocess.run(line, capture_output=True, text=True, check=True).stdout.strip().splitlines()[0]


@pytest.mark.parametrize(
    ("how", "error"),
    [
        ("raise", "ValueError: no such file: data.csv"),
        ("exit", "nothing to train on"),
        ("leave", "The program left with status 3"),
    ],
)
def test_a_program_that_fails(bench: Any, command: Any, how: str, error: str) -> None:
    bench.write(main=LOOP)
    done = command.run("main.py", "--quick", "--format", "json", "--", how)
    assert done.returncode == 1
    kept(command, done.stdout, "failed", error)
    assert first_line(command, "report").startswith(f"The program failed: {error}. ")
    told = command.run("main.py", "--quick", "--", how).stdout.strip().splitlines()[0]
    assert told.removesuffix(".").endswith(f" failed: {error}")


def test_a_program_that_crashes(bench: Any, command: Any) -> None:
    """Nothing of the program runs any more that could write anything down."""
    bench.write(main=LOOP)
    done = command.run("main.py", "--quick", "--format", "json", "--", "crash")
    assert done.returncode == 1
    kept(command, done.stdout, "failed", "killed by SIGSEGV")
    assert first_line(command, "report").startswith("The program failed: The program was killed by SIGSEGV")


def test_a_program_that_takes_too_long(bench: Any, command: Any) -> None:
    bench.write(main=LOOP)
    done = command.run("main.py", "--quick", "--timeout", "3", "--format", "json", "--", "wait")
    assert done.returncode == 1
    kept(command, done.stdout, "partial", "stopped after 3 s")
    assert first_line(command, "report").startswith("The program was stopped before its end: ")


@pytest.mark.parametrize("everybody", [True, False], ids=["terminal", "kill"])
def test_a_program_that_is_interrupted(bench: Any, command: Any, everybody: bool) -> None:
    """Ctrl-C in a terminal reaches the program too; `kill -INT` the command alone."""
    bench.write(main=LOOP)
    process = command.start("main.py", "--quick", "--format", "json", "--", "wait", start_new_session=True)
    deadline = time.monotonic() + 60
    while not (bench.project / "started").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    if everybody:
        os.killpg(process.pid, signal.SIGINT)
    else:
        process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    kept(command, output, "partial", "interrupted")
    assert "what it had done until then is kept" in errors
