"""The one place that opens files of others: regular files alone, up to a size, and inside where they belong.

A name may lead to a device that never ends, to a pipe that never answers, or out of the folder that somebody
opened. What is looked at is what the name leads to, before it is opened and again after.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import IO

MEGABYTE = 1024 * 1024
LARGEST_SOURCE = 16 * MEGABYTE
"""The largest Python file; generated ones reach a few megabytes."""
LARGEST_NOTEBOOK = 128 * MEGABYTE
"""Notebooks carry their pictures."""
LARGEST_SETTINGS = MEGABYTE
LARGEST_CACHE = 256 * MEGABYTE
LARGEST_DATABASE = 1024 * MEGABYTE
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


class NotRead(OSError):  # noqa: N818 - it says what happened to a file
    """A file that is not opened; `strerror` says why."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(None, reason, str(path))


def read_bytes(path: Path, most: int, *, within: Path | None = None) -> bytes:
    """The content of a regular file of at most so many bytes, `within` a folder if one is given."""
    with open_bytes(path, most, within=within) as file:
        data = file.read(most + 1)
    if data is None:
        raise _of_the_kernel(path)
    if len(data) > most:  # files that grow, and those of /proc, which tell no size
        raise _too_large(path, most)
    return data


def open_bytes(path: Path, most: int | None = None, *, within: Path | None = None) -> IO[bytes]:
    """A regular file to read from little by little; at most so many bytes now, and it may grow."""
    if "\0" in str(path):
        raise NotRead(path, "its name holds a null character")
    if within is not None and not is_within(path, within):
        raise NotRead(path, f"it leads out of {within.name or within}")
    check(path, most)
    handle = os.open(path, _FLAGS)
    try:
        _refuse(path, os.fstat(handle), most)  # it may be another file by now
    except BaseException:
        os.close(handle)
        raise
    return os.fdopen(handle, "rb")


def read_text(path: Path, most: int, *, within: Path | None = None) -> str:
    """The same as text."""
    return read_bytes(path, most, within=within).decode("utf-8")


def read_source(path: Path, *, within: Path | None = None) -> bytes:
    """A Python file or notebook."""
    return read_bytes(path, largest_source(path), within=within)


def largest_source(path: Path) -> int:
    """The most bytes that a Python file or notebook of this name may have."""
    return LARGEST_NOTEBOOK if path.suffix == ".ipynb" else LARGEST_SOURCE


def check(path: Path, most: int | None = None) -> os.stat_result:
    """The state of a regular file; raises `NotRead` for anything else, and for one that is too large."""
    found = os.stat(path)
    _refuse(path, found, most)
    return found


def check_stored(path: Path, most: int | None = None) -> None:
    """The same for files that others than we read, and that are on a disk: of the kernel's some keep a reader waiting."""
    if check(path, most).st_size == 0:
        with open_bytes(path) as file:
            if file.read(1) != b"":
                raise _of_the_kernel(path)


def real(path: Path) -> Path:
    """Where a path leads; `Path.resolve` raises an error for a circle of links, which a workspace may hold."""
    return Path(os.path.realpath(path))


def is_within(path: Path, folder: Path) -> bool:
    """Whether a path lies in a folder when all links are followed."""
    return real(path).is_relative_to(real(folder))


def _refuse(path: Path, found: os.stat_result, most: int | None) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise NotRead(path, "it is a folder")
    if not stat.S_ISREG(found.st_mode):
        raise NotRead(path, "it is not a regular file")
    if most is not None and found.st_size > most:
        raise _too_large(path, most)


def _of_the_kernel(path: Path) -> NotRead:
    return NotRead(path, "it is a file of the kernel")


def _too_large(path: Path, most: int) -> NotRead:
    return NotRead(path, f"it is larger than {most // MEGABYTE} MB")
