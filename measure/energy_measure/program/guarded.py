"""A process that ends with the one that started it, however that ended, and with everything that it started itself.

Between the two stands a guard (`guard.py`), the parent of the process. It waits at a pipe that closes when this process is
gone, and ends all that runs below it then; or when it is told to, on leaving the context.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO

from energy_measure.host.processes import KILL, kill_group, signal_group

GRACE_SECONDS = 2.0
MOST_NAMED = 5
_GUARD = Path(__file__).with_name("guard.py")


class Guarded:
    """One process in a session of its own; a context manager that ends it and what it started."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        stdout: IO[bytes] | int | None = None,
        stderr: IO[bytes] | int | None = None,
        pass_fds: Sequence[int] = (),
        folders: Sequence[Path] = (),
        lock: int | None = None,
    ) -> None:
        """`folders` go when this process is killed; `lock` is kept open until nothing of the other runs."""
        self.left_behind: list[str] = []
        """Names of processes that outlived it and were ended."""
        self._command = list(command)
        self._status: int | None = None
        self._left: list[str] = []
        self._ended = threading.Event()
        reading, writing = os.pipe()
        self._reports = os.fdopen(reading, encoding="utf-8")
        try:
            self._guard = subprocess.Popen(
                [
                    *(sys.executable, "-S", "-I", str(_GUARD), str(writing), ",".join(map(str, pass_fds))),
                    *(str(len(folders)), *map(str, folders), *self._command),
                ],
                stdin=subprocess.PIPE,
                stdout=stdout,
                stderr=stderr,
                cwd=cwd,
                env=env,
                pass_fds=(writing, *pass_fds, *(() if lock is None else (lock,))),
                start_new_session=True,
            )
        except BaseException:
            self._reports.close()
            raise
        finally:
            os.close(writing)
        try:
            self.pid, self.started = self._start()
            self.ended = self.started
            """When it began and ended, in nanoseconds on the monotonic clock."""
        except BaseException:
            self._let_go()
            raise
        self._listener = threading.Thread(target=self._listen, name="guard", daemon=True)
        self._listener.start()

    @property
    def stdout(self) -> IO[bytes] | None:
        """What it prints, where that was asked for as a pipe."""
        return self._guard.stdout

    def poll(self) -> int | None:
        """The status it left with; None while it runs."""
        return self._status if self._ended.is_set() else None

    def wait(self, seconds: float | None = None) -> int:
        """The status it leaves with (negative: the signal that ended it); raises `subprocess.TimeoutExpired`."""
        if not self._ended.wait(seconds):
            raise subprocess.TimeoutExpired(self._command, seconds or 0.0)
        assert self._status is not None
        return self._status

    def end(self) -> None:
        """End whatever is left of its group, kindly first."""
        if self.poll() is None:
            signal_group(self.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.wait(GRACE_SECONDS)
        kill_group(self.pid)
        self.wait()

    def __enter__(self) -> Guarded:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        has_ended = self.poll() is not None
        if not has_ended:
            self.end()
        self._let_go()
        self.left_behind = self._left if has_ended else []

    def _start(self) -> tuple[int, int]:
        """The number of the process, and when it began on the monotonic clock; raises OSError as `Popen` does."""
        line = self._reports.readline()
        word, number, about = json.loads(line or '["refused", null, "it was killed"]')
        if word != "started":
            raise OSError(number, about, self._command[0])
        return int(number), int(about)

    def _listen(self) -> None:
        """Until the guard has ended; where it was killed, the kernel killed the process too."""
        for line in self._reports:
            word, *values = json.loads(line)
            if word == "ended":
                self._status, self.ended = values
                self._ended.set()
            else:
                (self._left,) = values
        if self._status is None:
            self._status = -KILL
        self._ended.set()

    def _let_go(self) -> None:
        """Have the guard end the rest, and wait for it."""
        assert self._guard.stdin is not None
        with contextlib.suppress(OSError):
            self._guard.stdin.write(b".")
            self._guard.stdin.close()
        self._guard.wait()
        if hasattr(self, "_listener"):
            self._listener.join()
        self._reports.close()
        if self._guard.stdout is not None:
            self._guard.stdout.close()


def sentence(names: Sequence[str]) -> str:
    """What to tell of processes that were ended."""
    shown = ", ".join(names[:MOST_NAMED]) + (", …" if len(names) > MOST_NAMED else "")
    return f"The program left processes behind, which were ended: {shown}."
