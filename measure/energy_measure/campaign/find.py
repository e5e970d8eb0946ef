"""Finds what can be measured in a folder of repositories, as GreenLight chose its projects, and writes a plan for it.

A project is taken when it uses TensorFlow 2 or Keras, declares what it requires, and has something to run.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from energy_code.model import Call
from energy_code.workspace.notebook import Notebook, NotebookProblem
from energy_code.workspace.project import Project
from energy_data.untrusted.reading import read_bytes, read_source
from energy_measure.problems import MeasureProblem
from energy_measure.program.entry_points import (
    find_entry_points,
    notebook_files,
    python_files,
)
from energy_measure.program.imports import reached_files
from energy_measure.program.interpreters import python_of
from energy_measure.program.requirements import declared_requirements

FRAMEWORKS = re.compile(
    r"^[ \t]*[\"']?(?:tensorflow(?:[-_](?:cpu|gpu|macos|intel|rocm|text))?|tf[-_]nightly[\w.-]*|tf[-_]keras"
    r"|keras(?:[-_](?:hub|nlp|cv|tuner|nightly))?)(?![\w-])",
    re.IGNORECASE | re.MULTILINE,
)
"""Packages that bring TensorFlow or Keras along; many others have their names in theirs."""
OLD_PIN = re.compile(
    r"^[ \t]*tensorflow(?:-gpu|-cpu)?\b[^\n;#]*(?:(?:==|~=|<=|<|\^|~)\s*1\.|<\s*2(?:\.0)*(?![.\d]))",
    re.IGNORECASE | re.MULTILINE,
)
OLD_CODE = re.compile(
    rb"\btf\.(?:compat\.v1\.)?(?:Session|placeholder|get_default_graph)\(|disable_v2_behavior"
)
OTHER_DECLARATIONS = (
    "environment.y*ml", "*env*.y*ml", "requirements*.txt", "requirements/*.txt", "setup.py", "setup.cfg", "Pipfile",
)  # fmt: skip
"""Files that say what is required in a way that no environment is made from here."""
LARGEST_FILE = 2_000_000


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A folder that is no such project, or an entry point that cannot run, and why."""

    path: Path
    why: str


@dataclass(frozen=True, slots=True)
class FoundProject:
    """A project that can be measured."""

    path: Path
    entries: tuple[str, ...]
    create_env: bool
    """It has no environment of its own yet."""
    search: str = ""
    """Folders of it that its entry points import from and Python would not look in (`PYTHONPATH`)."""
    left_out: tuple[LeftOut, ...] = ()
    """Entry points that are not taken."""


def find_projects(folder: Path) -> tuple[list[FoundProject], list[LeftOut]]:
    """The projects among the folders of a folder, and why the others are none."""
    found: list[FoundProject] = []
    left_out: list[LeftOut] = []
    for place in sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")):
        try:
            found.append(_project(place))
        except MeasureProblem as reason:
            left_out.append(LeftOut(place, str(reason)))
    return found, left_out


def _project(place: Path) -> FoundProject:
    declared = _declared(place)
    if OLD_PIN.search(declared):
        raise MeasureProblem("it requires TensorFlow 1")
    files = python_files(place)
    project = Project(place)
    calls = {file: _calls(project, file) for file in files}
    notebooks = {path: program for path in notebook_files(place) if (program := _program(project, path))}
    if not any(calls.values()) and not notebooks:
        raise MeasureProblem("it calls no TensorFlow or Keras API")
    if not declared:
        raise MeasureProblem(
            f"it declares no requirements (requirements.txt, or dependencies in pyproject.toml){_instead(place)}"
        )
    if not FRAMEWORKS.search(declared):
        raise MeasureProblem("its requirements name neither TensorFlow nor Keras")
    entries: list[Path] = list(notebooks)
    try:
        entries += find_entry_points(place, files, lambda file: calls[file])
    except MeasureProblem:
        if not notebooks:
            raise MeasureProblem(
                "no script or notebook in it can be run: none calls an API from its top level"
            ) from None
    old = {entry for entry in entries if _is_old(entry, notebooks.get(entry))}
    if len(old) == len(entries):
        raise MeasureProblem("it is written for TensorFlow 1 (sessions and placeholders)")
    taken = [entry for entry in entries if entry not in old]
    return FoundProject(
        place,
        tuple(sorted(_within(place, entry) for entry in taken)),
        create_env=not python_of(place / ".venv").exists(),
        search=_search(place, {entry: notebooks.get(entry) for entry in taken}),
        left_out=tuple(LeftOut(entry, "written for TensorFlow 1") for entry in sorted(old)),
    )


