"""Keeps a program that runs in a copy of its project from writing to the original (Python 3.8 to 3.13).

A program may name files of its project by absolute paths. Python tells its audit hooks before it opens, moves or removes a
file, so such a write fails before anything has happened, and a note says which. What compiled libraries write by themselves
is not told: whoever started the program compares the original afterwards.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from typing import Any, List, Tuple  # noqa: UP035 - Python 3.8

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
PATHS = {
    "os.remove": 1,
    "os.rmdir": 1,
    "os.mkdir": 1,
    "os.truncate": 1,
    "os.chmod": 1,
    "os.rename": 2,
    "shutil.rmtree": 1,
}
"""How many of an event's first arguments are paths that it changes."""
MADE = {"os.link", "os.symlink"}
"""Events whose second argument is the path that is made."""


WHOLE = {"os.rename", "shutil.rmtree"}
"""Events that take all that a folder holds with it."""
TOOLS = frozenset({"node_modules", "__pycache__", "site-packages", "venv", "env", "build", "dist"})
"""Folders that belong to tools, like hidden ones; no copy has them."""


def protect(original: str, copy: str, noted: str) -> None:
    """Let writing below `original` fail, but not below `copy`; the path goes to the file `noted`."""
    top, own = _folder(original), _folder(copy)
    temporary = tuple(folder for folder in map(_folder, _temporary_folders()) if folder.startswith(top))
    begun = time.time() - 2.0  # clocks of file systems are coarse

    def is_kept(event: str, path: str) -> bool:
        if event in WHOLE and top.startswith(_folder(path)):
            return True
        if not path.startswith(top) or path.startswith(own):
            return False
        if event in ("open", "os.mkdir") and os.path.isdir(path):
            return False  # changes nothing; tempfile opens its folder
        if path.startswith(temporary):  # a project that holds the folder for temporary files
            with contextlib.suppress(OSError):
                return os.lstat(path).st_mtime < begun
            return False
        folders = path[len(top) :].split(os.sep)[:-1]
        return not any(name.startswith(".") or name in TOOLS for name in folders)

    def hook(event: str, arguments: Tuple[Any, ...]) -> None:  # noqa: UP006
        for given in _changed(event, arguments):
            if not isinstance(given, (str, bytes, os.PathLike)) or not os.path.isabs(os.fspath(given)):
                continue  # relative: below the copy, where the program was started
            path = os.path.realpath(os.fsdecode(given))
            if is_kept(event, path):
                _note(path, noted)
                raise PermissionError(f"{path} belongs to the original: this is a trial on a copy")

    sys.addaudithook(hook)


def _note(path: str, noted: str) -> None:
    try:
        with open(noted, "a", encoding="utf-8", errors="replace") as file:
            file.write(path + "\n")
    except OSError:
        return


def _folder(path: str) -> str:
    return os.path.join(os.path.realpath(path), "")


def _temporary_folders() -> List[str]:  # noqa: UP006
    """Those that `tempfile` would take, which is not imported for this."""
    named = [os.environ.get(name, "") for name in ("TMPDIR", "TEMP", "TMP")]
    return [path for path in (*named, "/tmp", "/var/tmp") if path]


def _changed(event: str, arguments: Tuple[Any, ...]) -> Tuple[Any, ...]:  # noqa: UP006
    """The paths that an event changes."""
    if event == "open":
        return arguments[:1] if isinstance(arguments[2], int) and arguments[2] & WRITING else ()
    if event in MADE:
        return arguments[1:2]
    return arguments[: PATHS.get(event, 0)]
