"""What `with` binds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from energy_code.interpreter.domain.arguments import NO_ARGUMENTS
from energy_code.interpreter.domain.definitions import Method, UserInstance
from energy_code.interpreter.domain.lattice import join_all
from energy_code.interpreter.domain.values import (
    UNKNOWN,
    ExternalInstance,
    Union,
    Value,
)

if TYPE_CHECKING:
    from energy_code.interpreter.frame import Frame


def entered(frame: Frame, value: Value) -> Value:
    """What `with value as x` binds x to."""
    if type(value) is ExternalInstance and value.name == "entered":
        return frame.iterate(value.receiver)
    if type(value) is UserInstance:
        method = frame.attribute(value, "__enter__")
        if type(method) is Method:
            result = frame.call(method, NO_ARGUMENTS, None)
            return value if result is UNKNOWN else result
        return value
    if type(value) is Union:
        return join_all(tuple(entered(frame, option) for option in value.options))
    return value
