"""What to measure and how: from the command line, else `[tool.energy-lsp.measure]`, else the defaults."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from energy_data.paths import outside_packages
from energy_data.untrusted.printable import one_line
from energy_data.untrusted.toml import BadSettings, read_toml, usable, usable_path
from energy_measure.problems import MeasureProblem

INSIDE = ("auto", "all", "off")
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
    events: bool = False
    """Keep the start and end of every call, not of the longest alone."""
    period_ms: float = 0.0
    """Milliseconds between samples; 0: what suits the meter."""
    active_watts: float = 0.0
    """Watts that one busy CPU draws above idle, for the estimate without sensors; 0: what is published, else a mean."""
    inside: str = "auto"
    """Whether to look inside of calls: `auto` (windows of steps), `all` (every step), `off`."""


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
    keep_arguments: bool = False
    """Store the values of the program's arguments too, which may be secrets."""


def project_root(path: Path) -> Path:
    """The nearest folder above a path with a `pyproject.toml` or a repository, else its own or that of its package."""
    start = path if path.is_dir() else path.parent
    for folder in (start, *start.parents):
        if any((folder / mark).exists() for mark in PROJECT_MARKS):
            return folder
    return outside_packages(start)


def read_options(
    project: Path, *, note: Callable[[str], None] = lambda sentence: None, **given: Any
) -> MeasureOptions:
    """Options from the project's settings, overruled by those given (None and empty ones are not given).

    `note` is told of values that no option can mean, in whose place the default is taken.
    """
    asked_for = {name: value for name, value in given.items() if value not in (None, ())}
    options = MeasureOptions(**{**_from_pyproject(project, note), **asked_for})
    if options.quick and "repeat" not in asked_for:
        options = replace(options, repeat=1)
    if options.active_watts and not 0 < options.active_watts < 1000:
        raise MeasureProblem(
            f"One busy CPU does not draw {options.active_watts:g} W; give a number such as 4.5."
        )
    if options.inside not in INSIDE:
        raise MeasureProblem(f"Calls cannot be looked into {options.inside!r}; take {', '.join(INSIDE)}.")
    if options.repeat < 1:
        raise MeasureProblem(f"A program cannot be repeated {options.repeat} times; take 1 or more.")
    return options


def _from_pyproject(project: Path, note: Callable[[str], None]) -> dict[str, Any]:
    path = project / "pyproject.toml"
    try:
        table = read_toml(path, within=project)
    except FileNotFoundError:
        return {}
    except BadSettings as problem:
        raise MeasureProblem(f"{path} cannot be read ({problem}); mend it first.") from problem
    section: Any = table
    for name in ("tool", "energy-lsp", "measure"):
        section = section.get(name, {})
        if not isinstance(section, dict):
            raise MeasureProblem(f"{path}: {name} must be a table; mend it first.")
    known = {option.name: option for option in fields(MeasureOptions)}
    chosen: dict[str, Any] = {}
    for key, value in section.items():
        name = key.replace("-", "_")
        if name not in known:
            names = ", ".join(option.replace("_", "-") for option in known)
            raise MeasureProblem(
                f"{path}: [tool.energy-lsp.measure] has no option {one_line(key, 60)}; it has {names}."
            )
        try:
            usable(value)
            if name == "python":
                usable_path(str(value))
        except ValueError as problem:
            note(f"{path}: {key} in [tool.energy-lsp.measure] {problem}; the default is used.")
        else:
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
