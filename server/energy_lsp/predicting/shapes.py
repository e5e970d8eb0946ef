"""The shapes that the calls of a file are given: as its own program tells them, and those that import it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from energy_code.model import Call
from energy_code.static_shapes.parameters import parameters
from energy_code.static_shapes.program import shapes_of_program
from energy_code.static_shapes.project_modules import finder
from energy_code.static_shapes.walking.notes import Found, Place
from energy_code.workspace.notebook import Notebook, NotebookProblem
from energy_code.workspace.project import Project
from energy_data.untrusted.reading import real

MOST_PROGRAMS = 8
"""Files that import one and are gone through for it."""

Recorded = Mapping[tuple[int, int], tuple[str, ...]]
"""Shapes that a run saw at a call, by its line and column (bytes)."""


def place_of(call: Call) -> Place:
    """Where a call stands, as the shapes of a file are kept."""
    span = call.span
    return span.start.row + 1, span.start.column, span.end.row + 1, span.end.column


def argument_shapes(call: Call, found: Found) -> list[dict[str, str]]:
    """The shapes of a call's arguments, and where each is known from."""
    names = _parameters(call.api)
    rows: list[dict[str, str]] = []
    for asked in found.get(place_of(call), ()):
        for label, shape, written in asked.arguments:
            place = int(label) if label.isdigit() else None
            name = label if place is None else names[place] if place < len(names) else f"#{place + 1}"
            source = "recorded" if asked.recorded else "written" if written else "source"
            rows.append({"name": name, "shape": shape, "from": source})
    return rows


def _parameters(api: str) -> Sequence[str]:
    short = api.rpartition(".")[2]
    if short == "__call__":
        return ("inputs",) if ".losses." not in api else ("y_true", "y_pred")
    return parameters().get(api) or parameters().get(f"keras.Model.{short}") or ()


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
        return Notebook.read(data).document.lines().source.decode("utf-8", "replace")
    return data.decode("utf-8", errors="replace")
