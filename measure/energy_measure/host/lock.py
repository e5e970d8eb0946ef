"""The host's measurement lock: two programs measured at the same time would each be charged for the other.

The lock is the operating system's own lock on a file, so it is gone when its holder is, however that ended. Whoever
cleans up after a killed measurement keeps the descriptor open (`HostLock.descriptor`) until nothing of it runs any more.
Measurements take the lock for themselves; work that would disturb them (building environments) shares it.
"""

from __future__ import annotations

import datetime
import json
import os
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from energy_measure.host.file_lock import NOTE_BYTES, POLL_SECONDS, LockFileError, open_lock_file, try_lock
from energy_measure.problems import MeasureProblem

FOLDER_VARIABLE = "ENERGY_LSP_LOCK_FOLDER"
"""Where the lock lies: set it for tests side by side and for hosts that are simulated."""
FILE = "energy-lsp-measurement.lock"


@dataclass(frozen=True, slots=True)
class Owner:
    """Who holds the lock, as the holder wrote it."""

    name: str
    pid: int
    work: str
    since: str

    def __str__(self) -> str:
        return f"{self.name} (process {self.pid}) has been at {self.work} since {self.since}"


@dataclass(frozen=True, slots=True)
class HostLock:
    """The lock while it is held."""

    descriptor: int
    """Hand it to a process that cleans up: the lock is free when all who have it are gone."""


def lock_folder() -> Path:
    """The folder of the lock: one for all users of the host, unless another is set."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    if chosen:
        return Path(chosen)
    shared = Path("/run/lock")
    return shared if os.access(shared, os.W_OK) else Path(tempfile.gettempdir())


def host_name() -> str:
    """What to call this host; simulated hosts are distinguished by their lock folders."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    return f"{socket.gethostname()}:{Path(chosen).name}" if chosen else socket.gethostname()


@contextmanager
def host_lock(
    work: str,
    *,
    wait: bool = True,
    shared: bool = False,
    on_wait: Callable[[str], None] = lambda sentence: None,
) -> Iterator[HostLock]:
    """Hold the lock; `on_wait` is notified once who has it. Without `wait`, a `MeasureProblem` says so instead.

    `work`: what others are told that it is held for.
    """
    path = lock_folder() / FILE
    descriptor = _open(path)
    try:
        announced = False
        while not try_lock(descriptor, shared=shared):
            if not wait:
                raise MeasureProblem(f"{_held(descriptor)}; wait for that, or leave --no-wait out.")
            if not announced:
                on_wait(f"{_held(descriptor)}; waiting for it.")
                announced = True
            time.sleep(POLL_SECONDS)
        if not shared:
            _write_owner(descriptor, work)
        try:
            yield HostLock(descriptor)
        finally:
            if (
                not shared
            ):  # builders do not write who they are: the next in line must not be told an old name
                os.truncate(descriptor, 0)
    finally:
        os.close(descriptor)


def lock_owner() -> Owner | None:
    """Who held the lock last, as far as the file says."""
    try:
        descriptor = _open(lock_folder() / FILE)
    except MeasureProblem:
        return None
    try:
        return _read_owner(descriptor)
    finally:
        os.close(descriptor)


def _open(path: Path) -> int:
    try:
        return open_lock_file(path)
    except LockFileError as problem:
        raise MeasureProblem(
            f"The measurement lock {problem}; set {FOLDER_VARIABLE} to another folder, the same for all who measure "
            "on this host."
        ) from problem


def _held(descriptor: int) -> str:
    owner = _read_owner(descriptor)
    who = str(owner) if owner is not None else "Somebody is measuring or building an environment"
    return f"Only one measurement at a time runs on a host: {who}"


def _write_owner(descriptor: int, work: str) -> None:
    since = datetime.datetime.now().astimezone().isoformat(timespec="seconds")
    note = {"owner": _user(), "pid": os.getpid(), "work": work[:500], "since": since}
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.truncate(descriptor, 0)
    os.write(descriptor, json.dumps(note).encode()[:NOTE_BYTES])


def _user() -> str:
    import getpass  # only a lock that is written needs it

    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):  # a user id without a name, as in containers
        return f"user {os.getuid()}" if hasattr(os, "getuid") else "somebody"


def _read_owner(descriptor: int) -> Owner | None:
    """The note is anybody's text: only what can be printed is taken."""
    try:
        os.lseek(descriptor, 0, os.SEEK_SET)
        note = json.loads(os.read(descriptor, NOTE_BYTES))
        texts = ["".join(c for c in str(note[key]) if c.isprintable()) for key in ("owner", "work", "since")]
        return Owner(texts[0], int(note["pid"]), texts[1], texts[2])
    except (OSError, ValueError, KeyError, TypeError):
        return None
