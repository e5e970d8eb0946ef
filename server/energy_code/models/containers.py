"""Methods of lists and dictionaries: what they hand out, and what they add to the variable they are called on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from energy_code.interpreter.domain.arguments import Arguments
from energy_code.interpreter.domain.lattice import element_of, join
from energy_code.interpreter.domain.values import NONE, UNKNOWN, ExternalInstance, Mapping, Sequence, Value
from energy_code.interpreter.operations.iteration import any_value
from energy_code.interpreter.operations.side_effects import note_added
from energy_code.ir.expressions import owner_of
from energy_code.ir.targets import assign
from energy_code.models.builtins import first, second

if TYPE_CHECKING:
    from energy_code.interpreter.frame import Frame
    from energy_code.ir.code import CallSite


def call_container_method(
    frame: Frame, callee: ExternalInstance, arguments: Arguments, site: CallSite | None
) -> Value:
    """A method of a list or a dictionary."""
    value = callee.receiver
    if type(value) is Sequence:
        return call_sequence_method(frame, callee.name, value, arguments, site)
    if type(value) is Mapping:
        return call_mapping_method(frame, callee.name, value, arguments, site)
    return UNKNOWN


def call_sequence_method(
    frame: Frame, name: str, value: Sequence, arguments: Arguments, site: CallSite | None
) -> Value:
    """`append` and its relatives widen the list; `pop` hands out an element."""
    if name in ("append", "add", "appendleft", "put", "put_nowait") and value.kind in ("list", "set"):
        added = first(arguments)
        note_element(frame, site, value, added)
        if added is UNKNOWN and value.items == ():
            added = value.element
        if (
            value.items is not None
            and len(value.items) < 16
            and not frame.in_unknown_loop
            and frame.times == 1
        ):
            store(frame, site, Sequence(value.kind, (*value.items, added)))
        else:
            store(frame, site, Sequence(value.kind, None, widened(value, added)))
        return NONE
    if name in ("extend", "insert"):
        added = frame.iterate(first(arguments)) if name == "extend" else second(frame, arguments)
        note_element(frame, site, value, added)
        store(frame, site, Sequence(value.kind, None, widened(value, added)))
        return NONE
    if name in ("pop", "popleft", "get", "get_nowait"):
        return frame.iterate(value)
    if name == "copy":
        return value
    return UNKNOWN


def widened(value: Sequence, added: Value) -> Value:
    """What any element of a sequence may be once something was added; of an empty one what was added says more."""
    old = element_of(value)
    if value.items == () or old is UNKNOWN:
        return added if added is not UNKNOWN else old
    return join(old, added)


def call_mapping_method(
    frame: Frame, name: str, value: Mapping, arguments: Arguments, site: CallSite | None
) -> Value:
    """Views, look-ups and updates of a dictionary."""
    if name == "items":
        if value.items and value.element is UNKNOWN:
            return Sequence("iterator", tuple(Sequence("tuple", pair) for pair in value.items))
        return Sequence("iterator", None, Sequence("tuple", (UNKNOWN, any_value(value))))
    if name == "values":
        if value.items and value.element is UNKNOWN:
            return Sequence("iterator", tuple(item for _, item in value.items))
        return Sequence("iterator", None, any_value(value))
    if name == "keys":
        return Sequence("iterator", tuple(key for key, _ in value.items)) if value.items else UNKNOWN
    if name in ("get", "pop", "setdefault"):
        found = frame.index(value, first(arguments))
        default = second(frame, arguments)
        if name == "setdefault" and default is not UNKNOWN:
            note_entries(frame, site, Mapping(((first(arguments), default),)))
        return join(found, default) if default is not UNKNOWN else found
    if name == "update":
        other = first(arguments)
        if type(other) is Mapping:
            merged = dict(value.items) | dict(other.items)
            note_entries(frame, site, other)
            store(frame, site, Mapping(tuple(merged.items()), value.element))
        return NONE
    return value if name == "copy" else UNKNOWN


def note_element(frame: Frame, site: CallSite | None, container: Sequence, added: Value) -> None:
    """An element that a function adds to a list that is not its own."""
    if added is not UNKNOWN:
        note_entries(frame, site, Sequence(container.kind, None, added))


def note_entries(frame: Frame, site: CallSite | None, added: Value) -> None:
    """What a function adds to a container that is not its own."""
    if site is not None and (owner := owner_of(site)) is not None:
        note_added(frame, owner, added)


def store(frame: Frame, site: CallSite | None, value: Value) -> None:
    """Rebind the variable or attribute whose method was called."""

    if site is not None and (owner := owner_of(site)) is not None:
        assign(frame, owner, value)
