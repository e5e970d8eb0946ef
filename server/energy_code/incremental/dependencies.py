"""The read set of an evaluation: what it has looked at, as bits of a number, and the other evaluations that it used.

After most edits these alone show that a result stands; asking all of its questions again takes far longer.
"""

from __future__ import annotations

from collections.abc import Iterable

from energy_code.incremental.contexts import Contexts
from energy_code.interpreter.classes import Classes
from energy_code.interpreter.domain.definitions import (
    ClassInfo,
    Function,
    Module,
    UserClass,
    UserInstance,
    plain_function,
)
from energy_code.interpreter.domain.values import ApiModule
from energy_code.interpreter.operations.side_effects import GROWTH
from energy_code.interpreter.questions import Basis, basis_of
from energy_code.interpreter.summary import ReadSet, Summary
from energy_code.ir.code import FunctionCode

OPEN = 1
"""Something that can change without a global or a class of the module: it has to be asked for."""
FOREIGN = 2
"""What a class of another module holds, or what other modules add to objects."""
FIRST_NAME = 4
BASES = ""
"""Stands for what a class inherits from, and for the order of its members: with them anything about it may change."""
CALLS = "()"
"""Behind a method's name: the ways in which it is called, by which it sets attributes."""


def bit_of(module: Module, name: str) -> int:
    """The bit that stands for a global of the module."""
    bit = module.bits.get(name)
    if bit is None:
        bit = module.bits[name] = FIRST_NAME << len(module.bits)
    return bit


def member_bit(cls: UserClass, name: str) -> int:
    """The bit that stands for a member of a class, or for an attribute of its objects."""
    return bit_of(cls.module, f"{cls.name} {name}")


def touch_members(cls: UserClass, names: Iterable[str], revision: int) -> None:
    """Members of a class, or attributes of its objects, are others now than before the edit."""
    for name in names:
        cls.module.mark_dirty(revision, member_bit(cls, name))


def touch_calls(function: Function, revision: int) -> None:
    """A method is called in other ways now than before the edit."""
    if function.owner is not None:
        touch_members(function.owner, [function.code.name + CALLS], revision)


def changed_members(before: ClassInfo | None, after: ClassInfo) -> set[str]:
    """What a class statement that was run again has changed, attributes that its methods set included."""
    if before is None or before.bases != after.bases:
        return {BASES}
    old, new = before.names, after.names
    if [name for name in old if name in new] != [name for name in new if name in old]:
        return {BASES}
    names = {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}
    for value in [*map(old.get, names), *map(new.get, names)]:
        function = plain_function(value) if value is not None else None
        if function is not None:
            names |= function.code.attributes
    if before.fields != after.fields:
        names.add("__init__")
    return names


def find_read_set(contexts: Contexts, classes: Classes, module: Module, summary: Summary) -> ReadSet:
    """The read set of a finished evaluation of the module's code."""
    bits = 0
    used: list[tuple[FunctionCode, Summary]] = []
    attributes: set[tuple[UserInstance, str]] = set()
    for question, subject, answer in summary.dependencies:
        basis = basis_of(question)
        if basis is Basis.CONSTRUCTOR:
            if subject not in attributes:
                attributes.add(subject)
                instance, name = subject
                bits |= FOREIGN | class_bits(classes, module, instance.cls, name, GROWTH + name, "__init__")
                bits |= add_setters(contexts, classes, module, instance, name, used)
        elif basis is Basis.CLASSES:
            bits |= class_bits(classes, module, *subject)
        elif basis is Basis.IMPORT:
            if type(answer) is not ApiModule:
                bits |= OPEN
        elif basis is not Basis.CALL:
            bits |= OPEN
    for function, given, callee in summary.invocations:
        newest = contexts.find(function, given) if callee.replaced else callee
        if newest is None or function.module is not module:
            bits |= OPEN
        else:
            used.append((function.code, newest))
    for name in summary.globals:
        bits |= bit_of(module, name)
    return ReadSet(bits, used)


def class_bits(classes: Classes, module: Module, cls: UserClass, *names: str) -> int:
    """What answers about members of a class rest on: what it and those it inherits from hold."""
    bits = 0
    for one in classes.lineage(cls):
        if type(one) is UserClass:
            if one.module is module:
                for name in (BASES, *names):
                    bits |= member_bit(one, name)
            else:
                bits |= FOREIGN
    return bits


def add_setters(
    contexts: Contexts,
    classes: Classes,
    module: Module,
    instance: UserInstance,
    name: str,
    used: list[tuple[FunctionCode, Summary]],
) -> int:
    """Add the evaluations that set an attribute of an object; the bits for the ways in which its methods are called."""
    bits = 0
    for setter in classes.setters(instance.cls).get(name, ()):
        alone = ((setter.code.parameters[0].name, instance),)
        if setter.module is not module:
            return OPEN
        if setter.code.name == "__init__":
            ways = [alone + (instance.given or ())]
        else:
            ways = contexts.live(setter, instance.cls) or [alone]
            if setter.owner is not None:
                bits |= member_bit(setter.owner, setter.code.name + CALLS)
        for given in ways:
            summary = contexts.find(setter, given)
            if summary is None:
                return OPEN
            used.append((setter.code, summary))
    return bits
