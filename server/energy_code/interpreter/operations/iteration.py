"""What iterating over a value or taking an element of it gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from energy_code.interpreter.domain.annotations import alias
from energy_code.interpreter.domain.arguments import NO_ARGUMENTS, Arguments
from energy_code.interpreter.domain.definitions import UserClass, UserInstance
from energy_code.interpreter.domain.lattice import element_of, join, join_all
from energy_code.interpreter.domain.values import (
    SLICE,
    TENSOR_VALUE,
    UNKNOWN,
    ApiInstance,
    Constant,
    External,
    ExternalInstance,
    Mapping,
    Sequence,
    Union,
    Value,
)
from energy_code.models.dict_subclasses import held

if TYPE_CHECKING:
    from energy_code.interpreter.frame import Frame

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


def iterate_sequence(frame: Frame, value: Sequence) -> Value:
    """Any element of a list, tuple, set or iterator."""
    return element_of(value)


def iterate_mapping(frame: Frame, value: Mapping) -> Value:
    """The keys of a dictionary."""
    return value.items[0][0] if len(value.items) == 1 else UNKNOWN


def iterate_union(frame: Frame, value: Union) -> Value:
    """An element of one of the alternatives."""
    return join_all(tuple(frame.iterate(option) for option in value.options))


def iterate_record(frame: Frame, value: ExternalInstance) -> Value:
    """A field of a named tuple."""
    return join_all(fields_of(value) or ())


def iterate_api(frame: Frame, value: ApiInstance) -> Value:
    """Elements of datasets (tensors in the structure that is known) and of tensors."""
    if value.cls in ITERATED_AS_TENSORS:
        return ApiInstance(value.cls) if value.cls == "keras.KerasTensor" else TENSOR_VALUE
    if value.cls in DATASET_LIKE or frame.program.public.catalogue.is_subclass(value.cls, DATASET):
        return value.inner if value.inner is not None else ELEMENT
    method = frame.program.public.catalogue.member(value.cls, "__iter__")
    if method is not None and (method.returns or "").startswith("iterator["):
        return frame.iterate(frame.program.public.returned_value(method.returns or ""))
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

    method = frame.attribute(value, "__iter__")
    if method is not UNKNOWN:
        result = frame.call(method, NO_ARGUMENTS, None)
        return UNKNOWN if type(result) is UserInstance else frame.iterate(result)
    method = frame.attribute(value, "__getitem__")
    return frame.call(method, NO_ARGUMENTS, None) if method is not UNKNOWN else UNKNOWN


def index_api(frame: Frame, value: ApiInstance, key: Value) -> Value:
    """An element as iterating gives it; what a slice of a shape gives, the catalogue says."""
    if value.cls in DATASET_LIKE:
        return UNKNOWN
    if key == SLICE and value.cls not in ITERATED_AS_TENSORS:
        method = frame.program.public.member(value.cls, "__getitem__")
        return frame.program.public.returned_value(method.returns) if method and method.returns else UNKNOWN
    return iterate_api(frame, value)


def fields_of(value: Value) -> tuple[Value, ...] | None:
    """The values of a named tuple in order; None for anything else."""
    if type(value) is ExternalInstance and value.name == RECORD and type(value.receiver) is Mapping:
        return tuple(item for _, item in value.receiver.items)
    return None


def index_user(frame: Frame, value: UserInstance, key: Value) -> Value:
    """What `__getitem__` of a user's class gives; an item of a `NamedTuple`."""

    method = frame.attribute(value, "__getitem__")
    if method is not UNKNOWN:
        return frame.call(method, Arguments([key], {}, True), None)
    if type(key) is Constant and type(key.value) is int and NAMED_TUPLE in frame.ancestry(value.cls):
        names = frame.fields(value.cls)
        if -len(names) <= key.value < len(names):
            return frame.attribute(value, names[key.value])

    return frame.index(held(frame, value), key)


def index_class(frame: Frame, value: UserClass, key: Value) -> Value:
    """`Trainer[Net]` is the class for anything but annotations; `Color["RED"]` is a member of an enumeration."""

    named = type(key) is Constant and type(key.value) is str and bool(key.value)
    member = frame.attribute(value, str(key.value)) if named else UNKNOWN  # type: ignore[attr-defined]
    return member if member is not UNKNOWN else value


def index_union(frame: Frame, value: Union, key: Value) -> Value:
    """An element of one of the alternatives."""
    return join_all(tuple(frame.index(option, key) for option in value.options))


def index_external(frame: Frame, value: External, key: Value) -> Value:
    """`list[Tensor]`: an annotation that is given a name."""
    return alias(value, key)


def index_external_instance(frame: Frame, value: ExternalInstance, key: Value) -> Value:
    """A part of a restored model; a field of a named tuple."""
    if value.name == RESTORED:
        return value
    fields = fields_of(value)
    return index_sequence(frame, Sequence("tuple", fields), key) if fields is not None else UNKNOWN


def index_sequence(frame: Frame, value: Sequence, key: Value) -> Value:
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


def index_mapping(frame: Frame, value: Mapping, key: Value) -> Value:
    """The value of a constant key, or whatever the mapping may hold."""
    if type(key) is Union:
        return join_all(tuple(index_mapping(frame, value, option) for option in key.options))
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


def is_external(value: Value, name: str) -> bool:
    """True when the value is that name of a library."""
    return type(value) is External and value.name == name


ITERATED: dict[type[Value], Callable[[Frame, Any], Value]] = {
    Sequence: iterate_sequence,
    Mapping: iterate_mapping,
    ApiInstance: iterate_api,
    Union: iterate_union,
    UserInstance: iterate_user,
    ExternalInstance: iterate_record,
}
INDEXED: dict[type[Value], Callable[[Frame, Any, Value], Value]] = {
    Sequence: index_sequence,
    Mapping: index_mapping,
    ApiInstance: index_api,
    Union: index_union,
    UserInstance: index_user,
    UserClass: index_class,
    External: index_external,
    ExternalInstance: index_external_instance,
}
