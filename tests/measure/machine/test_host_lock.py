"""Only one measurement at a time runs on a host, and none outlives who started it for somebody else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from chaos import STUB
from energy_measure.host.lock import FILE, host_lock
from energy_measure.problems import MeasureProblem

HOLDER = """
import sys, time
from energy_measure.host.lock import host_lock
with host_lock("the holder's work"):
    print("held", flush=True)
    time.sleep(60)
"""
STARTER = """
import subprocess, sys, time
subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE if sys.argv[1] == "pipe" else subprocess.DEVNULL)
time.sleep(60)
"""
SLOW = """
import pathlib, time
import tensorflow as tf
tf.constant(1)
pathlib.Path("began").touch()
time.sleep({seconds})
pathlib.Path("ended").touch()
"""


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A host of the test's own."""
    folder = tmp_path / "host"
    monkeypatch.setenv("ENERGY_LSP_LOCK_FOLDER", str(folder))
    return folder


@pytest.fixture
def holder(host: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that measures."""
    process = subprocess.Popen([sys.executable, "-c", HOLDER], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()


def program(folder: Path, seconds: float) -> list[str]:
    """The command that measures a program which takes so long."""
    (folder / "tensorflow.py").write_text(STUB)
    (folder / "slow.py").write_text(SLOW.format(seconds=seconds))
    return [
        *(sys.executable, "-m", "energy_lsp", "measure", "slow.py", "--quick", "--db", "energy.db"),
        *("--python", sys.executable),
    ]


def until(condition: Callable[[], bool], seconds: float = 30.0) -> bool:
    """Whether something comes true in time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def running(folder: Path) -> list[str]:
    """The command lines of what runs in a folder."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.cwd() == str(folder) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(" ".join(process.cmdline()))
        except psutil.Error:
            continue
    return found


def test_the_second_is_told_who_measures_and_gets_its_turn_when_that_one_is_killed(
    holder: subprocess.Popen[str],
) -> None:
    told: list[str] = []

    def on_wait(sentence: str) -> None:
        told.append(sentence)
        holder.kill()

    with host_lock("mine", on_wait=on_wait):
        pass
    assert len(told) == 1
    assert f"process {holder.pid}" in told[0]
    assert "the holder's work" in told[0]


def test_building_environments_goes_together_but_not_with_a_measurement(host: Path) -> None:
    builders = host_lock("one", shared=True), host_lock("two", shared=True)
    refused = pytest.raises(MeasureProblem, match="--no-wait")
    with builders[0], builders[1], refused, host_lock("three", wait=False):
        pass
    with host_lock("three", wait=False):
        pass


def test_a_link_in_a_shared_folder_is_not_followed(host: Path, tmp_path: Path) -> None:
    host.mkdir()
    (tmp_path / "precious").write_text("stays")
    (host / FILE).symlink_to(tmp_path / "precious")
    with pytest.raises(MeasureProblem, match="ENERGY_LSP_LOCK_FOLDER"), host_lock("mine"):
        pass
    assert (tmp_path / "precious").read_text() == "stays"


def test_what_others_wrote_about_themselves_cannot_act_on_a_terminal(holder: object, host: Path) -> None:
    (host / FILE).write_text('{"owner": "\\u001b[2Jeve\\n::error::x", "pid": 1, "work": "w", "since": "s"}')
    with pytest.raises(MeasureProblem) as caught, host_lock("mine", wait=False):
        pass
    assert "\x1b" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_measure_leaves_at_once_when_asked_not_to_wait(holder: object, tmp_path: Path) -> None:
    command = [*program(tmp_path, 0.0), "--no-wait"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "the holder's work" in done.stderr
    assert not (tmp_path / "began").exists()


def test_a_measurement_started_for_somebody_ends_with_its_parent(host: Path, tmp_path: Path) -> None:
    command = [*program(tmp_path, 60.0), "--with-parent"]
    parent = subprocess.Popen([sys.executable, "-c", STARTER, "pipe", *command], cwd=tmp_path)
    assert until((tmp_path / "began").exists)
    parent.kill()
    parent.wait()
    assert until(lambda: not running(tmp_path)), running(tmp_path)
    with host_lock("the next", wait=False):
        pass


def test_one_started_with_nohup_goes_on(host: Path, tmp_path: Path) -> None:
    command = program(tmp_path, 1.0)
    parent = subprocess.Popen(
        [sys.executable, "-c", STARTER, "none", "nohup", *command], cwd=tmp_path, start_new_session=True
    )
    assert until((tmp_path / "began").exists)
    os.killpg(parent.pid, signal.SIGHUP)
    parent.wait()
    assert until((tmp_path / "ended").exists)
    assert until(lambda: not running(tmp_path))
    assert (tmp_path / "energy.db").exists()


def test_the_lock_of_a_killed_measurement_is_free_when_its_program_is_gone(
    host: Path, tmp_path: Path
) -> None:
    process = subprocess.Popen(program(tmp_path, 60.0), cwd=tmp_path, stderr=subprocess.DEVNULL)
    assert until((tmp_path / "began").exists)
    process.kill()
    process.wait()
    with host_lock("the next"):
        assert not [line for line in running(tmp_path) if "specification.json" in line]
