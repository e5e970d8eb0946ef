"""How often a call runs, where the source tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from energy_code.values import Constant

if TYPE_CHECKING:
    from energy_code.calling import Arguments

EPOCHS_POSITION = 3
"""`fit(x, y, batch_size, epochs)`"""


def epochs_of(arguments: Arguments) -> int:
    """Constant epochs of a `fit` call; 1 where they are not written or not constant."""
    value = arguments.get(EPOCHS_POSITION, "epochs")
    if type(value) is Constant and type(value.value) is int and value.value > 0:
        return value.value
    return 1
