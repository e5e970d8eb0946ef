"""What to measure and how: from the command line, else `[tool.energy-lsp.measure]`, else the defaults."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from energy_data.paths import project_root as project_root
from energy_data.untrusted.printable import one_line
from energy_data.untrusted.toml import BadSettings, read_toml, usable, usable_path
from energy_measure.problems import MeasureProblem

INSIDE = ("auto", "all", "off")
MOST_OPTIONS = 40
"""A table with more of them is no table of options."""


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


LIMITS: dict[str, tuple[float, float]] = {
    "repeat": (1, 100_000),
    "timeout": (0, 1e9),
    "period_ms": (1, 500),
    "active_watts": (1e-6, 1000),
}
"""What a number may be, beside 0 where that is the default; as the options of the command line."""


def read_options(
    project: Path, *, note: Callable[[str], None] = lambda sentence: None, **given: Any
) -> MeasureOptions:
    """Options from the project's settings, overruled by those given (None and empty ones are not given).

    `note` is told of values that no option can mean, in whose place the default is taken.
    """
    asked_for = {name: value for name, value in given.items() if value not in (None, ())}
    for name, value in asked_for.items():
        try:
            _check_limits(name, value)
        except ValueError as problem:
            raise MeasureProblem(f"{name.replace('_', '-')} {problem}.") from None
    options = MeasureOptions(**{**_from_pyproject(project, note), **asked_for})
    if options.quick and "repeat" not in asked_for:
        options = replace(options, repeat=1)
    return options


def _from_pyproject(project: Path, note: Callable[[str], None]) -> dict[str, Any]:
    path = project / "pyproject.toml"
    try:
        section: Any = read_toml(path, within=project)
    except FileNotFoundError:
        return {}
    except BadSettings as problem:
        note(f"{path} cannot be read ({problem}); its options are left out.")
        return {}
    for name in ("tool", "energy-lsp", "measure"):
        section = section.get(name, {})
        if not isinstance(section, dict):
            note(f"{path}: {name} must be a table; its options are left out.")
            return {}
    known = {option.name: getattr(MeasureOptions(), option.name) for option in fields(MeasureOptions)}
    chosen: dict[str, Any] = {}
    for count, (key, value) in enumerate(section.items()):
        name = key.replace("-", "_")
        where = f"{path}: {one_line(key, 60)} in [tool.energy-lsp.measure]"
        if count > MOST_OPTIONS:
            note(f"{path}: [tool.energy-lsp.measure] has more options than there are; the rest is left out.")
            break
        if name not in known:
            names = ", ".join(option.replace("_", "-") for option in known)
            note(f"{where} is no option, and left out; there are {names}.")
            continue
        try:
            chosen[name] = _checked(usable(value), known[name])
            _check_limits(name, chosen[name])
            if name == "python":
                usable_path(chosen[name])
        except ValueError as problem:
            chosen.pop(name, None)
            note(f"{where} {problem}; the default is used.")
    return chosen


def _checked(value: Any, default: Any) -> Any:
    """The value in the option's own type; raises ValueError with the end of a sentence."""
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
    raise ValueError(f"must be {kind.get(type(default), 'a text')}")


def _check_limits(name: str, value: Any) -> None:
    """Raises ValueError with the end of a sentence for what an option cannot be."""
    if name == "inside" and value not in INSIDE:
        raise ValueError(f"must be one of {', '.join(INSIDE)}")
    if name in LIMITS and value != getattr(MeasureOptions(), name):
        least, most = LIMITS[name]
        if not least <= value <= most:
            raise ValueError(f"must be between {least:g} and {most:g}")
