"""What an evaluation has looked at, as bits of a number, and the other evaluations that it leans on.

After most edits these alone show that a result stands; asking all of its questions again takes far longer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from energy_code.values import ApiModule, Value

if TYPE_CHECKING:
    from energy_code.codes import FunctionCode
    from energy_code.engine import Engine
    from energy_code.frames import Summary
    from energy_code.modules import Module

OPEN = 1
"""Something that can change without a global or a class of the module: it has to be asked for."""
CLASSES = 2
"""What a class of the program holds, or what is set on its objects from outside."""
FIRST_NAME = 4


class Reach(NamedTuple):
    """What an evaluation has looked at itself, and whose results it has used."""

    bits: int
    used: list[tuple[FunctionCode, Summary]]


UNTOLD = Reach(OPEN, [])


def bit_of(module: Module, name: str) -> int:
    """The bit that stands for a global of the module."""
    bit = module.bits.get(name)
    if bit is None:
        bit = module.bits[name] = FIRST_NAME << len(module.bits)
    return bit


def find_reach(engine: Engine, module: Module, summary: Summary) -> Reach:
    """The reach of a finished evaluation of the module's code."""
    bits = 0
    used: list[tuple[FunctionCode, Summary]] = []
    for question, subject, answer in summary.dependencies:
        kind = question.__name__
        if kind == "instance_attribute":
            sources = constructors(engine, module, *subject)
            if sources is None:
                return UNTOLD
            used += sources
            bits |= CLASSES
        elif kind in ("ancestry", "class_attribute", "field_names", "inherited"):
            bits |= CLASSES
        elif kind != "called" and not imports_library(kind, answer):
            return UNTOLD
    for function, given, callee in summary.invocations:
        newest = engine.contexts.get(function, {}).get(given) if callee.replaced else callee
        if newest is None or function.module is not module:
            return UNTOLD
        used.append((function.code, newest))
    for name in summary.globals:
        bits |= bit_of(module, name)
    return Reach(bits, used)


def constructors(
    engine: Engine, module: Module, instance: Any, name: str
) -> list[tuple[FunctionCode, Summary]] | None:
    """The evaluations that set an attribute of an object; None unless only its own constructor does."""
    found: list[tuple[FunctionCode, Summary]] = []
    for setter in engine.setters(instance.cls).get(name, ()):
        given = ((setter.code.parameters[0].name, instance), *(instance.given or ()))
        summary = engine.contexts.get(setter, {}).get(given)
        if setter.code.name != "__init__" or setter.module is not module or summary is None:
            return None
        found.append((setter.code, summary))
    return found


def imports_library(kind: str, answer: Value) -> bool:
    """True for an import of TensorFlow or Keras: no edit can change what it gives."""
    return kind in ("import_module", "import_relative") and type(answer) is ApiModule
