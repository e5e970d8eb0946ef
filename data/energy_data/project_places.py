"""Where a project lies on this machine: in a file of its user's alone, and so in no database that is handed on.

A run names its project by its identity. What leads back into the files, as links of a page do, asks here.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path, PurePath

from energy_data.model import Run
from energy_data.paths import standard_database
from energy_data.untrusted.reading import read_text
from energy_data.untrusted.writing import private_folder, write_file

LONGEST_PATH = 10_000


def remember_place(project_id: str, root: Path) -> None:
    """Note where a project lies now; where nothing can be written, its runs have no links."""
    place = _note(project_id)
    with suppress(OSError, UnicodeError):
        private_folder(place.parent)
        write_file(place, os.path.realpath(root), private=True)


def place_of(run: Run) -> Path | None:
    """The folder of a run's project; None where nobody knows. Runs of earlier versions hold it themselves."""
    if PurePath(run.project).is_absolute():
        return Path(run.project)
    if not run.project_id:
        return None
    try:
        return Path(read_text(_note(run.project_id), LONGEST_PATH))
    except (OSError, ValueError):
        return None


def _note(project_id: str) -> Path:
    name = hashlib.sha256(project_id.encode("utf-8", "surrogateescape")).hexdigest()[:32]
    return standard_database().with_name("projects") / name
