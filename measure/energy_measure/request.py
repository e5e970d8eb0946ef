"""What to measure and how: from the command line, else `[tool.energy-lsp.measure]`, else the defaults."""

from __future__ import annotations

import sys
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from energy_measure.problems import MeasureProblem

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PROJECT_MARKS = ("pyproject.toml", ".git")


@dataclass(frozen=True, slots=True)
class MeasureOptions:
    """What `[tool.energy-lsp.measure]` may hold, with dashes for underscores."""

    entry: tuple[str, ...] = ()
    """Entry points of a project folder."""
    python: str = ""
    """Interpreter that runs the program."""
    repeat: int = 5
    """Runs of the whole program."""
    meter: str = "auto"
    quick: bool = False
    """Short rests and short replays, and one run unless another number is asked for: a first look."""
    timeout: float = 0.0
    """Seconds that one run of the program may take; 0: as long as it likes."""
    arguments: tuple[str, ...] = ()
    """Arguments of the program."""
    period_ms: float = 0.0
    """Milliseconds between samples; 0: what suits the meter."""


@dataclass(frozen=True, slots=True)
class MeasureRequest:
    """One measurement that somebody asked for."""

    path: Path
    """A script, a notebook or a project folder."""
    project: Path
    """The folder that file names in the database are relative to."""
    options: MeasureOptions
    create_env: bool = False
    program_output: Path | None = None
    """Where what the program prints goes; None: to standard error."""
    database: Path | None = None
    """None: this machine's own."""


def project_root(path: Path) -> Path:
    """The nearest folder above a path with a `pyproject.toml` or a repository, else the path's own folder."""
    start = path if path.is_dir() else path.parent
    for folder in (start, *start.parents):
        if any((folder / mark).exists() for mark in PROJECT_MARKS):
            return folder
    return start


def read_options(project: Path, **given: Any) -> MeasureOptions:
    """Options from the project's settings, overruled by those given (None and empty ones are not given)."""
    asked_for = {name: value for name, value in given.items() if value not in (None, ())}
    options = MeasureOptions(**{**_from_pyproject(project), **asked_for})
    if options.quick and "repeat" not in asked_for:
        options = replace(options, repeat=1)
    if options.repeat < 1:
        raise MeasureProblem(f"A program cannot be repeated {options.repeat} times; take 1 or more.")
    return options


def _from_pyproject(project: Path) -> dict[str, Any]:
    path = project / "pyproject.toml"
    try:
        table = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as problem:
        raise MeasureProblem(f"{path} cannot be read ({problem}); mend it first.") from problem
    section = table.get("tool", {}).get("energy-lsp", {}).get("measure", {})
    known = {option.name: option for option in fields(MeasureOptions)}
    chosen: dict[str, Any] = {}
    for key, value in section.items():
        name = key.replace("-", "_")
        if name not in known:
            names = ", ".join(option.replace("_", "-") for option in known)
            raise MeasureProblem(f"{path}: [tool.energy-lsp.measure] has no option {key}; it has {names}.")
        chosen[name] = _checked(path, key, value, getattr(MeasureOptions(), name))
    return chosen


def _checked(path: Path, key: str, value: Any, default: Any) -> Any:
    if isinstance(default, tuple):
        texts = [value] if isinstance(value, str) else value
        if isinstance(texts, list) and all(isinstance(text, str) for text in texts):
            return tuple(texts)
    elif isinstance(default, float):
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value)
    elif type(value) is type(default):
        return value
    kind = {tuple: "a list of texts", float: "a number", int: "a whole number", bool: "true or false"}
    expected = kind.get(type(default), "a text")
    raise MeasureProblem(f"{path}: {key} in [tool.energy-lsp.measure] must be {expected}.")
