"""Run by its path, as a process of its own: ends what a measuring process started, when that one is gone.

Arguments: the process that measures, the process group of the program, its mark, folders to remove. Standard input is a pipe
from the process that measures; a byte on it says that all ended in good order. This process may hold the host's measurement
lock as well, which is free when the last of the group is gone.
"""

from __future__ import annotations

import os
import select
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

LOOK_SECONDS = 1.0
"""Between two looks at what was handed to the process that measures: one small file to read."""
TRIES = 100
WAIT_SECONDS = 0.02
KILL = 9


class Process(NamedTuple):
    """What tells a process from a later one of the same number, and where it belongs."""

    started: int
    parent: int
    session: int


def process_of(number: int) -> Process | None:
    """What the system says of a process; None for one that has ended."""
    try:
        with open(f"/proc/{number}/stat", "rb") as stat:
            fields = stat.read().rpartition(b")")[2].split()
        return Process(int(fields[19]), int(fields[1]), int(fields[3]))
    except (OSError, IndexError):
        return None


def numbers() -> list[int]:
    """All processes, where the system tells."""
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


class Handed:
    """Daemons that were handed to the process that measures: once it is gone, nothing tells whose they are."""

    def __init__(self, measuring: int) -> None:
        self._measuring = measuring
        self._known: dict[int, int] = {}

    def look(self) -> None:
        """Note those that have a session of their own."""
        if sys.platform == "win32":
            return
        try:
            with open(
                f"/proc/{self._measuring}/task/{self._measuring}/children", encoding="ascii"
            ) as children:
                found = [int(number) for number in children.read().split()]
            session = os.getsid(self._measuring)
        except OSError:
            return
        for number in found:
            process = process_of(number)
            if process is not None and process.session != session and number != os.getpid():
                self._known[number] = process.started

    def left(self) -> set[int]:
        """Those that still run, and what they started."""
        found = {
            number
            for number, started in self._known.items()
            if (process := process_of(number)) is not None and process.started == started
        }
        before: set[int] = set()
        while found != before:
            before = set(found)
            processes = {number: process_of(number) for number in numbers()}
            found |= {number for number, one in processes.items() if one is not None and one.parent in found}
        return found


def marked(mark: bytes) -> Iterator[int]:
    """The processes that carry a mark in their environment."""
    for number in numbers():
        try:
            with open(f"/proc/{number}/environ", "rb") as environ:
                if mark in environ.read().split(b"\0"):
                    yield number
        except OSError:
            continue


def kill(function: Callable[[int, int], None], number: int) -> bool:
    """Whether there was something to kill."""
    try:
        function(number, KILL)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def main() -> None:
    """Wait at the pipe."""
    if sys.platform == "win32":  # which has no groups of processes
        return
    group, mark = int(sys.argv[2]), sys.argv[3].encode()
    handed = Handed(int(sys.argv[1]))
    while not select.select([0], [], [], LOOK_SECONDS)[0]:
        handed.look()
    if os.read(0, 1):
        return
    for _ in range(TRIES):
        others = {*marked(mark), *handed.left()}
        if not any([kill(os.killpg, group), *(kill(os.kill, one) for one in others)]):
            break
        time.sleep(WAIT_SECONDS)
    for folder in sys.argv[4:]:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
