"""What kinds of questions an evaluation asks of the program, by what an answer rests on.

A method that answers questions says so where it is defined: `@rests_on(CLASSES)`. What says nothing rests on anything:
after every edit it is asked again.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from typing import TypeVar

Answering = TypeVar("Answering", bound=Callable[..., object])


class Basis(Enum):
    """What an answer rests on."""

    ANYTHING = auto()
    """It may change without a global or a class of the module: it has to be asked for."""
    CLASSES = auto()
    """What classes of the program hold."""
    CONSTRUCTOR = auto()
    """An attribute of an object: what classes hold, and what the methods that set it do."""
    CALL = auto()
    """What an evaluation of a function gives, which is noted among the invocations."""
    IMPORT = auto()
    """What an import statement finds: of TensorFlow and Keras always the same."""


def rests_on(basis: Basis) -> Callable[[Answering], Answering]:
    """Say of a method what its answers rest on."""

    def mark(question: Answering) -> Answering:
        question.basis = basis  # type: ignore[attr-defined]
        return question

    return mark


def basis_of(question: Callable[..., object]) -> Basis:
    """What the answers of a method rest on."""
    return getattr(question, "basis", Basis.ANYTHING)