def _search(place: Path, entries: Mapping[Path, bytes | None]) -> str:
    """Examples of a package import it as if it were installed: it is not, so Python is told where it lies."""
    far = {
        path
        for entry, program in entries.items()
        for path in {*reached_files(entry, program, place)} - {*reached_files(entry, program)}
    }
    folders = {"src" if path.is_relative_to(place / "src") else "." for path in far}
    return os.pathsep.join(sorted(folders))


def _within(place: Path, path: Path) -> str:
    return Path(os.path.relpath(path, place)).as_posix()


def _declared(place: Path) -> str:
    """What the project says that it requires, a line each; nothing where that cannot be read."""
    try:
        return declared_requirements(place).text
    except (MeasureProblem, OSError, ValueError, AttributeError, RecursionError):
        return ""


def _instead(place: Path) -> str:
    """What else a person could make an environment from."""
    others = sorted({path.name for pattern in OTHER_DECLARATIONS for path in place.glob(pattern)})
    if not others:
        return ""
    return f"; it has {', '.join(others)}: make an environment by hand and name it as `python` in the plan"


def _is_old(entry: Path, program: bytes | None) -> bool:
    """Whether an entry point, or a module beside it that it imports, uses what TensorFlow 2 took away."""
    texts = [program] if program is not None else []
    texts += [_content(path) for path in reached_files(entry, program)]
    return any(OLD_CODE.search(text) for text in texts)


def _content(path: Path) -> bytes:
    try:
        return read_bytes(path, LARGEST_FILE)
    except OSError:
        return b""


def _calls(project: Project, file: Path) -> Sequence[Call]:
    if not file.is_file() or file.stat().st_size > LARGEST_FILE:
        return ()
    analysis = project.analyse(file)
    return analysis.calls() if analysis is not None else ()


def _program(project: Project, path: Path) -> bytes:
    """The cells of a notebook that calls an API, as one program; nothing for others."""
    try:
        notebook = Notebook.read(read_source(path), path=path, project=project)
    except (OSError, NotebookProblem):
        return b""
    return notebook.document.source if notebook.analyse().calls() else b""


def plan_text(
    folder: Path, found: Sequence[FoundProject], left_out: Sequence[LeftOut], *, relative_to: Path
) -> str:
    """The plan as TOML, with what was left out as comments."""
    lines = [
        f"# Made by `energy-lsp campaign find`: {len(found)} taken, {len(left_out)} left out (below).",
        "[campaign]",
        f"name = {_quoted(folder.resolve().name)}",
        "repeat = 1",
        "quick = false",
        "timeout = 3600",
        f"database = {_quoted(folder.resolve().name + '.db')}",
    ]
    for project in found:
        lines += ["", "[[project]]", f"path = {_quoted(os.path.relpath(project.path, relative_to))}"]
        lines.append(f"entry = [{', '.join(map(_quoted, project.entries))}]")
        lines += [
            f"# {_comment(_within(project.path, one.path))} left out: {_comment(one.why)}"
            for one in project.left_out
        ]
        if project.create_env:
            lines.append("create-env = true")
        if project.search:
            lines.append(f"env = {{ PYTHONPATH = {_quoted(project.search)} }}")
    if left_out:
        lines += ["", "# Left out:"]
        lines += [f"# {_comment(one.path.name)}: {_comment(one.why)}" for one in left_out]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """A text as TOML has it: JSON's way of quoting is one of TOML's."""
    return json.dumps(text, ensure_ascii=True)


def _comment(text: str) -> str:
    """A file name may hold a line break: it must not become a line of the plan."""
    return "".join(character if character.isprintable() else "?" for character in text)
