"""The Python files and notebooks below a path."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from energy_data.paths import absolute
from energy_data.untrusted.walking import walk

SKIPPED = frozenset(
    {".git", ".hg", ".venv", "venv", "node_modules", "__pycache__", ".tox", ".nox", "build", "dist"}
)
SUFFIXES = frozenset({".py", ".ipynb"})


def find_files(paths: Sequence[Path]) -> list[Path]:
    """Python files and notebooks at and below the paths, each once, in a stable order."""
    found: dict[Path, None] = {}
    for path in paths:
        for file in _walk(path) if path.is_dir() else [path]:
            found[absolute(file)] = None
    return list(found)


def _walk(root: Path) -> Iterator[Path]:
    for folder, files in walk(root, lambda folder, name: name in SKIPPED or name.startswith(".")):
        for name in files:
            if os.path.splitext(name)[1] in SUFFIXES:
                yield folder / name
