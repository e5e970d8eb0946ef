"""What iterating over a value or taking an element of it gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from energy_code.values import (
    SLICE,
    TENSOR_VALUE,
    UNKNOWN,
    ApiInstance,
    Constant,
    External,
    ExternalInstance,
    Mapping,
    OneOf,
    Sequence,
    UserClass,
    UserInstance,
    Value,
    element_of,
    join,
    join_all,
)

if TYPE_CHECKING:
    from energy_code.frames import Frame

DATASET = "tensorflow.data.Dataset"
RESTORED = "restored"
"""What a saved model, and any part of it, is once it was loaded: calling it gives tensors."""
RECORD = "record"
"""A named tuple: its fields by name, in order."""
NAMED_TUPLE = External("typing.NamedTuple")
ITERATED_AS_TENSORS = frozenset(
    [
        "tensorflow.Tensor",
        "tensorflow.Variable",
        "keras.KerasTensor",
        "tensorflow.RaggedTensor",
        "keras.Variable",
    ]
)


def iterate(frame: Frame, value: Value) -> Value:
    """What `for x in value` binds x to."""
    kind = type(value)
    if value is UNKNOWN:
        return UNKNOWN
    if kind is Sequence:
        return element_of(value)  # type: ignore[arg-type]
    if kind is Mapping:
        keys = tuple(key for key, _ in value.items)  # type: ignore[attr-defined]
        return keys[0] if len(keys) == 1 else UNKNOWN
    if kind is ApiInstance:
        return iterate_api(frame, value)  # type: ignore[arg-type]
    if kind is OneOf:
        return join_all(tuple(iterate(frame, option) for option in value.options))  # type: ignore[attr-defined]
    if kind is UserInstance:
        return iterate_user(frame, value)  # type: ignore[arg-type]
    if kind is ExternalInstance:
        return join_all(fields_of(value) or ())
    return UNKNOWN


def iterate_api(frame: Frame, value: ApiInstance) -> Value:
    """Elements of datasets (tensors in the structure that is known) and of tensors."""
    if value.cls in ITERATED_AS_TENSORS:
        return ApiInstance(value.cls) if value.cls == "keras.KerasTensor" else TENSOR_VALUE
    if value.cls in DATASET_LIKE or frame.engine.catalogue.is_subclass(value.cls, DATASET):
        return value.inner if value.inner is not None else ELEMENT
    method = frame.engine.catalogue.member(value.cls, "__iter__")
    if method is not None and (method.returns or "").startswith("iterator["):
        return iterate(frame, frame.engine.returned_value(method.returns or ""))
    return UNKNOWN


DATASET_LIKE = frozenset(
    [
        DATASET,
        "tensorflow.data.Iterator",
        "tensorflow.data.NumpyIterator",
        "tensorflow.distribute.DistributedDataset",
    ]
)
ELEMENT = TENSOR_VALUE
"""An element of a dataset whose structure is not known: unpacking or subscripting it gives tensors again."""


def iterate_user(frame: Frame, value: UserInstance) -> Value:
    """What a user's `__iter__` or `__getitem__` gives."""
    from energy_code.attributes import attribute
    from energy_code.calling import NO_ARGUMENTS, call

    method = attribute(frame, value, "__iter__")
    if method is not UNKNOWN:
        result = call(frame, method, NO_ARGUMENTS, None)
        return UNKNOWN if type(result) is UserInstance else iterate(frame, result)
    method = attribute(frame, value, "__getitem__")
    return call(frame, method, NO_ARGUMENTS, None) if method is not UNKNOWN else UNKNOWN


def index(frame: Frame, value: Value, key: Value) -> Value:
    """What `value[key]` gives."""
    kind = type(value)
    if value is UNKNOWN:
        return UNKNOWN
    if type(key) is OneOf and kind is Mapping:
        return join_all(tuple(index(frame, value, option) for option in key.options))
    if kind is Sequence:
        return index_sequence(value, key)  # type: ignore[arg-type]
    if kind is Mapping:
        return index_mapping(value, key)  # type: ignore[arg-type]
    if kind is ApiInstance:
        if value.cls in DATASET_LIKE:  # type: ignore[attr-defined]
            return UNKNOWN
        return index_api(frame, value, key)  # type: ignore[arg-type]
    if kind is OneOf:
        return join_all(tuple(index(frame, option, key) for option in value.options))  # type: ignore[attr-defined]
    if kind is UserInstance:
        return index_user(frame, value, key)  # type: ignore[arg-type]
    if kind is UserClass:
        return index_class(frame, value, key)  # type: ignore[arg-type]
    if kind is External:
        from energy_code.annotations import alias

        return alias(value, key)  # type: ignore[arg-type]
    if kind is ExternalInstance and value.name == RESTORED:  # type: ignore[attr-defined]
        return value
    if kind is ExternalInstance and (fields := fields_of(value)) is not None:
        return index_sequence(Sequence("tuple", fields), key)
    return UNKNOWN


