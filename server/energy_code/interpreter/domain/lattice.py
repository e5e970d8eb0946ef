"""The order of values: what a variable may be after two branches, and what is kept of a value that grows too deep.

`UNKNOWN` says that anything may come. A union holds alternatives; with `UNKNOWN` among them, none of the others need come.
`combined` is associative, commutative and idempotent, up to the order of alternatives, of which the first counts as the
likeliest:

- a constant stays only while all branches agree on it: another one, or an unknown branch, makes it unknown. Texts that may
  be keys or names are kept beside each other;
- instances of one class are one alternative: with the lower confidence, and with what is known of both;
- sequences of one kind are joined item by item where their lengths agree, else by what any element may be;
- None says nothing: nothing can be called on it, so the other branch counts.

`join` is `combined` with a limit on the number of alternatives, which is where the laws end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from energy_code.interpreter.domain.definitions import Method, UserInstance
from energy_code.interpreter.domain.values import (
    NONE,
    UNKNOWN,
    ApiInstance,
    Constant,
    Mapping,
    Partial,
    Sequence,
    Union,
    Value,
    options_of,
)
from energy_code.interpreter.limits import MAX_OPTIONS

Key = TypeVar("Key")


def join(first: Value, second: Value) -> Value:
    """What a variable may be after two branches that leave it as `first` or as `second`."""
    if first is second:
        return first
    result = combined(first, second)
    return UNKNOWN if type(result) is Union and len(result.options) > MAX_OPTIONS else result


def combined(first: Value, second: Value) -> Value:
    """The same with any number of alternatives."""
    if first is second or (type(first) is type(second) and first == second):
        return first
    if first == NONE or second == NONE:
        return second if first == NONE else first
    options = dict.fromkeys(options_of(first))
    for option in options_of(second):
        add(options, option)
    is_open = UNKNOWN in options
    constants = [option for option in options if type(option) is Constant]
    if constants and (is_open or (len(constants) > 1 and not all(map(named, constants)))):
        is_open = True
        for constant in constants:
            del options[constant]
    if is_open:  # what may come last is the least likely
        options.pop(UNKNOWN, None)
        options[UNKNOWN] = None
    return Union(tuple(options)) if len(options) > 1 else next(iter(options))


def add(options: dict[Value, None], value: Value) -> None:
    """Take one more alternative among others: into the one of its class or kind, if there is one."""
    if value in options:
        return
    kind = type(value)
    if kind in MERGED:
        for option in options:
            if type(option) is kind and (merged := MERGED[kind](option, value)) is not None:
                if merged is not option:
                    kept = list(options)
                    options.clear()
                    options.update(dict.fromkeys(merged if one is option else one for one in kept))
                return
    options[value] = None


def merge_instances(first: ApiInstance, second: ApiInstance) -> ApiInstance | None:
    """Two instances of one public class."""
    if first.cls != second.cls:
        return None
    inner = first.inner if second.inner is None else second.inner
    if first.inner is not None and second.inner is not None:
        inner = combined(first.inner, second.inner)
    confidence = min(first.confidence, second.confidence)
    if confidence == first.confidence and inner is first.inner:
        return first
    return ApiInstance(first.cls, confidence, inner)


def merge_objects(first: UserInstance, second: UserInstance) -> UserInstance | None:
    """Two objects of one class of the program: what their constructors were given differs."""
    return UserInstance(first.cls) if first.cls == second.cls else None


def merge_sequences(first: Sequence, second: Sequence) -> Sequence | None:
    """A sequence that may be either; items are kept one by one only while the lengths agree."""
    if first.kind != second.kind:
        return None
    element = first.element if first.element == second.element else UNKNOWN
    if first.items is not None and second.items is not None and len(first.items) == len(second.items):
        return Sequence(first.kind, tuple(map(combined, first.items, second.items)), element)
    if first.items == ():
        return second
    if second.items == ():
        return first
    return Sequence(first.kind, None, combined(element_of(first), element_of(second)))


MERGED: dict[type[Value], Callable[[Any, Any], Value | None]] = {
    ApiInstance: merge_instances,
    UserInstance: merge_objects,
    Sequence: merge_sequences,
}
"""Values of which two may be one alternative; None where both have to be kept."""


def named(value: Constant) -> bool:
    """True for a text that may be a key or a name."""
    return type(value.value) is str and value.value != ""


def element_of(value: Sequence) -> Value:
    """What any element of the sequence may be; of an empty one, what is declared of those to come."""
    return join_all(value.items) if value.items else value.element


def is_empty(value: Value) -> bool:
    """A container that says nothing of what it will hold; an annotation may."""
    return (type(value) is Sequence and value.items == ()) or (
        type(value) is Mapping and not value.items and (value.element is UNKNOWN or is_empty(value.element))
    )


def join_all(values: tuple[Value, ...]) -> Value:
    """One value for all of them; unknown for none."""
    if not values:
        return UNKNOWN
    result = values[0]
    for value in values[1:]:
        result = join(result, value)
    return result


def without_unknown(value: Value) -> Value:
    """The known alternatives of a value."""
    if not isinstance(value, Union):
        return value
    known = tuple(option for option in value.options if option is not UNKNOWN)
    return known[0] if len(known) == 1 else Union(known)


def nesting(value: Value) -> int:
    """How deep containers stand in containers."""
    inner = INNER.get(type(value))
    return inner(value) if inner is not None else 0


def deepest(values: Iterable[Value]) -> int:
    """The greatest nesting of several values."""
    most = 0
    for value in values:
        inner = INNER.get(type(value))
        if inner is not None and (depth := inner(value)) > most:
            most = depth
    return most


INNER: dict[type[Value], Callable[[Any], int]] = {  # values that hold others
    Sequence: lambda value: 1 + deepest((value.element,) if value.items is None else value.items),
    Mapping: lambda value: 1 + deepest([item for _, item in value.items] or (value.element,)),
    Union: lambda value: deepest(value.options),
    UserInstance: lambda value: 1 + deepest([item for _, item in value.given or ()]),
    Partial: lambda value: 1 + deepest((value.callee, *value.positional)),
    Method: lambda value: nesting(value.receiver),
}


def widened(value: Value, depth: int) -> Value:
    """A value in which containers stand at most so deep in containers: what is deeper is not known."""
    if type(value) not in INNER or nesting(value) <= depth:
        return value
    if isinstance(value, Union):
        return join_all(tuple(widened(option, depth) for option in value.options))
    if isinstance(value, UserInstance):
        return UserInstance(value.cls, widened_items(value.given or (), depth - 1) if depth else None)
    if not depth:
        return UNKNOWN
    if isinstance(value, Mapping):
        return Mapping(widened_items(value.items, depth - 1), widened(value.element, depth - 1))
    if isinstance(value, Sequence):
        items = value.items and tuple(widened(item, depth - 1) for item in value.items)
        return Sequence(value.kind, items, widened(value.element, depth - 1))
    return UNKNOWN


def widened_items(items: tuple[tuple[Key, Value], ...], depth: int) -> tuple[tuple[Key, Value], ...]:
    """The same for values by name or key."""
    return tuple((key, widened(item, depth)) for key, item in items)
