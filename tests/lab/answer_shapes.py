"""Answers of the server as plain JSON, held to the shapes that the extension knows."""

from __future__ import annotations

from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints, is_typeddict


def fits(value: Any, kind: Any, where: str, *, more: bool = False) -> None:
    """Fail unless a value of an answer is of the type that the extension knows; with `more`, it may say more."""
    arguments = get_args(kind)
    if is_typeddict(kind):
        hints = get_type_hints(kind)
        assert isinstance(value, dict), f"{where} is {value!r}"
        assert value.keys() >= hints.keys() if more else value.keys() == hints.keys(), where
        for name, inner in hints.items():
            fits(value[name], inner, f"{where}.{name}", more=more)
    elif get_origin(kind) is list:
        assert isinstance(value, list), f"{where} is {value!r}"
        for number, one in enumerate(value):
            fits(one, arguments[0], f"{where}[{number}]", more=more)
    elif get_origin(kind) is dict:
        for name, one in value.items():
            fits(one, arguments[1], f"{where}[{name!r}]", more=more)
    elif get_origin(kind) is Literal:
        assert value in arguments, f"{where} is {value!r}"
    elif arguments:
        (own,) = [one for one in arguments if one is not NoneType]
        if value is not None:
            fits(value, own, where, more=more)
    elif kind is bool or not isinstance(value, bool):
        assert isinstance(value, (int, float) if kind is float else kind), f"{where} is {value!r}"
    else:
        raise AssertionError(f"{where} is {value!r}")


def as_dict(answer: Any) -> Any:
    """An answer as plain JSON, whatever the client made of it."""
    if hasattr(answer, "_asdict"):
        answer = answer._asdict()
    if isinstance(answer, dict):
        return {name: as_dict(value) for name, value in answer.items()}
    return [as_dict(one) for one in answer] if isinstance(answer, list) else answer
