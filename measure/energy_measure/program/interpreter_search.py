"""The interpreters of this machine that could run a project, for a picker: those with TensorFlow or Keras first."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import platformdirs

from energy_measure.program.interpreters import OLDEST, Interpreter, inspect_interpreter, python_of

MOST = 40
"""So many are asked; each is a process."""
AT_ONCE = 4
ENVIRONMENT_NAMES = (".venv", "venv", "env")
HOMES_OF_ENVIRONMENTS = (
    ".virtualenvs",
    "miniconda3/envs",
    "anaconda3/envs",
    "miniforge3/envs",
    ".conda/envs",
    ".pyenv/versions",
)


def interpreters(folder: Path, project: Path) -> list[Interpreter]:
    """What could run a program in a folder: the project's own first, then by what they have."""
    found_first: dict[tuple[Path, str], Path] = {}
    for path in _places(folder, project):
        if path.exists():  # python, python3 and python3.12 of one folder are one interpreter
            found_first.setdefault((path.parent, os.path.realpath(path)), path)
    places = list(found_first.values())[:MOST]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = [one for one in pool.map(inspect_interpreter, places) if one and one.version >= OLDEST]
    return sorted(found, key=lambda one: not one.can_measure)


def _places(folder: Path, project: Path) -> Iterator[Path]:
    for place in (folder, *folder.parents):
        yield from (python_of(place / name) for name in ENVIRONMENT_NAMES)
        if place == project:
            break
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        if os.environ.get(variable):
            yield python_of(Path(os.environ[variable]))
    yield Path(sys.executable)
    for name in ("python3", "python", *(f"python3.{minor}" for minor in range(14, 8, -1))):
        if on_path := shutil.which(name):
            yield Path(on_path)
    made = Path(platformdirs.user_cache_dir("energy-lsp", appauthor=False)) / "environments"
    for home in (made, *(Path.home() / name for name in HOMES_OF_ENVIRONMENTS)):
        if home.is_dir():
            yield from (python_of(one) for one in sorted(home.iterdir()) if one.is_dir())
