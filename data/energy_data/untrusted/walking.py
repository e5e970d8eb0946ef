"""Going through the folders of others: links are not entered, and depth costs no stack."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path


def walk(root: Path, is_skipped: Callable[[Path, str], bool]) -> Iterator[tuple[Path, list[str]]]:
    """Each folder with the sorted names of what is no folder in it; one that cannot be listed counts as empty.

    `os.walk` calls itself for each level before Python 3.12: a thousand nested folders were its end.
    """
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        folders: list[str] = []
        files: list[str] = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    is_folder = entry.is_dir(follow_symlinks=False)
                    if is_folder or not _leads_to_folder(entry):
                        (folders if is_folder else files).append(entry.name)
        except OSError:
            continue
        yield folder, sorted(files)
        names = sorted((name for name in folders if not is_skipped(folder, name)), reverse=True)
        waiting += [folder / name for name in names]


def _leads_to_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_symlink() and entry.is_dir()
    except OSError:  # a circle of links
        return False
