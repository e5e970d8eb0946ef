"""Classes of the program that are dictionaries: registries inherit from `dict` or `UserDict`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from energy_code.interpreter.domain.definitions import UserClass, UserInstance
from energy_code.interpreter.domain.values import (
    UNKNOWN,
    External,
    Mapping,
    Value,
)
from energy_code.interpreter.operations.side_effects import note_attribute

if TYPE_CHECKING:
    from energy_code.interpreter.frame import Frame

OPEN_STORAGE = "data"
"""The attribute of a `UserDict` that holds its entries."""
BASES = {
    "builtins.dict": "[]",
    "collections.OrderedDict": "[]",
    "collections.UserDict": OPEN_STORAGE,
    "collections.defaultdict": "[]",
}
"""The attribute that stands for what instances hold."""
READING = frozenset(["copy", "get", "items", "keys", "pop", "values"])


def storage(frame: Frame, cls: UserClass) -> str | None:
    """The attribute that stands for what dictionaries of a class hold; None for other classes."""
    bases = (base for base in frame.ancestry(cls) if type(base) is External)
    return next((BASES[base.name] for base in bases if base.name in BASES), None)


def held(frame: Frame, instance: UserInstance) -> Value:
    """What a dictionary of the program holds, wherever it is filled; unknown for other objects."""

    name = storage(frame, instance.cls)
    if name is None:
        return UNKNOWN
    frame.program.modules.gather_writes(instance.cls.module)
    if name == OPEN_STORAGE:
        return frame.attribute(instance, name)
    return frame.ask(frame.program.writes.value, instance.cls, name)


def fill(frame: Frame, instance: UserInstance, entry: Mapping) -> None:
    """`registry[key] = value` where the registry is a dictionary of the program."""
    name = storage(frame, instance.cls)
    if name is not None:
        note_attribute(frame, instance, name, entry)
