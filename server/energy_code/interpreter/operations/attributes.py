"""What `value.name` gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from energy_code.interpreter.domain.arguments import NO_ARGUMENTS, Arguments
from energy_code.interpreter.domain.definitions import (
    Descriptor,
    Function,
    Method,
    ProjectModule,
    Super,
    UserClass,
    UserInstance,
)
from energy_code.interpreter.domain.lattice import join
from energy_code.interpreter.domain.values import (
    GRAPH_FUNCTION,
    PROMISED,
    TENSOR,
    UNKNOWN,
    ApiClass,
    ApiInstance,
    ApiMethod,
    ApiModule,
    Constant,
    External,
    ExternalInstance,
    Mapping,
    Partial,
    Sequence,
    Union,
    Value,
)
from energy_code.interpreter.operations.side_effects import grown
from energy_code.models.catalogue import entry_value
from energy_code.models.dict_subclasses import OPEN_STORAGE, READING, held, storage
from energy_code.models.objects import member as library_member

if TYPE_CHECKING:
    from energy_code.interpreter.frame import Frame
    from energy_data.catalogue.catalogue import Entry

KINDS = {
    TENSOR: ("tensorflow.RaggedTensor", "tensorflow.sparse.SparseTensor"),
    "keras.Model": ("keras.Sequential",),
}
"""What may come where the catalogue promises a class."""


def of_api_module(frame: Frame, value: ApiModule, name: str) -> Value:
    """A public name."""
    return frame.program.public.module_member(value.name, name)


def of_api_class(frame: Frame, value: ApiClass, name: str) -> Value:
    """Class methods, static methods, and plain methods taken from the class."""
    entry = frame.program.public.member(value.name, name)
    return entry_value(entry) if entry is not None else UNKNOWN


def of_api_instance(frame: Frame, value: ApiInstance, name: str) -> Value:
    """A bound method, or what a property gives."""
    entry = frame.program.public.member(value.cls, name)
    if entry is None and value.cls in KINDS:
        return method_of_kind(frame, value, name)
    if type(value.inner) is Mapping and (entry is None or entry.kind == "property"):
        return frame.index(value.inner, Constant(name))
    if name == "layers" and type(value.inner) is Sequence:
        return value.inner
    return bound_entry(frame, entry, value) if entry is not None else UNKNOWN


def method_of_kind(frame: Frame, value: ApiInstance, name: str) -> Value:
    """A method that the declared class does not have: one of another kind must have come, such as a ragged tensor."""
    for cls in KINDS[value.cls]:
        entry = frame.program.public.member(cls, name)
        if entry is not None and entry.kind == "method":
            return ApiMethod(entry.name, ApiInstance(cls, PROMISED * value.confidence))
    return UNKNOWN


def bound_entry(frame: Frame, entry: Entry, receiver: Value) -> Value:
    """A member of a public class seen through an instance."""
    if entry.kind == "property":
        return returned(frame, entry, receiver)
    if entry.kind == "class":
        return ApiClass(entry.name)
    return ApiMethod(entry.name, receiver)


def returned(frame: Frame, entry: Entry, receiver: Value) -> Value:
    """What a call of the entry gives (or the property itself)."""
    if entry.returns is None:
        return UNKNOWN
    if entry.returns == "self":
        return UserInstance(receiver) if type(receiver) is UserClass else receiver
    return frame.program.public.returned_value(entry.returns)


def of_external(frame: Frame, value: External, name: str) -> Value:
    """A longer dotted name."""
    return External(f"{value.name}.{name}")


def of_project_module(frame: Frame, value: ProjectModule, name: str) -> Value:
    """A global of another module of the workspace, or a submodule of a package."""
    return frame.ask(frame.program.modules.export, value.module, name)


def of_user_class(frame: Frame, value: UserClass, name: str) -> Value:
    """A class attribute; class methods are bound to the class."""
    found = frame.ask(frame.program.classes.class_attribute, value, name)
    if type(found) in (Mapping, Sequence):
        added = frame.ask(frame.program.writes.value, value, name)
        found = grown(found, added) if added is not UNKNOWN else found
        return frame.ask(frame.program.objects.with_growth, value, name, found)
    if type(found) is Descriptor:
        return Method(found.function, value) if found.kind == "classmethod" else found.function
    if type(found) is ApiMethod:
        return ApiMethod(found.name, value)
    return found


def of_user_instance(frame: Frame, value: UserInstance, name: str) -> Value:
    """An instance attribute, a bound method or a property's value."""
    found = frame.ask(frame.program.objects.instance_attribute, value, name)
    if found is UNKNOWN:
        return delegated(frame, value, name)
    return bind_member(frame, found, value)


