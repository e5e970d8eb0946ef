"""Values inside of each other: lists, tuples and dictionaries of arrays, their elements, what two of them agree on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from energy_code.static_shapes.limits import LONGEST_LIST
from energy_code.static_shapes.values.kinds import (
    SOME_NUMBER,
    UNKNOWN,
    Array,
    Bound,
    Class,
    Dataset,
    Function,
    Instance,
    Items,
    Layer,
    Method,
    Model,
    Name,
    Node,
    Table,
)


def is_symbolic(value: Any) -> bool:
    """Whether a value holds a tensor of a functional model."""
    if isinstance(value, Node):
        return True
    if isinstance(value, (tuple, list)):
        return any(is_symbolic(each) for each in value)
    return isinstance(value, dict) and any(is_symbolic(each) for each in value.values())


def arrays_of(value: Any) -> list[Array] | None:
    """The arrays of a structure in order; None where there is something else in it."""
    if isinstance(value, Array):
        return [value]
    if isinstance(value, Node):
        return [value.array]
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, (tuple, list)) or not getattr(value, "known", True):
        return None
    found: list[Array] = []
    for each in value:
        inner = arrays_of(each)
        if inner is None:
            return None
        found += inner
    return found


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """A structure with each of its leaves changed."""
    if isinstance(value, tuple):
        return tuple(mapped(each, change) for each in value)
    if isinstance(value, list):
        return Items(mapped(each, change) for each in value)
    if isinstance(value, dict):
        return Table({key: mapped(each, change) for key, each in value.items()})
    return change(value)


def joined(one: Any, other: Any) -> Any:
    """What is known of a value that is one or the other."""
    if one is other:
        return one
    if isinstance(one, Array) and isinstance(other, Array):
        if one.dtype != other.dtype or len(one.shape) != len(other.shape):
            return UNKNOWN
        sizes = tuple(a if a == b else None for a, b in zip(one.shape, other.shape, strict=True))
        return Array(one.dtype, sizes, one.numpy and other.numpy, one.variable and other.variable)
    if isinstance(one, Dataset) and isinstance(other, Dataset):
        element = joined(one.element, other.element)
        same = one.count == other.count and one.batch == other.batch
        return (
            Dataset(element, one.count if same else None, one.batch) if one.batch == other.batch else UNKNOWN
        )
    if type(one) is not type(other):
        return UNKNOWN
    if isinstance(one, tuple) and len(one) == len(other):
        return tuple(joined(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, (int, float, str, bytes, Name)):
        return one if one == other else UNKNOWN
    if isinstance(one, Items):
        return one if one.known and other.known and list(one) == list(other) else UNKNOWN
    if isinstance(one, Method):
        return one if one.owner is other.owner and one.name == other.name else UNKNOWN
    return UNKNOWN


def truth(value: Any) -> bool | None:
    """Whether a value counts as true; None where that is not known."""
    if value is None or isinstance(value, (bool, int, float, str, bytes, tuple, range)):
        return bool(value)
    if isinstance(value, (Items, Table)):
        return bool(value) if value.known else None
    if isinstance(value, (Function, Class, Instance, Model, Layer, Bound)):
        return True
    return None


def items_of(value: Any) -> list[Any] | None:
    """The elements of a sequence of the program, as far as they are all known."""
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Items):
        return list(value) if value.known else None
    if isinstance(value, range):
        return list(value) if len(value) <= LONGEST_LIST else None
    if isinstance(value, Table):
        return list(value) if value.known else None
    if isinstance(value, str):
        return list(value) if len(value) <= LONGEST_LIST else None
    if isinstance(value, set):
        return None
    return None


def turns(value: Any) -> tuple[list[Any] | None, Any]:
    """The values of a loop's variable in order, or None and what each is like."""
    listed = items_of(value)
    if listed is not None:
        return listed, UNKNOWN
    if isinstance(value, range):
        return None, SOME_NUMBER
    if isinstance(value, Dataset):
        return None, value.element
    if isinstance(value, Array) and value.shape:
        return None, Array(value.dtype, value.shape[1:], value.numpy)
    if isinstance(value, Method) and value.name in ("items", "values", "keys"):
        return None, UNKNOWN
    return None, UNKNOWN


def has_unknown(value: Any) -> bool:
    """Whether something in a value is not known."""
    if isinstance(value, (Items, Table)) and not value.known:
        return True
    if isinstance(value, (tuple, list)):
        return any(has_unknown(each) for each in value)
    return value is UNKNOWN


def mixed(value: Any) -> bool:
    """Whether arrays stand among other things."""
    if isinstance(value, dict):
        return any(mixed(each) or isinstance(each, Array) for each in value.values())
    return isinstance(value, (tuple, list)) and any(mixed(each) or isinstance(each, Array) for each in value)
