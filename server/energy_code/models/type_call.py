"""`type(x)`, and `type(name, bases, members)`, which makes a class without a class statement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from energy_code.interpreter.domain.arguments import Arguments
from energy_code.interpreter.domain.definitions import UserClass, UserInstance
from energy_code.interpreter.domain.lattice import nesting
from energy_code.interpreter.domain.values import (
    UNKNOWN,
    ApiClass,
    ApiInstance,
    Constant,
    Mapping,
    Sequence,
    Value,
)
from energy_code.interpreter.limits import MAX_GENERATIONS

if TYPE_CHECKING:
    from energy_code.interpreter.frame import Frame


def make_type(frame: Frame, arguments: Arguments) -> Value:
    """The class of an object, or a new one."""
    if len(arguments.positional) == 3:
        return make_class(frame, *arguments.positional)
    if len(arguments.positional) != 1:
        return UNKNOWN
    value = arguments.positional[0]
    if type(value) is UserInstance:
        return value.cls
    return ApiClass(value.cls) if type(value) is ApiInstance else UNKNOWN


def make_class(frame: Frame, name: Value, bases: Value, members: Value) -> Value:
    """`type("Name", (Base,), {"method": function})`; a member that is a container is not followed."""
    if type(bases) is not Sequence or bases.items is None:
        return UNKNOWN
    known = tuple(
        (str(key.value), value)
        for key, value in (members.items if type(members) is Mapping else ())
        if type(key) is Constant and not nesting(value)
    )
    if max(map(generations, (*bases.items, *(value for _, value in known))), default=0) >= MAX_GENERATIONS:
        return UNKNOWN
    text = str(name.value) if type(name) is Constant else ""
    return UserClass(frame.module, text, (bases.items, known))


def generations(value: Value) -> int:
    """How often classes were made of classes that were made."""
    if type(value) is not UserClass or value.made is None:
        return 0
    bases, members = value.made
    return 1 + max(map(generations, (*bases, *(member for _, member in members))), default=0)