def index_api(frame: Frame, value: ApiInstance, key: Value) -> Value:
    """An element as iterating gives it; what a slice of a shape gives, the catalogue says."""
    if key == SLICE and value.cls not in ITERATED_AS_TENSORS:
        method = frame.engine.member(value.cls, "__getitem__")
        return frame.engine.returned_value(method.returns) if method and method.returns else UNKNOWN
    return iterate_api(frame, value)


def fields_of(value: Value) -> tuple[Value, ...] | None:
    """The values of a named tuple in order; None for anything else."""
    if type(value) is ExternalInstance and value.name == RECORD and type(value.receiver) is Mapping:
        return tuple(item for _, item in value.receiver.items)
    return None


def index_user(frame: Frame, value: UserInstance, key: Value) -> Value:
    """What `__getitem__` of a user's class gives; an item of a `NamedTuple`."""
    from energy_code.attributes import attribute
    from energy_code.calling import Arguments, call

    method = attribute(frame, value, "__getitem__")
    if method is not UNKNOWN:
        return call(frame, method, Arguments([key], {}, True), None)
    if type(key) is Constant and type(key.value) is int and NAMED_TUPLE in frame.ancestry(value.cls):
        names = frame.fields(value.cls)
        if -len(names) <= key.value < len(names):
            return attribute(frame, value, names[key.value])
    from energy_code.own_mappings import held

    return index(frame, held(frame, value), key)


def index_class(frame: Frame, value: UserClass, key: Value) -> Value:
    """`Trainer[Net]` is the class for anything but annotations; `Color["RED"]` is a member of an enumeration."""
    from energy_code.attributes import attribute

    named = type(key) is Constant and type(key.value) is str and bool(key.value)
    member = attribute(frame, value, str(key.value)) if named else UNKNOWN  # type: ignore[attr-defined]
    return member if member is not UNKNOWN else value


def index_sequence(value: Sequence, key: Value) -> Value:
    """An item by its constant position, a slice of the same, or any element."""
    if type(key) is Constant:
        position = key.value
        if type(position) is int and value.items:
            if -len(value.items) <= position < len(value.items):
                return value.items[position]
            return UNKNOWN
        if key == SLICE:
            return Sequence(value.kind, None, element_of(value))
    return element_of(value)


def index_mapping(value: Mapping, key: Value) -> Value:
    """The value of a constant key, or whatever the mapping may hold."""
    for known, item in value.items:
        if known == key:
            return item
    if type(key) is Constant and key.value != "":
        return value.element
    return any_value(value)


def any_value(value: Mapping) -> Value:
    """What any value of the mapping may be."""
    items = tuple(item for _, item in value.items)
    if value.element is UNKNOWN:
        return join_all(items)
    return join(join_all(items), value.element) if items else value.element


def length_of(value: Value) -> int | None:
    """How many elements iterating gives, where the source tells."""
    kind = type(value)
    if kind is Sequence and value.items is not None:  # type: ignore[attr-defined]
        promised = not value.items and value.element is not UNKNOWN  # type: ignore[attr-defined]
        return None if promised else len(value.items)  # type: ignore[attr-defined]
    if kind is ExternalInstance and value.name == "range" and type(value.receiver) is Constant:  # type: ignore[attr-defined]
        count = value.receiver.value  # type: ignore[attr-defined]
        return max(count, 0) if type(count) is int else None
    if kind is Mapping and value.items and value.element is UNKNOWN:  # type: ignore[attr-defined]
        return len(value.items)  # type: ignore[attr-defined]
    return None


def is_external(value: Value, name: str) -> bool:
    """True when the value is that name of a library."""
    return type(value) is External and value.name == name
