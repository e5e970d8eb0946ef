"""Which project a folder is, wherever it lies: what its measurements are kept and found under.

A repository is known by its first commit, so that all clones are one project; a folder inside of it that is a project of
its own has its path added. What has no commit is known by a salted hash of where it lies: the same on this machine as long
as nobody moves it, and nothing that tells another machine's reader the path.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from energy_data.paths import salt_file
from energy_data.untrusted.git import ask_git
from energy_data.untrusted.reading import read_text
from energy_data.untrusted.writing import create, private_folder


def project_id(root: Path) -> str:
    """What new measurements of a project are kept under."""
    return project_ids(root)[0]


def project_ids(root: Path) -> tuple[str, ...]:
    """All that a project's measurements may be kept under: a repository had no commit once."""
    return _project_ids(os.path.realpath(root))


@lru_cache(maxsize=64)
def _project_ids(root: str) -> tuple[str, ...]:
    folder = folder_id(root)
    commit = _first_commit(root)
    return (commit, folder) if commit else (folder,)


@lru_cache(maxsize=1024)
def folder_id(root: str | Path) -> str:
    """What a folder without a commit is known by."""
    place = (_salt() + os.path.realpath(root)).encode("utf-8", "surrogateescape")
    return f"folder-{hashlib.sha256(place).hexdigest()[:32]}"


def _first_commit(root: str) -> str:
    """The first commit, and the path of the folder in the repository; empty where none is known."""
    if ask_git(root, "rev-parse", "--is-shallow-repository") != "false":
        return ""
    commits = ask_git(root, "rev-list", "--first-parent", "--max-parents=0", "HEAD").split()
    if not commits:
        return ""
    inside = ask_git(root, "rev-parse", "--show-prefix").rstrip("/")
    return f"{commits[-1]}/{inside}" if inside else commits[-1]


@lru_cache(maxsize=1)
def _salt() -> str:
    """This user's own salt, made on first use; where nothing can be written, none."""
    path = salt_file()
    with suppress(OSError):  # it is there already, or cannot be made
        private_folder(path.parent)
        with os.fdopen(create(path), "w", encoding="ascii") as file:
            file.write(secrets.token_hex(16))
    try:
        return read_text(path, 1000).strip()
    except (OSError, UnicodeDecodeError):
        return ""