def delegated(frame: Frame, value: UserInstance, name: str) -> Value:
    """What a class hands out by its own `__getattr__`; `_replace` of a named tuple."""
    getter = frame.ask(frame.program.classes.class_attribute, value.cls, "__getattr__")
    if type(getter) is Function:
        return frame.call(Method(getter, value), Arguments([Constant(name)], {}, True), None)
    if name in READING and type(mapping := held(frame, value)) is Mapping:
        return ExternalInstance(name, mapping)
    if name == OPEN_STORAGE and storage(frame, value.cls) == name:
        return frame.ask(frame.program.objects.with_growth, value.cls, name, Mapping(()))  # as it is made
    return ExternalInstance("replace", value) if name == "_replace" else UNKNOWN


def bind_member(frame: Frame, found: Value, receiver: Value) -> Value:
    """A member of a user's class seen through an instance."""
    kind = type(found)
    if kind is Function:
        return Method(found, receiver)  # type: ignore[arg-type]
    if kind is Descriptor:
        return bind_descriptor(frame, found, receiver)  # type: ignore[arg-type]
    if kind is ApiMethod:
        return bind_api_member(frame, found, receiver)  # type: ignore[arg-type]
    if kind is UserInstance:
        return bind_own_descriptor(frame, found, receiver)  # type: ignore[arg-type]
    if kind is ApiInstance and found.cls == GRAPH_FUNCTION and type(found.inner) is Function:  # type: ignore[attr-defined]
        return ApiInstance(GRAPH_FUNCTION, 1.0, Method(found.inner, receiver))  # type: ignore[attr-defined]
    return found


def bind_own_descriptor(frame: Frame, found: UserInstance, receiver: Value) -> Value:
    """An object of the program; one whose class has `__get__` says itself what it is seen as."""

    getter = frame.ask(frame.program.classes.class_attribute, found.cls, "__get__")
    if type(getter) is not Function:
        return found
    owner = receiver.cls if type(receiver) is UserInstance else UNKNOWN
    return frame.call(Method(getter, found), Arguments([receiver, owner], {}, True), None)


def bind_api_member(frame: Frame, found: ApiMethod, receiver: Value) -> Value:
    """A member that a user's class inherits from a public one."""
    owner, _, name = found.name.rpartition(".")
    entry = frame.program.public.member(owner, name)
    return bound_entry(frame, entry, receiver) if entry is not None else UNKNOWN


def bind_descriptor(frame: Frame, found: Descriptor, receiver: Value) -> Value:
    """staticmethod, classmethod, property."""

    if found.kind == "staticmethod":
        return found.function
    if found.kind == "classmethod":
        owner = receiver.cls if type(receiver) is UserInstance else receiver
        return Method(found.function, owner)
    return frame.call(Method(found.function, receiver), NO_ARGUMENTS, None)


def of_super(frame: Frame, value: Super, name: str) -> Value:
    """A member of the next class in line."""
    found = frame.ask(frame.program.classes.inherited, value.cls, name)
    return bind_member(frame, found, value.receiver)


def of_container(frame: Frame, value: Value, name: str) -> Value:
    """A method of a list, dict or string: never an API, but it may hand on what the container holds."""
    return ExternalInstance(name, value)


def of_partial(frame: Frame, value: Partial, name: str) -> Value:
    """`partial.func`."""
    return value.callee if name == "func" else UNKNOWN


def of_one_of(frame: Frame, value: Union, name: str) -> Value:
    """The attribute of each alternative."""
    result: Value | None = None
    for option in value.options:
        found = frame.attribute(option, name)
        if found is UNKNOWN and option is not UNKNOWN:
            continue
        result = found if result is None else join(result, found)
    return UNKNOWN if result is None else result


HANDLERS: dict[type[Value], Callable[[Frame, Any, str], Value]] = {
    ApiModule: of_api_module,
    ApiClass: of_api_class,
    ApiInstance: of_api_instance,
    External: of_external,
    ExternalInstance: library_member,
    ProjectModule: of_project_module,
    UserClass: of_user_class,
    UserInstance: of_user_instance,
    Super: of_super,
    Sequence: of_container,
    Mapping: of_container,
    Constant: of_container,
    Partial: of_partial,
    Union: of_one_of,
}
