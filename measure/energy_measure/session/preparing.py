"""What to run, with which interpreter, and the program with its probes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from energy_code.model import Call
from energy_code.workspace.notebook import NotebookProblem
from energy_code.workspace.project import Project
from energy_data.paths import absolute
from energy_data.untrusted.reading import real
from energy_measure.problems import MeasureProblem
from energy_measure.program.call_sites import Instrumented
from energy_measure.program.entry_points import (
    find_entry_points,
    named_entry_points,
    python_files,
    some_python_files,
)
from energy_measure.program.imports import makes_up_names, reached_files
from energy_measure.program.interpreters import (
    Interpreter,
    create_environment,
    find_interpreter,
    inspect_interpreter,
)
from energy_measure.request import MeasureRequest

MOST_FILES = 400
"""Files that are instrumented because a program might import any of them."""


def interpreter_for(request: MeasureRequest, folder: Path) -> Interpreter:
    """The interpreter asked for, made for the project, or found beside it."""
    asked_for = request.options.python
    if not request.create_env:
        return find_interpreter(absolute(folder), absolute(request.project), asked_for)
    made = inspect_interpreter(create_environment(folder, asked_for))
    if made is None or not made.can_measure:
        raise MeasureProblem(
            f"The requirements of {folder} bring neither TensorFlow nor Keras along; add one to them, or name "
            "an interpreter that has it with --python."
        )
    return made


def entries_of(request: MeasureRequest) -> list[Path]:
    """What to run, as it is named on a command line in the folder where it runs."""
    path = request.path
    if not path.is_dir():
        return [path]
    if request.options.entry:
        found = named_entry_points(path, request.options.entry)
    else:
        project = Project(path)

        def calls_of(file: Path) -> Sequence[Call]:
            analysis = project.analyse(file)
            return analysis.calls() if analysis is not None else ()

        found = find_entry_points(path, python_files(path), calls_of)
    return [Path(os.path.relpath(entry, path)) for entry in found]


def instrumented_program(request: MeasureRequest, entries: Sequence[Path]) -> Instrumented:
    """The program with probes: all of a folder, else a script or notebook and what it imports."""
    instrumented = Instrumented()
    whole = request.path.is_dir()
    path = absolute(request.path)
    root = path if whole else path.parent
    project = Project(root)
    project.named.add(real(path))
    cells = None
    for notebook in [root / entry for entry in entries] if whole else [path]:
        if notebook.suffix == ".ipynb":
            try:
                cells = instrumented.add_notebook(notebook, project, request.project)
            except NotebookProblem as problem:
                raise MeasureProblem(str(problem)) from problem
    files = python_files(root) if whole else _files_of(path, cells, absolute(request.project))
    if not all(file.is_relative_to(root) for file in files):
        project = Project(absolute(request.project))
        project.named.add(real(path))
    for file in files:
        instrumented.add_file(file, project, request.project)
    if not instrumented.sites:
        for entry in entries if whole else [path]:
            if entry.suffix == ".py":
                instrumented.note_syntax(root / entry, request.project)
        if instrumented.problems:
            raise MeasureProblem(" ".join(instrumented.problems))
        raise MeasureProblem(f"{path} calls no TensorFlow or Keras API that could be measured.")
    return instrumented


def _files_of(path: Path, cells: bytes | None, project: Path) -> list[Path]:
    """A script and what it imports (a notebook's cells: what they import); all of its project where names are made up."""
    files = reached_files(path, cells, project)
    if any(map(makes_up_names, files)) or (cells is not None and makes_up_names(path, cells)):
        files += [file for file in some_python_files(project, MOST_FILES) if file not in files]
    return files
