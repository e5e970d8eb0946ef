"""Starts the instrumented program, talks with it, and leaves no process of it behind, whatever happens."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any

LAUNCH = Path(__file__).with_name("launch.py")
START_SECONDS = 60.0
GRACE_SECONDS = 2.0
POLL_SECONDS = 0.2
_PR_SET_PDEATHSIG = 1

# Outlives even a killed engine: when the pipe closes without a word, the program's process group goes, and with it what
# was recorded of the run.
_GUARD = """
import os, shutil, sys
if not os.read(0, 1):
    try:
        os.killpg(int(sys.argv[1]), 9)
    except ProcessLookupError:
        pass
    shutil.rmtree(sys.argv[2], ignore_errors=True)
"""


class ProgramStopped(Exception):  # noqa: N818
    """The program did not come to its end; the message says how it ended."""


@dataclass(frozen=True, slots=True)
class Ended:
    """When the program began and ended, on the monotonic clock."""

    begin: int
    end: int
    status: int
    """What the program leaves with, as far as it says."""


class Program:
    """One run of an instrumented program; a context manager that ends it."""

    def __init__(
        self,
        python: Path,
        specification: Mapping[str, Any],
        folder: Path,
        *,
        cwd: Path,
        output: IO[bytes] | int,
        errors: IO[bytes] | int,
    ) -> None:
        """`output`, `errors`: where what the program prints goes."""
        self._requests, theirs_in = _pipe_to_child()
        theirs_out, self._answers = _pipe_from_child()
        path = folder / "specification.json"
        wanted = {**specification, "folder": str(folder), "control": [theirs_in, theirs_out]}
        path.write_text(json.dumps(wanted), encoding="utf-8")
        try:
            self.process = subprocess.Popen(
                [str(python), str(LAUNCH), str(path)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                cwd=cwd,
                pass_fds=(theirs_in, theirs_out),
                start_new_session=True,
                preexec_fn=_die_with_parent(),
            )
        except BaseException:
            os.close(self._requests)
            os.close(self._answers)
            raise
        finally:
            os.close(theirs_in)
            os.close(theirs_out)
        self._guard = subprocess.Popen(
            [sys.executable, "-S", "-E", "-c", _GUARD, str(self.process.pid), str(folder)],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )
        self._said = b""
        self._silent = False
        """The program's end of the pipe is closed: nothing will come any more."""

    @property
    def pid(self) -> int:
        """The process to follow."""
        return self.process.pid

    def wait_until_ready(self) -> None:
        """Until the interpreter has started and waits for the word to go."""
        if self._hear(START_SECONDS) is None:
            raise ProgramStopped(f"The interpreter ended before the program began ({self.outcome()}).")

    def run(self, timeout: float | None, tick: Callable[[float], None]) -> Ended | None:
        """Let the program run to its end; None if it left on its own way (a crash, `os._exit`)."""
        self._tell({"go": True})
        begin = time.monotonic()
        while True:
            heard = self._hear(POLL_SECONDS)
            if heard is not None:
                return Ended(int(heard["begin"]), int(heard["end"]), int(heard["status"]))
            passed = time.monotonic() - begin
            if self._silent and self.process.poll() is not None:
                return None
            if timeout is not None and passed > timeout:
                self.end()
                raise ProgramStopped(f"The program was stopped after {timeout:g} s (--timeout).")
            tick(passed)

    def replay(self, plan: Mapping[str, Any], timeout: float) -> list[dict[str, Any]]:
        """Have calls repeated in the program's process; none if it cannot any more."""
        self._tell({"replay": dict(plan)})
        heard = self._hear(timeout)
        return list(heard["windows"]) if heard is not None else []

    def finish(self, seconds: float = 60.0) -> int:
        """Let the process go, and give the status it left with (negative: the signal that ended it)."""
        self._tell({})
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.end()
        return self.process.returncode

    def outcome(self) -> str:
        """How the process ended, in words."""
        status = self.process.wait(GRACE_SECONDS)
        if status < 0:
            return f"killed by {signal.Signals(-status).name}"
        return f"exit status {status}"

    def end(self) -> None:
        """End whatever is left of the program's process group."""
        if self.process.poll() is None:
            _signal_group(self.process.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(GRACE_SECONDS)
        _signal_group(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def __enter__(self) -> Program:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()
        assert self._guard.stdin is not None
        with contextlib.suppress(OSError):
            self._guard.stdin.write(b".")
            self._guard.stdin.close()
        self._guard.wait()
        for descriptor in (self._requests, self._answers):
            os.close(descriptor)

    def _tell(self, message: Mapping[str, Any]) -> None:
        with contextlib.suppress(BrokenPipeError):
            os.write(self._requests, json.dumps(message).encode() + b"\n")

    def _hear(self, seconds: float) -> dict[str, Any] | None:
        """The next message within so many seconds; None if there is none, or nobody to send one."""
        deadline = time.monotonic() + seconds
        while b"\n" not in self._said:
            left = max(0.0, deadline - time.monotonic())
            if not select.select([self._answers], [], [], left)[0]:
                self._silent = self.process.poll() is not None
                return None
            data = os.read(self._answers, 1 << 16)
            if not data:
                self._silent = True
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.process.wait(min(POLL_SECONDS, seconds))
                return None
            self._said += data
        line, _, self._said = self._said.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message


def _pipe_to_child() -> tuple[int, int]:
    read, write = os.pipe()
    os.set_inheritable(read, True)
    return write, read


def _pipe_from_child() -> tuple[int, int]:
    read, write = os.pipe()
    os.set_inheritable(write, True)
    return write, read


def _signal_group(leader: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)


def _die_with_parent() -> Callable[[], None] | None:
    """On Linux the kernel kills the program when this process dies."""
    if sys.platform != "linux":
        return None
    library = ctypes.CDLL(None, use_errno=True)

    def arrange() -> None:
        library.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)

    return arrange


def command_line(entry: Path, arguments: Sequence[str]) -> str:
    """What was run, as one would type it."""
    import shlex

    return shlex.join(["python", str(entry), *arguments])
