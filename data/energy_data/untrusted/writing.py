"""The one place that writes files: under a fresh name, following no link, in one step.

Folders may hold what somebody else put there: a link where we expect our file, a device, a name we would have
chosen for a temporary file. So a file is made under a name that nobody can know, exclusively, in the folder of
its target, and then takes the target's place. A target that is a link, a folder or a device is refused; one
with several hard links loses this name alone.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

PRIVATE = 0o600
PRIVATE_FOLDER = 0o700
_SAFE = os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_FRESH = _SAFE | os.O_EXCL | getattr(os, "O_BINARY", 0)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_LIST = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_HAS_FOLDERS = os.open in os.supports_dir_fd and hasattr(os, "O_DIRECTORY")


class NotWritten(OSError):  # noqa: N818 - it says what happened to a file
    """Something stands at the place that must not be written to; `strerror` says what."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(None, reason, str(path))


def write_file(
    path: Path, content: str | bytes | Iterable[str], *, private: bool = False, exact: bool = False
) -> None:
    """Put content in the place of a file, all of it or nothing; the mode of a file that was there stays.

    `exact`: no folder on the way may be a link, as for a path of which that was found out before.
    """
    with _fresh(path, private=private, exact=exact) as (handle, put_in_place):
        with os.fdopen(handle, "wb") as stream:
            for part in [content] if isinstance(content, (str, bytes)) else content:
                stream.write(part.encode("utf-8") if isinstance(part, str) else part)
            stream.flush()
            os.fsync(handle)
        put_in_place()


def stream_into(path: Path) -> IO[bytes]:
    """A stream into a file that is written little by little and can be read meanwhile; or into the null device."""
    if str(path) == os.devnull:
        return open(os.devnull, "wb")
    with _fresh(path) as (handle, put_in_place):
        try:
            put_in_place()
        except BaseException:
            os.close(handle)
            raise
        return os.fdopen(handle, "wb")


@contextmanager
def _fresh(
    path: Path, *, private: bool = False, exact: bool = False
) -> Iterator[tuple[int, Callable[[], None]]]:
    """A new file beside a target, and what puts it in its place; it goes when something fails."""
    with _folder(path.parent, exact=exact) as folder:
        before = _regular(path, folder)
        name = _at(path, f".{secrets.token_hex(12)}.tmp", folder)
        handle = os.open(name, _FRESH, PRIVATE if private or before else 0o666, dir_fd=folder)
        try:
            _take_over(handle, before)
            target = _at(path, path.name, folder)
            yield handle, lambda: os.replace(name, target, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name, dir_fd=folder)
            raise


def append_to(path: Path) -> IO[str]:
    """A stream to the end of a log file; a new one is its owner's alone."""
    with _folder(path.parent) as folder:
        _regular(path, folder)
        handle = os.open(_at(path, path.name, folder), _SAFE | os.O_APPEND, PRIVATE, dir_fd=folder)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise NotWritten(path, "it is not a regular file")
    return os.fdopen(handle, "a", encoding="utf-8", errors="backslashreplace")


def create(path: Path) -> int:
    """The descriptor of a new file that only its owner may read; there must be none of that name."""
    return os.open(path, _FRESH, PRIVATE)


def private_folder(path: Path) -> None:
    """Make a folder of our own, with those above it that are missing: nobody else may look into them."""
    missing = []
    for folder in (path, *path.parents):
        if folder.is_dir():
            break
        missing.append(folder)
    for folder in reversed(missing):
        with contextlib.suppress(FileExistsError):  # another process may have been faster
            folder.mkdir(PRIVATE_FOLDER)


def keep_private(path: Path, mode: int = PRIVATE) -> None:
    """Take others' permissions off something of this user's that an earlier version left open."""
    with contextlib.suppress(OSError):
        found = path.lstat()
        mine = not hasattr(os, "geteuid") or found.st_uid == os.geteuid()
        if mine and not stat.S_ISLNK(found.st_mode) and stat.S_IMODE(found.st_mode) & ~mode:
            path.chmod(stat.S_IMODE(found.st_mode) & mode)


def inside(path: Path, named: Iterable[Path]) -> Path | None:
    """Where a file lies after following links; None if that is outside all the folders and files that were named."""
    real = Path(os.path.realpath(path))
    for one in named:
        folder = one.resolve() if one.is_dir() else one.parent.resolve() / one.name
        if real == folder or (one.is_dir() and real.is_relative_to(folder)):
            return real
    return None


def _take_over(handle: int, before: os.stat_result | None) -> None:
    """The mode of the file that was there, and its owner where we may give files away."""
    if before is None or sys.platform == "win32":
        return
    if (before.st_uid, before.st_gid) != (os.geteuid(), os.getegid()):
        with contextlib.suppress(OSError):
            os.fchown(handle, before.st_uid, before.st_gid)
    os.fchmod(handle, stat.S_IMODE(before.st_mode) & 0o777)


def _regular(path: Path, folder: int | None) -> os.stat_result | None:
    """The state of what stands at the target; None if nothing does."""
    try:
        found = os.stat(_at(path, path.name, folder), dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(found.st_mode):
        raise NotWritten(path, "it is a symbolic link")
    if stat.S_ISDIR(found.st_mode):
        raise NotWritten(path, "it is a folder")
    if not stat.S_ISREG(found.st_mode):
        raise NotWritten(path, "it is not a regular file")
    if (
        not stat.S_IMODE(found.st_mode) & 0o222
    ):  # taking its place would need no more than the folder's permission
        raise NotWritten(path, "it is read-only")
    return found


@contextmanager
def _folder(path: Path, *, exact: bool = False) -> Iterator[int | None]:
    """The folder held open: whoever exchanges it meanwhile does not lead us elsewhere. None where that is unknown."""
    if not _HAS_FOLDERS:
        yield None
        return
    names = (path if exact else path.resolve()).absolute().parts
    handle = os.open(names[0], _LIST)
    try:
        for name in names[1:]:
            above, handle = handle, os.open(name, _LIST | _NOFOLLOW, dir_fd=handle)
            os.close(above)
        yield handle
    finally:
        os.close(handle)


def _at(path: Path, name: str, folder: int | None) -> str:
    return name if folder is not None else str(path.with_name(name))
