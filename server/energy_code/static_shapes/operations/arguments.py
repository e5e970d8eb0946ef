"""The arguments of an operation, by name and by place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from energy_code.static_shapes.operations.arrays import array_of
from energy_code.static_shapes.values.kinds import (
    Array,
    Name,
)

Given = Mapping[str, Any]
"""Arguments by parameter name, in order."""
Rule = Callable[[str, Given, bool], Any]
"""What an operation gives: its short name, its arguments, whether NumPy does it."""
ABSENT = object()


def pick(bound: Given, *names: str, default: Any = None) -> Any:
    """An argument by any of its names; `names` may hold a place: `1` for the second."""
    for name in names:
        if name in bound:
            return bound[name]
    return default


def at(bound: Given, place: int, default: Any = ABSENT) -> Any:
    """An argument by its place."""
    listed = list(bound.values())
    if place < len(listed):
        return listed[place]
    if default is ABSENT:
        raise ValueError("an argument is missing")
    return default


def first_of(bound: Given, numpy: bool) -> Array:
    """The array that an operation is about."""
    found = array_of(at(bound, 0), numpy=numpy)
    if not isinstance(found, Array):
        raise ValueError("not an array")
    return Array(found.dtype, found.shape, numpy)


def dtype_of(value: Any, default: str | None = None) -> str:
    """The name of a dtype, however it was given."""
    if isinstance(value, Name):
        value = value.dotted.rpartition(".")[2]
        value = {
            "int": "int64",
            "float": "float64",
            "bool_": "bool",
            "double": "float64",
            "half": "float16",
        }.get(value, value)
    if isinstance(value, Array):
        return value.dtype
    if isinstance(value, str):
        return {
            "f": "float32",
            "f4": "float32",
            "float": "float64",
            "int": "int64",
            "i4": "int32",
            "i8": "int64",
        }.get(value, value)
    if value is None and default is not None:
        return default
    raise ValueError("a dtype that is not known")


def named(names: str, rule: Rule) -> dict[str, Rule]:
    """One rule for several operations."""
    return dict.fromkeys(names.split(), rule)
