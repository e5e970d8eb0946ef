"""Where energy databases live."""

from __future__ import annotations

import os
from pathlib import Path

ENVIRONMENT_VARIABLE = "ENERGY_LSP_DB"
TEAM_DATABASE = Path(".energy") / "energy.db"
"""A team's database, relative to the project; checked in, and only ever read."""


def user_database() -> Path:
    """This machine's own database: `ENERGY_LSP_DB` if set, else the standard one."""
    chosen = os.environ.get(ENVIRONMENT_VARIABLE)
    return Path(chosen).expanduser() if chosen else standard_database()


def standard_database() -> Path:
    """The database in the user's data folder."""
    import platformdirs  # loaded here: the common case of a given path does without

    return Path(platformdirs.user_data_dir("energy-lsp", appauthor=False)) / "energy.db"


def team_database(project: Path) -> Path:
    """The database that a team checked in with a project."""
    return project / TEAM_DATABASE
