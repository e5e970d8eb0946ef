"""Functions of the program that TensorFlow calls, wraps or traces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from energy_code.interpreter.domain.arguments import Arguments
from energy_code.interpreter.domain.definitions import Function, Method, plain_function
from energy_code.interpreter.domain.values import (
    GRAPH_FUNCTION,
    TENSOR_VALUE,
    UNKNOWN,
    ApiInstance,
    Constant,
    Partial,
    Sequence,
    Value,
    options_of,
)

if TYPE_CHECKING:
    from energy_code.interpreter.frame import Frame
    from energy_code.model import Mode

TENSOR_METHODS = frozenset(
    [
        "call",
        "__call__",
        "train_step",
        "test_step",
        "predict_step",
        "update_state",
        "compute_loss",
        "compute_mask",
        "compute_metrics",
    ]
)
"""Methods of subclasses that the framework calls with tensors."""
CALLABLES = frozenset([Function, Method, Partial, ApiInstance])


def wrap_in_graph(frame: Frame, function: Value, jit: Value) -> Value:
    """A function that runs as a graph."""
    mark(frame, function, "jit" if jit == Constant(True) else "graph")
    return ApiInstance(GRAPH_FUNCTION, 1.0, function)


def mark(frame: Frame, function: Value, mode: Mode) -> None:
    """Note that a user's function is traced."""
    for option in options_of(function):
        plain = plain_function(option)
        if plain is not None:
            frame.marks.append((plain, mode))


def is_callable_of_user(value: Value) -> bool:
    """True for functions, bound methods and partials of the program."""
    if type(value) is ApiInstance and value.cls != GRAPH_FUNCTION:
        return False
    return plain_function(value) is not None


def call_with_tensors(frame: Frame, function: Value, element: Value | None = None) -> Value:
    """What a function gives when TensorFlow calls it with tensors (or with the elements of a dataset)."""

    plain = plain_function(function)
    if plain is None:
        return UNKNOWN
    taken = [p for p in plain.code.parameters if p.kind == "plain" and p.default is None][
        bound_count(function) :
    ]
    has_star = any(p.kind == "args" for p in plain.code.parameters)
    positional: list[Value]
    if element is not None and type(element) is Sequence and element.items is not None:
        positional = list(element.items) if len(element.items) == len(taken) or has_star else [element]
    elif has_star and not taken:
        return frame.call(function, Arguments([], {}, False), None)
    else:
        positional = [element if element is not None and len(taken) == 1 else TENSOR_VALUE for _ in taken]
    return frame.call(function, Arguments(positional, {}, True), None)


def bound_count(value: Value) -> int:
    """How many leading parameters are taken already."""
    count = 0
    while True:
        if type(value) is Partial:
            count += len(value.positional) + len(value.keywords)
            value = value.callee
        elif type(value) is Method:
            return count + 1
        elif type(value) is ApiInstance and value.inner is not None:
            value = value.inner
        else:
            return count
