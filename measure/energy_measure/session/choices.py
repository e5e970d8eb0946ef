"""What could be measured: the programs of a folder, how long each took last time, and the interpreters for them."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from energy_data.database.database import Database
from energy_data.paths import absolute
from energy_data.problems import Problem
from energy_data.project_identity import project_ids
from energy_data.untrusted.printable import one_line
from energy_measure.problems import MeasureProblem
from energy_measure.program.interpreter_search import interpreters
from energy_measure.program.interpreters import find_interpreter
from energy_measure.program.requirements import declared_requirements
from energy_measure.request import MeasureRequest
from energy_measure.session.preparing import entries_of
from energy_measure.storage import database_path


def choices(request: MeasureRequest) -> dict[str, Any]:
    """As `energy-lsp measure --list --format json` prints it; nothing of the project runs."""
    path = request.path
    if not path.exists():
        raise MeasureProblem(f"There is no {path}; give a script, a notebook or a project folder.")
    folder = path if path.is_dir() else absolute(path).parent
    before = _seconds_before(database_path(request.database), request.project.resolve())
    chosen, problem = _chosen(request, folder)
    try:
        programs = [str(entry) for entry in entries_of(request)]
    except MeasureProblem as none:
        programs, problem = [], problem or str(none)
    return {
        "programs": [
            {"file": name, "seconds": before.get(str((path / name if path.is_dir() else path).resolve()))}
            for name in programs
        ],
        "python": chosen,
        "problem": None if problem is None else one_line(problem),
        "interpreters": [
            {
                "path": str(one.path),
                "version": ".".join(map(str, one.version)),
                "tensorflow": one.has_tensorflow,
                "keras": one.has_keras,
            }
            for one in interpreters(absolute(folder), absolute(request.project))
        ],
        "can_create": _can_create(folder),
    }


def _chosen(request: MeasureRequest, folder: Path) -> tuple[str | None, str | None]:
    """The interpreter that would be taken, or why none would do."""
    try:
        return str(
            find_interpreter(absolute(folder), absolute(request.project), request.options.python).path
        ), None
    except MeasureProblem as problem:
        return None, str(problem)


def _can_create(folder: Path) -> bool:
    try:
        declared_requirements(folder)
    except MeasureProblem:
        return False
    return True


def _seconds_before(database: Path, project: Path) -> Mapping[str, float]:
    """How long the scripts of a project took when they were last measured."""
    if not database.exists():
        return {}
    try:
        with Database.read(database) as opened:
            ids = project_ids(project)
            runs = [run for run in opened.runs() if run.project_id in ids or run.project == str(project)]
    except (Problem, sqlite3.Error):
        return {}  # what is wrong with it is said when it is written to
    named = [(run.command.removeprefix("python ").split(" ")[0], run.seconds) for run in runs]
    return {str((project / name).resolve()): seconds for name, seconds in named}
