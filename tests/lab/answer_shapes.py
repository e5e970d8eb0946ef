"""Answers of the server as plain JSON, held to the shapes that the extension was told of."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin, get_type_hints, is_typeddict


def fits(value: Any, kind: Any, where: str) -> None:
    """Fail unless a value of an answer is of the type that the extension was told of."""
    arguments = get_args(kind)
    if is_typeddict(kind):
        hints = get_type_hints(kind)
        assert value.keys() == hints.keys(), where
        for name, inner in hints.items():
            fits(value[name], inner, f"{where}.{name}")
    elif get_origin(kind) is list:
        for number, one in enumerate(value):
            fits(one, arguments[0], f"{where}[{number}]")
    elif get_origin(kind) is Literal:
        assert value in arguments, where
    elif arguments:
        assert value is None or not fits(value, arguments[0], where)
    else:
        assert isinstance(value, (int, float) if kind is float else kind), f"{where} is {value!r}"


def as_dict(answer: Any) -> Any:
    """An answer as plain JSON, whatever the client made of it."""
    if hasattr(answer, "_asdict"):
        answer = answer._asdict()
    if isinstance(answer, dict):
        return {name: as_dict(value) for name, value in answer.items()}
    return [as_dict(one) for one in answer] if isinstance(answer, list) else answer
