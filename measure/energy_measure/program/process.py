"""Starts the instrumented program, talks with it, and leaves no process of it behind, whatever happens."""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from energy_data.untrusted.writing import write_file
from energy_measure.program.guarded import GRACE_SECONDS, Guarded

LAUNCH = Path(__file__).parents[1] / "injected" / "launcher.py"
START_SECONDS = 60.0
POLL_SECONDS = 0.2


class ProgramStopped(Exception):  # noqa: N818
    """The program did not come to its end; the message says how it ended."""


@dataclass(frozen=True, slots=True)
class Ended:
    """When the program began and ended, on the monotonic clock."""

    begin: int
    end: int
    status: int
    """What the program leaves with, as far as it says."""


class ProgramProcess:
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
        lock: int | None = None,
    ) -> None:
        """`output`, `errors`: where what the program prints goes; `lock`: kept open until nothing of it runs."""
        self._requests, theirs_in = _pipe_to_child()
        theirs_out, self._answers = _pipe_from_child()
        path = folder / "specification.json"
        wanted = {**specification, "folder": str(folder), "control": [theirs_in, theirs_out]}
        try:
            write_file(path, json.dumps(wanted), private=True)
            self._started = Guarded(
                [str(python), str(LAUNCH), str(path)],
                cwd=cwd,
                stdout=output,
                stderr=errors,
                pass_fds=(theirs_in, theirs_out),
                folders=(folder,),
                lock=lock,
            )
        except BaseException:
            os.close(self._requests)
            os.close(self._answers)
            raise
        finally:
            os.close(theirs_in)
            os.close(theirs_out)
        self._said = b""
        self._silent = False
        """The program's end of the pipe is closed: nothing will come any more."""

    @property
    def pid(self) -> int:
        """The process to follow."""
        return self._started.pid

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
            if self._silent and self._started.poll() is not None:
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
            return self._started.wait(seconds)
        except subprocess.TimeoutExpired:
            self.end()
        return self._started.wait()

    def outcome(self) -> str:
        """How the process ended, in words."""
        status = self._started.wait(GRACE_SECONDS)
        if status < 0:
            return f"was killed by {signal.Signals(-status).name}"
        return f"left with status {status}"

    def end(self) -> None:
        """End whatever is left of the program's process group."""
        self._started.end()

    @property
    def left_behind(self) -> list[str]:
        """Names of processes that outlived the program and were ended."""
        return self._started.left_behind

    def __enter__(self) -> ProgramProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._started.__exit__(kind, error, trace)
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
                self._silent = self._started.poll() is not None
                return None
            data = os.read(self._answers, 1 << 16)
            if not data:
                self._silent = True
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._started.wait(min(POLL_SECONDS, seconds))
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


SHORTEST_SECRET = 3
"""Characters; shorter ones stand in any text."""
SHORTEST_KEY = 6
"""Characters of a variable's value; `yes` and `auto` are no secrets."""
SECRET = re.compile("TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|AUTH|KEY", re.IGNORECASE)
"""In the name of a variable."""
OPTION = re.compile(r"--?[A-Za-z][\w.-]{0,60}")


def option_names(arguments: Sequence[str]) -> list[str]:
    """Arguments without their values, which may be secrets: options by name, everything else by its number."""
    shown: list[str] = []
    for number, word in enumerate(arguments, 1):
        name, equals, _ = word.partition("=")
        if not OPTION.fullmatch(name):
            shown.append(f"<{number}>")
        elif name.startswith("--"):
            shown.append(f"{name}=…" if equals else name)
        else:
            shown.append(name if len(word) == 2 else f"{name[:2]}…")
    return shown


def without_values(text: str, arguments: Sequence[str]) -> str:
    """A text of the program with the numbers of its arguments in the place of their values, and with the names of variables
    that are called secrets in the place of theirs."""
    values: dict[str, int | str] = {
        value: name
        for name, value in os.environ.items()
        if SECRET.search(name) and len(value) >= SHORTEST_KEY
    }
    for number, word in enumerate(arguments, 1):
        name, equals, value = word.partition("=")
        if not OPTION.fullmatch(name):
            values[word] = number
        if equals:
            values[value] = number
        elif not name.startswith("--"):
            values[word[2:]] = number
    for value in sorted(values, key=len, reverse=True):
        if len(value) >= SHORTEST_SECRET:
            text = text.replace(value, f"<{values[value]}>")
    return text


def command_line(entry: Path, arguments: Sequence[str], *, keep: bool = False) -> str:
    """What was run; the values of its arguments only where somebody asked to `keep` them."""
    if not keep:
        return " ".join(["python", str(entry), *option_names(arguments)])
    import shlex  # only the line that is printed needs it

    return shlex.join(["python", str(entry), *arguments])
