"""Plans that people write: TOML files whose sections are data classes, with dashes for underscores in their keys."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from energy_data.untrusted.reading import read_text
from energy_data.untrusted.toml import usable_path
from energy_measure.problems import MeasureProblem

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LARGEST_PLAN = 10_000_000
PLACES = {"path", "python", "database", "projects"}
"""Keys of files and folders."""


def read_plan_file(path: Path, sections: Mapping[str, str], otherwise: str) -> dict[str, Any]:
    """The tables of a plan, which has no others than `sections`; what is wrong with it is said in one sentence.

    `sections`: each name as it is written. `otherwise`: where a plan comes from.
    """
    try:
        if not path.is_file():
            raise MeasureProblem(f"There is no plan {path}; {otherwise}.")
        if path.stat().st_size > LARGEST_PLAN:
            raise MeasureProblem(f"{path} is no plan: it has more than {LARGEST_PLAN // 1_000_000} MB.")
        table = tomllib.loads(read_text(path, LARGEST_PLAN))
    except (OSError, ValueError, RecursionError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else problem
        raise MeasureProblem(f"{path} cannot be read as TOML ({why}); mend it first.") from problem
    unknown = sorted(set(table) - set(sections))
    if unknown:
        known = list(sections.values())
        raise MeasureProblem(
            f"{path}: there is no [{unknown[0]}] in a plan, only {', '.join(known[:-1])} and {known[-1]}."
        )
    return table


def section(path: Path, where: str, table: Any, kind: type[Any]) -> dict[str, Any]:
    """The values of a section by field name, each of the type that the field has."""
    if not isinstance(table, dict):
        raise MeasureProblem(f"{path}: {where} must be a table of keys and values.")
    known = {one.name.replace("_", "-"): one for one in fields(kind)}
    chosen = {}
    for key, value in table.items():
        if key not in known:
            raise MeasureProblem(f"{path}: {where} has no key {key}; it has {', '.join(known)}.")
        chosen[known[key].name] = _typed(path, where, key, value, str(known[key].type))
    for key, one in known.items():
        if one.default is MISSING and one.default_factory is MISSING and one.name not in chosen:
            raise MeasureProblem(f"{path}: {where} lacks {key}.")
    return chosen


def _typed(path: Path, where: str, key: str, value: Any, kind: str) -> Any:
    if kind == "tuple[str, ...]":
        texts = [value] if isinstance(value, str) else value
        if isinstance(texts, list) and all(map(_is_text, texts)):
            return tuple(texts)
        expected = "a text or a list of texts"
    elif kind == "Mapping[str, str]":
        if isinstance(value, dict) and all(map(_is_text, value.values())):
            return _variables(path, where, key, value) if key == "env" else dict(value)
        expected = "a table of texts"
    elif kind == "float":
        if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e9:
            return float(value)
        expected = "a number of seconds"
    elif kind == "int":
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1_000_000:
            return value
        expected = "a whole number, 0 or more"
    elif kind == "bool":
        if isinstance(value, bool):
            return value
        expected = "true or false"
    else:
        if _is_text(value):
            return _place(path, where, key, value) if key in PLACES else value
        expected = "a text"
    raise MeasureProblem(f"{path}: {key} in {where} must be {expected}.")


def _place(path: Path, where: str, key: str, text: str) -> str:
    """A path with `~` replaced by the folder that it stands for."""
    try:
        return str(Path(usable_path(text)).expanduser()) if text.startswith("~") else text
    except ValueError as problem:
        raise MeasureProblem(f"{path}: {key} in {where} {problem}.") from problem


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and "\0" not in value


def _variables(path: Path, where: str, key: str, table: dict[str, str]) -> dict[str, str]:
    for name in table:
        if not name or "=" in name or "\0" in name:
            raise MeasureProblem(f"{path}: {name!r} in {key} of {where} is no name of a variable.")
    return dict(table)
