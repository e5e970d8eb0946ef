"""What an evaluation has looked at, itself and through what it called, as bits of a number.

After most edits the bits alone show that a result stands; asking all of its questions again takes far longer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from energy_code.frames import Summary
    from energy_code.modules import Module

OPEN = 1
"""Something that can change without a global or a class of the module: it has to be asked for."""
CLASSES = 2
"""What a class of the program holds."""
FIRST_NAME = 4
KINDS = {"called": 0, "class_attribute": CLASSES, "inherited": CLASSES}
"""What the answers to a question hang on; calls are followed."""


def bit_of(module: Module, name: str) -> int:
    """The bit that stands for a global of the module."""
    bit = module.bits.get(name)
    if bit is None:
        bit = module.bits[name] = FIRST_NAME << len(module.bits)
    return bit


def reach_of(module: Module, summary: Summary) -> int:
    """All that a finished evaluation of the module's code has looked at."""
    if summary.running:
        return OPEN
    if summary.reach is None:
        summary.reach = OPEN  # seen by what leads back to itself while it is found out
        reach = 0
        for question, _, _ in summary.dependencies:
            reach |= KINDS.get(question.__name__, OPEN)
        for name in summary.globals:
            reach |= bit_of(module, name)
        for function, _, callee in summary.invocations:
            reach |= reach_of(module, callee) if function.module is module else OPEN
        summary.reach = reach
    return summary.reach
