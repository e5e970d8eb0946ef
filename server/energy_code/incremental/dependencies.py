"""The read set of an evaluation: what it has looked at, as bits of a number, and the other evaluations that it used.

After most edits these alone show that a result stands; asking all of its questions again takes far longer.
"""

from __future__ import annotations

from typing import Any

from energy_code.incremental.contexts import Contexts
from energy_code.interpreter.classes import Classes
from energy_code.interpreter.domain.definitions import Module
from energy_code.interpreter.domain.values import ApiModule
from energy_code.interpreter.questions import Basis, basis_of
from energy_code.interpreter.summary import ReadSet, Summary
from energy_code.ir.code import FunctionCode

OPEN = 1
"""Something that can change without a global or a class of the module: it has to be asked for."""
CLASSES = 2
"""What a class of the program holds, or what is set on its objects from outside."""
FIRST_NAME = 4
UNTOLD = ReadSet(OPEN, [])


def bit_of(module: Module, name: str) -> int:
    """The bit that stands for a global of the module."""
    bit = module.bits.get(name)
    if bit is None:
        bit = module.bits[name] = FIRST_NAME << len(module.bits)
    return bit


def find_read_set(contexts: Contexts, classes: Classes, module: Module, summary: Summary) -> ReadSet:
    """The read set of a finished evaluation of the module's code."""
    bits = 0
    used: list[tuple[FunctionCode, Summary]] = []
    for question, subject, answer in summary.dependencies:
        basis = basis_of(question)
        if basis is Basis.CONSTRUCTOR:
            sources = constructors(contexts, classes, module, *subject)
            if sources is None:
                return UNTOLD
            used += sources
            bits |= CLASSES
        elif basis is Basis.CLASSES:
            bits |= CLASSES
        elif basis is Basis.IMPORT:
            if type(answer) is not ApiModule:
                return UNTOLD
        elif basis is not Basis.CALL:
            return UNTOLD
    for function, given, callee in summary.invocations:
        newest = contexts.find(function, given) if callee.replaced else callee
        if newest is None or function.module is not module:
            return UNTOLD
        used.append((function.code, newest))
    for name in summary.globals:
        bits |= bit_of(module, name)
    return ReadSet(bits, used)


def constructors(
    contexts: Contexts, classes: Classes, module: Module, instance: Any, name: str
) -> list[tuple[FunctionCode, Summary]] | None:
    """The evaluations that set an attribute of an object; None unless only its own constructor does."""
    found: list[tuple[FunctionCode, Summary]] = []
    for setter in classes.setters(instance.cls).get(name, ()):
        given = ((setter.code.parameters[0].name, instance), *(instance.given or ()))
        summary = contexts.find(setter, given)
        if setter.code.name != "__init__" or setter.module is not module or summary is None:
            return None
        found.append((setter.code, summary))
    return found
