"""Whether what was read from a row is what its class says: SQLite keeps any value in any column."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")
Fits = Callable[[Any], bool]


def sound(item: T) -> T:
    """The item; raises ValueError where one of its fields is not of its type, or no finite number."""
    kind: Any = type(item)
    if not _fits(kind)(item):
        raise ValueError(f"a {type(item).__name__} that nobody measured")
    return item


@lru_cache(maxsize=256)
def _fits(kind: Any) -> Fits:
    """What tells the values of a type from others."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        options = [_fits(option) for option in arguments]
        return lambda value: any(option(value) for option in options)
    if origin is Literal:
        return lambda value: type(value) is str and value in arguments
    if origin is tuple:
        return _tuple_fits(arguments)
    if origin is not None and issubclass(origin, Mapping):
        of_key, of_value = map(_fits, arguments)
        return lambda value: (
            isinstance(value, Mapping) and all(of_key(key) and of_value(one) for key, one in value.items())
        )
    if is_dataclass(kind):
        fields = [(name, _fits(hint)) for name, hint in get_type_hints(kind).items()]
        return lambda value: type(value) is kind and all(fits(getattr(value, name)) for name, fits in fields)
    return _PLAIN[kind]


def _tuple_fits(arguments: tuple[Any, ...]) -> Fits:
    if arguments[-1:] == (...,):
        of_each = _fits(arguments[0])
        return lambda value: isinstance(value, tuple) and all(map(of_each, value))
    of_all = [_fits(argument) for argument in arguments]
    return lambda value: (
        isinstance(value, tuple)
        and len(value) == len(of_all)
        and all(fits(one) for fits, one in zip(of_all, value, strict=True))
    )


_PLAIN: dict[Any, Fits] = {
    str: lambda value: type(value) is str,
    int: lambda value: isinstance(value, int),
    bool: lambda value: isinstance(value, int),
    float: lambda value: isinstance(value, (int, float)) and math.isfinite(value),
    NoneType: lambda value: value is None,
}
