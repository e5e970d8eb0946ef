"""A process that ends with the one that started it, however that ended, and with everything that it started itself.

Three things see to it. Leaving the context ends its group, and the daemons it left behind (`Orphans`). Where this process
is killed and can do nothing any more, the kernel kills the other on Linux (`PR_SET_PDEATHSIG`); and a guard, a process of
its own that waits at a pipe which closes then, kills its group, whatever else carries its mark, and what was handed to
this process meanwhile: daemons that have left their session and cleaned their environment are known within a second.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO

from energy_measure.host.processes import kill_group, signal_group
from energy_measure.program.orphans import Orphans

GRACE_SECONDS = 2.0
MARK = "ENERGY_LSP_STARTED_BY"
"""A variable by which the guard knows what belongs to a process, also when it has left its session."""
_PR_SET_PDEATHSIG = 1
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
        mark = f"{MARK}={os.getpid()}-{secrets.token_hex(8)}"
        self._orphans = Orphans()
        try:
            self.process = subprocess.Popen(
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                cwd=cwd,
                env={**(os.environ if env is None else env), **dict([mark.split("=")])},
                pass_fds=tuple(pass_fds),
                start_new_session=True,
                preexec_fn=_die_with_parent(),
            )
        except BaseException:
            self._orphans.let_go()
            raise
        try:
            numbers = (str(os.getpid()), str(self.process.pid))
            self._guard = subprocess.Popen(
                [sys.executable, "-S", "-I", str(_GUARD), *numbers, mark, *map(str, folders)],
                stdin=subprocess.PIPE,
                start_new_session=True,
                pass_fds=() if lock is None else (lock,),
            )
        except BaseException:
            self.end()
            self._orphans.let_go()
            raise

    def wait(self, seconds: float | None = None) -> int:
        """The status it leaves with (negative: the signal that ended it); raises `subprocess.TimeoutExpired`."""
        return self.process.wait(seconds)

    def end(self) -> None:
        """End whatever is left of its group, kindly first."""
        if self.process.poll() is None:
            signal_group(self.process.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(GRACE_SECONDS)
        kill_group(self.process.pid)
        self.process.wait()

    def __enter__(self) -> Guarded:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        has_ended = self.process.poll() is not None
        own = (self.process.pid, self._guard.pid)
        named = [child.name for child in self._orphans.left(own) if child.state != "Z"] if has_ended else []
        self.end()
        ended = self._orphans.end(own)
        self.left_behind = list(dict.fromkeys([*named, *ended])) if has_ended else []
        self._orphans.let_go()
        assert self._guard.stdin is not None
        with contextlib.suppress(OSError):
            self._guard.stdin.write(b".")
            self._guard.stdin.close()
        self._guard.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()


def _die_with_parent() -> Callable[[], None] | None:
    """On Linux the kernel kills the program when this process dies."""
    if sys.platform != "linux":
        return None
    library = ctypes.CDLL(None, use_errno=True)

    def arrange() -> None:
        library.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)

    return arrange
