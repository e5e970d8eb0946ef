"""What a project says that it requires: `requirements.txt` and what that includes, or `pyproject.toml` (PEP 621, Poetry)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from energy_data.paths import absolute
from energy_data.untrusted.reading import LARGEST_SETTINGS, read_text
from energy_data.untrusted.toml import BadSettings, read_toml
from energy_measure.problems import MeasureProblem

INCLUDE = re.compile(r"^[ \t]*(?:-r|-c|--requirement|--constraint)[ \t=]*([^\s#=][^\s#]*)", re.MULTILINE)
MOST_FILES = 50


@dataclass(frozen=True, slots=True)
class Requirements:
    """What to hand to pip, and what decides what it installs."""

    arguments: tuple[str, ...]
    """Of `pip install`; empty where Poetry has to be asked for them first."""
    text: str
    """A requirement a line: another text, another environment."""


def declared_requirements(project: Path) -> Requirements:
    """What a project requires; raises `MeasureProblem` if it does not say so."""
    listed = absolute(project) / "requirements.txt"
    if listed.exists():
        return _of_files([listed])
    declared = absolute(project) / "pyproject.toml"
    if declared.exists():
        tables = _tables(declared)
        dependencies = _list(_at(tables, "project").get("dependencies"))
        if dependencies:
            return Requirements(tuple(dependencies), "".join(f"{one}\n" for one in dependencies))
        dynamic = _at(tables, "tool", "setuptools", "dynamic", "dependencies").get("file")
        files = [dynamic] if isinstance(dynamic, str) else _list(dynamic)
        if files:
            return _of_files([declared.parent / name for name in files])
        poetry = _at(tables, "tool", "poetry", "dependencies")
        if poetry:
            return Requirements((), "".join(_poetry_lines(poetry)))
    raise MeasureProblem(
        f"{project} has neither a requirements.txt nor dependencies in a pyproject.toml to make an "
        "environment from; give an interpreter with --python."
    )


def _of_files(files: list[Path]) -> Requirements:
    arguments = [word for path in files for word in ("-r", str(path))]
    texts = {path: _text(path) for path in files}
    waiting = list(files)
    while waiting:
        path = waiting.pop()
        for included in INCLUDE.findall(texts[path]):
            other = path.parent / included
            if other not in texts and len(texts) < MOST_FILES and "://" not in included:
                texts[other] = _text_or_nothing(other)
                waiting.append(other)
    return Requirements(tuple(arguments), "\n".join(texts.values()))


def _poetry_lines(table: Mapping[str, Any]) -> Iterator[str]:
    """As Poetry has them, one a line; they are for reading, pip does not know its carets."""
    for name, wanted in table.items():
        version = wanted.get("version", wanted) if isinstance(wanted, dict) else wanted
        yield f"{name} {version}\n".replace("\n", " ").rstrip() + "\n"


def _at(tables: Mapping[str, Any], *names: str) -> dict[str, Any]:
    found: Any = tables
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def _list(value: Any) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else []


def _text(path: Path) -> str:
    try:
        return read_text(path, LARGEST_SETTINGS)
    except (OSError, ValueError) as problem:
        raise MeasureProblem(f"{path} cannot be read ({problem}); mend it, or use --python.") from problem


def _text_or_nothing(path: Path) -> str:
    """What pip cannot read either, it says better."""
    try:
        return read_text(path, LARGEST_SETTINGS)
    except (OSError, ValueError):
        return ""


def _tables(path: Path) -> dict[str, Any]:
    try:
        return read_toml(path)
    except BadSettings as problem:
        raise MeasureProblem(f"{path} cannot be read ({problem}); mend it, or use --python.") from problem
