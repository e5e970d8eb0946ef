"""Processes that a measured program leaves behind: named and ended, also such as left its session (daemons).

A process whose parent ends becomes a child of the nearest ancestor that says it takes care of such (on Linux,
`PR_SET_CHILD_SUBREAPER`), which is this process while a program runs.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

_PR_SET_CHILD_SUBREAPER = 36
PROCESSES = Path("/proc")
PATIENCE_SECONDS = 5.0
"""For processes to go that were killed, and for their children to be handed to this process."""
WAIT_SECONDS = 0.02
MOST_NAMED = 5


class Child(NamedTuple):
    """A process whose parent this one is."""

    pid: int
    name: str
    state: str
    session: int


class Orphans:
    """Takes over what a program leaves behind, from now on until `let_go`."""

    def __init__(self) -> None:
        self._before = {child.pid for child in children()}
        _reap(True)

    def left(self, own: Collection[int]) -> list[Child]:
        """What was handed to this process and is none that it started: those are `own`, or of its own session."""
        if sys.platform != "linux":
            return []
        session = os.getsid(0)
        known = {*self._before, *own}
        return [child for child in children() if child.pid not in known and child.session != session]

    def end(self, own: Collection[int]) -> list[str]:
        """End what is left; the names of those that still ran."""
        named: list[str] = []
        if sys.platform == "win32":
            return named
        deadline = time.monotonic() + PATIENCE_SECONDS
        while (found := self.left(own)) and time.monotonic() < deadline:
            for child in found:
                if child.state != "Z":
                    named += [child.name] if child.name not in named else []
                    with contextlib.suppress(ProcessLookupError, PermissionError):
                        os.kill(child.pid, signal.SIGKILL)
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(child.pid, os.WNOHANG)
            time.sleep(WAIT_SECONDS)
        return named

    def let_go(self) -> None:
        """Others take care of such processes again."""
        _reap(False)


def children() -> Iterator[Child]:
    """The processes whose parent this one is; none where the system does not tell."""
    me = os.getpid()
    with contextlib.suppress(OSError):
        for entry in os.scandir(PROCESSES):
            if not entry.name.isdigit():
                continue
            try:
                status = (PROCESSES / entry.name / "stat").read_text("utf-8", "replace")
            except OSError:
                continue  # it has ended
            name, _, rest = status.partition("(")[2].rpartition(")")
            state, parent, _, session = rest.split()[:4]
            if int(parent) == me:
                yield Child(int(entry.name), name, state, int(session))


def sentence(names: list[str]) -> str:
    """What to tell of processes that were ended."""
    shown = ", ".join(names[:MOST_NAMED]) + (", …" if len(names) > MOST_NAMED else "")
    return f"The program left processes behind, which were ended: {shown}."


def _reap(wanted: bool) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, int(wanted), 0, 0, 0)
