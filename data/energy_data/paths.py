"""Where energy databases live."""

from __future__ import annotations

import os
from pathlib import Path

from energy_data.problems import Problem

ENVIRONMENT_VARIABLE = "ENERGY_LSP_DB"
PROJECT_MARKS = ("pyproject.toml", ".git")
TEAM_DATABASE = Path(".energy") / "energy.db"
"""A team's database, relative to the project; checked in, and only ever read."""


def user_database() -> Path:
    """This machine's own database: `ENERGY_LSP_DB` if set, else the standard one."""
    chosen = os.environ.get(ENVIRONMENT_VARIABLE)
    if not chosen:
        return standard_database()
    try:
        return Path(chosen).expanduser()
    except RuntimeError:
        raise Problem(
            f"{ENVIRONMENT_VARIABLE} names a user that is not known here ({chosen}): set it to another file."
        ) from None


def standard_database() -> Path:
    """The database in the user's data folder."""
    import platformdirs  # loaded here: the common case of a given path does without

    return Path(platformdirs.user_data_dir("energy-lsp", appauthor=False)) / "energy.db"


def team_database(project: Path) -> Path:
    """The database that a team checked in with a project."""
    return project / TEAM_DATABASE


def salt_file() -> Path:
    """What keeps the names of folders in shared databases from being guessed."""
    return standard_database().with_name("salt")


def absolute(path: Path) -> Path:
    """A path from the root on, without `..`: what lies above `here/../there` is not what lies above `here`."""
    return Path(os.path.abspath(path))


def project_root(path: Path) -> Path:
    """The nearest folder above a path with a `pyproject.toml` or a repository, else its own or that of its package."""
    path = absolute(path)
    start = path if path.is_dir() else path.parent
    return next(
        (folder for folder in (start, *start.parents) if is_marked(folder)), None
    ) or outside_packages(start)


def is_marked(folder: Path) -> bool:
    """Whether something says that a folder is a project."""
    return any(os.path.exists(folder / mark) for mark in PROJECT_MARKS)


def outside_packages(folder: Path) -> Path:
    """The folder that a program is started from, where nothing else marks a project: packages are parts of one."""
    while (folder / "__init__.py").is_file() and folder.parent != folder:
        folder = folder.parent
    return folder
