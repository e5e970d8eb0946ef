"""What code leaves behind on objects that are not its own: attributes set from outside, entries of shared containers.

`model.compile(optimizer=...)`, `trainer.model = model`, `MODELS[name] = build` in a decorator: whoever reads them may stand
before them in the text. So they are noted as external writes of a class or of a module's global,
gathered when the whole program has been gone through, and asked for like everything else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from energy_code.interpreter.domain.definitions import UserClass, UserInstance
from energy_code.interpreter.domain.lattice import element_of, join
from energy_code.interpreter.domain.values import (
    UNKNOWN,
    Constant,
    Mapping,
    Sequence,
    Value,
    options_of,
)
from energy_code.ir.expressions import Attribute, Name

if TYPE_CHECKING:
    from energy_code.interpreter.frame import Frame
    from energy_code.interpreter.summary import Summary, Writes
    from energy_code.ir.nodes import Expression

GROWTH = "+"
"""Before an attribute's name: what is added to the container that it holds, as far as something makes one."""
ANY = "*"
"""Stands for an attribute whose name the source does not tell."""


def note(known: Writes, found: Writes) -> None:
    """Take over external writes; what is set in two ways may be either."""
    for key, value in found.items():
        known[key] = grown(known[key], value) if key in known else value


def note_behind(known: Writes, summaries: list[Summary], seen: dict[int, Summary]) -> None:
    """Take over the external writes of evaluations and of all that they called, each once."""
    while summaries:
        current = summaries.pop()
        if id(current) not in seen:
            seen[id(current)] = current
            note(known, current.external_writes)
            summaries.extend([callee for _, _, callee in current.invocations])


def grown(value: Value, added: Value) -> Value:
    """A container with what was added elsewhere; of other values, either."""
    if type(value) is Mapping and type(added) is Mapping:
        items = dict(value.items)
        for key, item in added.items:
            items[key] = join(items[key], item) if key in items else item
        element = added.element if value.element is UNKNOWN else value.element
        if UNKNOWN not in (value.element, added.element):
            element = join(value.element, added.element)
        return Mapping(tuple(items.items()), element)
    if type(value) is Sequence and type(added) is Sequence:
        if value.items == ():
            return Sequence(value.kind, added.items, added.element)
        return Sequence(value.kind, None, join(element_of(value), element_of(added)))
    return join(value, added)


def note_attribute(frame: Frame, owner: Value, name: str, value: Value) -> None:
    """`owner.name = value` where the owner is an object or a class of the program."""
    if value is UNKNOWN or type(value) is Constant:  # a flag may also be as the class or Keras left it
        return
    for option in options_of(owner):
        cls = option.cls if type(option) is UserInstance else option
        if type(cls) is UserClass:
            note(frame.external_writes, {(cls, name): value})


def note_added(frame: Frame, container: Expression, added: Value) -> None:
    """Something is added to a container that is a global of the module or an attribute of another object."""

    if type(container) is Name:
        if frame.is_function and is_global(frame, container.id):
            note(frame.external_writes, {(frame.module, container.id): added})
    elif (
        type(container) is Attribute
        and type(owner := container.value) is Name
        and owner.id != frame.self_name
    ):
        note_attribute(frame, owner.evaluate(frame), GROWTH + container.name, added)


def is_global(frame: Frame, name: str) -> bool:
    """True when a name that a function uses is bound by no function around it."""
    if frame.local_names is not None and name in frame.local_names:
        return False
    outer = frame.outer
    while outer is not None:
        if name in outer.names:
            return False
        outer = outer.outer
    return True
