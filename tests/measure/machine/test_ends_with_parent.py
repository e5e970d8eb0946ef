"""What a command starts ends with it, also when it is killed and can do nothing any more."""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from chaos import STUB

MARK = "ENERGY_TEST_MARK"
ROOT = Path(__file__).parents[3]
# A program with a child of its own, and a daemon that has left its session.
PROGRAM = """
import os, pathlib, subprocess, sys, time
import tensorflow as tf
tf.constant(1)
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(120)"])
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(120)
    os._exit(0)
os.wait()
pathlib.Path(os.environ["ENERGY_TEST_BEGAN"]).touch()
time.sleep(120)
"""
COMMANDS = {
    "measure": ["measure", "one.py", "--quick", "--db", "energy.db"],
    "compare": ["compare", "one.py", "two.py", "--pairs", "6"],
    "tune": ["tune", "one.py", "--budget", "1", "--db", "energy.db"],
}
STARTS_OTHERS = {
    "program/guarded.py": "the one place",
    "program/guard.py": "what that one starts, which ends all below it",
    "campaign/worker.py": "an attempt, which watches a pipe to its worker",
    "sampling/controller.py": "a sampler, which watches a pipe",
    "sampling/gpu_keepalive.py": "holds the GPUs, watches a pipe",
}


def marked(mark: str) -> list[str]:
    """The command lines of living processes that were started for a test."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(" ".join(process.cmdline()))
        except (psutil.Error, OSError):
            continue
    return found


def until(condition: Callable[[], object], seconds: float = 120.0) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


@pytest.mark.skipif(sys.platform != "linux", reason="daemons are followed on Linux")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_is_killed_leaves_nothing_running(name: str, number: int, tmp_path: Path) -> None:
    (tmp_path / "tensorflow.py").write_text(STUB)
    for script in ("one.py", "two.py"):
        (tmp_path / script).write_text(PROGRAM)
    began, mark = tmp_path.parent / f"{tmp_path.name}-began", f"{name}-{tmp_path}"
    environment = {
        **os.environ,
        MARK: mark,
        "ENERGY_TEST_BEGAN": str(began),
        "ENERGY_LSP_LOCK_FOLDER": str(tmp_path / "host"),
    }
    command = [sys.executable, "-m", "energy_lsp", *COMMANDS[name], "--python", sys.executable]
    process = subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        assert until(lambda: began.exists() or process.poll() is not None)
        assert process.poll() is None, "it ended by itself"
        assert len(marked(mark)) >= 4, "the command, the program, its child and its daemon"
        process.send_signal(number)
        process.wait(60)
        assert until(lambda: not marked(mark), 60), marked(mark)
    finally:
        process.kill()
        process.wait()


HIDING = """
import os, pathlib, sys
import tensorflow as tf
tf.constant(1)
command = int(pathlib.Path("command").read_text())
if os.fork() == 0:
    os.setsid()
    daemon = os.fork()
    if daemon == 0:
        os.execve(sys.executable, [sys.executable, "-c", "import time; time.sleep(300)", sys.argv[1]], {})
    pathlib.Path("began").write_text(str(daemon))
    os._exit(0)
os.wait()
os.kill(command, 9)
"""
"""A daemon that has left its session and cleaned its environment; who measures is killed the moment it is there."""


def running_with(argument: str) -> list[int]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.cmdline()[-1:] == [argument] and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except (psutil.Error, OSError):
            continue
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="daemons are followed on Linux")
def test_a_daemon_that_hides_ends_with_a_command_that_is_killed_at_once(tmp_path: Path) -> None:
    (tmp_path / "tensorflow.py").write_text(STUB)
    (tmp_path / "one.py").write_text(HIDING)
    argument = f"daemon-of-{tmp_path}"
    command = [sys.executable, "-m", "energy_lsp", *COMMANDS["measure"], "--python", sys.executable]
    process = subprocess.Popen(
        [*command, "--", argument],
        cwd=tmp_path,
        env={**os.environ, "ENERGY_LSP_LOCK_FOLDER": str(tmp_path / "host")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    (tmp_path / "command").write_text(str(process.pid))
    try:
        assert process.wait(120) == -signal.SIGKILL
        assert int((tmp_path / "began").read_text()) > 0
        assert until(lambda: not running_with(argument), 60)
    finally:
        process.kill()
        process.wait()
        for pid in running_with(argument):
            os.kill(pid, signal.SIGKILL)


def test_processes_are_started_in_one_place() -> None:
    measure = ROOT / "measure" / "energy_measure"
    found = set()
    for path in sorted(measure.rglob("*.py")):
        name = path.relative_to(measure).as_posix()
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Attribute) and node.attr == "Popen" and isinstance(node.ctx, ast.Load):
                found.add(name)
    assert {name for name in found if not name.startswith("injected/")} <= {*STARTS_OTHERS}
