"""The shapes that the calls of a file are given: as its own program tells them, and those that import it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from energy_code.static_shapes.project_modules import finder
from energy_code.static_shapes.walk import Found, shapes_of_program
from energy_code.workspace.notebook import Notebook, NotebookProblem
from energy_code.workspace.project import Project
from energy_data.untrusted.reading import real

MOST_PROGRAMS = 8
"""Files that import one and are gone through for it."""

Recorded = Mapping[tuple[int, int], tuple[str, ...]]
"""Shapes that a run saw at a call, by its line and column (bytes)."""


def shapes_of(path: Path, source: str, project: Project, recorded: Recorded | None = None) -> Found:
    """The shapes at the calls of a file; `source`: its text, of a notebook all cells as one program."""
    path = real(path)
    found = _program(path, source, project, recorded).get(str(path), {})
    for importer in sorted(project.importing(path) - {path})[:MOST_PROGRAMS]:
        try:
            data = project.read(importer)
            text = _text(importer, data)
        except (OSError, NotebookProblem):
            continue
        for place, asked in _program(importer, text, project, None).get(str(path), {}).items():
            found.setdefault(place, asked)
    return found


def _program(path: Path, source: str, project: Project, recorded: Recorded | None) -> dict[str, Found]:
    def name_of(file: Path) -> str:
        return str(real(file))

    return shapes_of_program(source, str(path), finder(path, project.root, project.read, name_of), recorded)


def _text(path: Path, data: bytes) -> str:
    if path.suffix == ".ipynb":
        return Notebook.read(data).document.lines.source.decode("utf-8", "replace")
    return data.decode("utf-8", errors="replace")
