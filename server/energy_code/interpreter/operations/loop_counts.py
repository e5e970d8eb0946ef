"""How often a call runs, where the source tells."""

from __future__ import annotations

from energy_code.interpreter.domain.arguments import Arguments
from energy_code.interpreter.domain.values import (
    UNKNOWN,
    Constant,
    ExternalInstance,
    Mapping,
    Sequence,
    Value,
)

EPOCHS_POSITION = 3
"""`fit(x, y, batch_size, epochs)`"""


def epochs_of(arguments: Arguments) -> int:
    """Constant epochs of a `fit` call; 1 where they are not written or not constant."""
    value = arguments.get(EPOCHS_POSITION, "epochs")
    if type(value) is Constant and type(value.value) is int and value.value > 0:
        return value.value
    return 1


def length_of(value: Value) -> int | None:
    """How many elements iterating gives, where the source tells."""
    kind = type(value)
    if kind is Sequence and value.items is not None:  # type: ignore[attr-defined]
        declared = not value.items and value.element is not UNKNOWN  # type: ignore[attr-defined]
        return None if declared else len(value.items)  # type: ignore[attr-defined]
    if kind is ExternalInstance and value.name == "range" and type(value.receiver) is Constant:  # type: ignore[attr-defined]
        count = value.receiver.value  # type: ignore[attr-defined]
        return max(count, 0) if type(count) is int else None
    if kind is Mapping and value.items and value.element is UNKNOWN:  # type: ignore[attr-defined]
        return len(value.items)  # type: ignore[attr-defined]
    return None
