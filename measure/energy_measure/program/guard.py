"""Run by its path, as a process of its own: starts a program, and ends everything of it when it is no longer needed.

Arguments: the descriptor to report to, those that the program inherits, how many folders, the folders, the command.
Standard input is a pipe from the process that measures: a byte on it says that all goes in good order; where it closes
without one, that process is gone, and the folders are removed as well.

On Linux a process whose parent ends becomes a child of the nearest ancestor that takes care of such, which is this one
(`PR_SET_CHILD_SUBREAPER`). So whatever the program starts stays below, daemons too, in whichever session and environment,
and none is missed, however early the process that measures is killed. This process may hold the host's measurement lock as
well, which is free when the last of them is gone.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

PATIENCE_SECONDS = 5.0
"""For processes to go that were killed."""
WAIT_SECONDS = 0.02
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


class Process(NamedTuple):
    """What the system says of a process."""

    number: int
    name: str
    state: str
    parent: int


def processes() -> Iterator[Process]:
    """All processes, where the system tells."""
    with contextlib.suppress(OSError):
        for number in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError, ValueError), open(f"/proc/{number}/stat", "rb") as stat:
                name, _, rest = stat.read().decode("utf-8", "replace").partition("(")[2].rpartition(")")
                state, parent = rest.split()[:2]
                yield Process(int(number), name, state, int(parent))


def descendants() -> list[Process]:
    """What was started below this process and still runs."""
    found = [process for process in processes() if process.state not in "ZX"]
    below, before = {os.getpid()}, 0
    while len(below) != before:
        before = len(below)
        below |= {process.number for process in found if process.parent in below}
    return [process for process in found if process.number in below and process.number != os.getpid()]


def end_all(leader: int) -> list[str]:
    """End the program and whatever it started; the names of those that still ran beside it."""
    if sys.platform == "win32":  # which has no groups of processes
        with contextlib.suppress(OSError):
            os.kill(leader, signal.SIGTERM)
        return []
    if sys.platform != "linux":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, signal.SIGKILL)
        return []
    named: dict[str, None] = {}
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (found := descendants()) and time.monotonic() < deadline:
        named.update({process.name: None for process in found if process.number != leader})
        for process in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process.number, signal.SIGKILL)
        time.sleep(WAIT_SECONDS)
    return list(named)


def start(command: list[str], inherited: tuple[int, ...]) -> subprocess.Popen[bytes]:
    """The program, in a session of its own; on Linux the kernel kills it when this process is killed."""
    arrange: Callable[[], None] | None = None
    if sys.platform == "linux":
        library = ctypes.CDLL(None, use_errno=True)
        library.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        arrange = lambda: library.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # noqa: E731
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, pass_fds=inherited, start_new_session=True, preexec_fn=arrange
    )


def wait_for(program: subprocess.Popen[bytes], report: Callable[..., None]) -> None:
    """Report how the program ended; take care of everything else that was handed to this process."""
    if sys.platform == "win32":
        report("ended", program.wait(), time.monotonic_ns())
        return
    with contextlib.suppress(ChildProcessError):
        while True:
            number, status = os.waitpid(-1, 0)
            if number == program.pid:
                report("ended", os.waitstatus_to_exitcode(status), time.monotonic_ns())


def main() -> None:
    """Start, and wait at the pipe."""
    pipe, inherited = int(sys.argv[1]), tuple(map(int, filter(None, sys.argv[2].split(","))))
    count = 4 + int(sys.argv[3])
    folders, command = sys.argv[4:count], sys.argv[count:]

    def report(*words: object) -> None:
        with contextlib.suppress(OSError):
            os.write(pipe, json.dumps(words).encode() + b"\n")

    try:
        program = start(command, inherited)
    except (OSError, ValueError) as problem:
        report("refused", getattr(problem, "errno", None), getattr(problem, "strerror", None) or str(problem))
        return
    report("started", program.pid, time.monotonic_ns())
    null = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):  # who reads what the program prints waits for its end, not for ours
        os.dup2(null, descriptor)
    for descriptor in inherited:
        os.close(descriptor)
    threading.Thread(target=wait_for, args=(program, report), daemon=True).start()
    in_good_order = os.read(0, 1)
    report("left", end_all(program.pid))
    if not in_good_order:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)  # the other thread may wait for a process that cannot be ended


if __name__ == "__main__":
    main()
