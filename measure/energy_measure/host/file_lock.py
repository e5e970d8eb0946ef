"""Locks on files: the operating system's own, gone when their holder is, however that ended."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path

POLL_SECONDS = 0.1
NOTE_BYTES = 2000
"""The file may hold a note of so many bytes about its holder."""


class LockFileError(Exception):
    """A file cannot serve as a lock; the message says why."""


def open_lock_file(path: Path) -> int:
    """The lock's file, made if need be. Other users' files in a shared folder are theirs: no link is followed."""
    flags = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for _ in range(2):  # the second time if another process made it in between
            with contextlib.suppress(FileNotFoundError):
                return _regular(os.open(path, flags), path)
            with contextlib.suppress(FileExistsError):
                descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o666)
                if sys.platform != "win32":
                    with contextlib.suppress(OSError):  # the umask must not shut other users out
                        os.fchmod(descriptor, 0o666)
                return descriptor
    except OSError as problem:
        reason = "it is a link" if problem.errno == errno.ELOOP else problem.strerror
        raise LockFileError(f"{path} cannot be opened ({reason})") from problem
    raise LockFileError(f"{path} comes and goes")


@contextlib.contextmanager
def locked_file(path: Path) -> Iterator[None]:
    """Hold a lock, however long it takes to get it."""
    descriptor = open_lock_file(path)
    try:
        while not try_lock(descriptor):
            time.sleep(POLL_SECONDS)
        yield
    finally:
        os.close(descriptor)


def _regular(descriptor: int, path: Path) -> int:
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise LockFileError(f"{path} is no file")


if sys.platform == "win32":
    import msvcrt

    def try_lock(descriptor: int, *, shared: bool = False) -> bool:
        """There are no shared locks of this kind: builders take turns as well."""
        try:
            os.lseek(descriptor, NOTE_BYTES, os.SEEK_SET)  # a byte behind the note, which others may read
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def try_lock(descriptor: int, *, shared: bool = False) -> bool:
        """Take the lock if it is free, alone or together with others who share it."""
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
