"""Loops and branches of TensorFlow: functions of the program that it calls, with what they are given and give."""

from __future__ import annotations

from typing import TYPE_CHECKING

from energy_code.interpreter.domain.arguments import Arguments
from energy_code.interpreter.domain.lattice import join_all
from energy_code.interpreter.domain.values import (
    TENSOR_VALUE,
    UNKNOWN,
    Constant,
    Mapping,
    Sequence,
    Union,
    Value,
)
from energy_code.models.tensorflow.callbacks import mark

if TYPE_CHECKING:
    from energy_code.interpreter.frame import Frame
    from energy_code.models.tensorflow.api_call import ApiCall


def leaves_as_tensors(value: Value) -> Value:
    """What a function is given for a loop variable: numbers and what is not known are tensors by then."""
    if value is UNKNOWN or type(value) is Constant:
        return TENSOR_VALUE
    if type(value) is Sequence:
        items = value.items and tuple(leaves_as_tensors(item) for item in value.items)
        return Sequence(value.kind, items, leaves_as_tensors(value.element))
    if type(value) is Mapping:
        return Mapping(tuple((key, leaves_as_tensors(item)) for key, item in value.items), value.element)
    return value


def called(frame: Frame, function: Value, given: list[Value]) -> Value:
    """What a function gives that TensorFlow calls while it traces."""

    mark(frame, function, "graph")
    return frame.call(function, Arguments(given, {}, True), None)


def while_loop(frame: Frame, call: ApiCall) -> Value:
    """`tf.while_loop(cond, body, loop_vars)`: both are called with the variables, which keep their structure."""
    variables = leaves_as_tensors(call.arguments.get(2, "loop_vars") or UNKNOWN)
    given = list(variables.items) if type(variables) is Sequence and variables.items else [variables]
    called(frame, call.arguments.get(0, "cond") or UNKNOWN, given)
    called(frame, call.arguments.get(1, "body") or UNKNOWN, given)
    return variables


def branches(frame: Frame, call: ApiCall) -> Value:
    """`tf.cond(test, f, g)`, `tf.switch_case(index, [f, g])`, `tf.case([(test, f)], default=g)`: what the branches give."""
    functions: list[Value] = []
    waiting = call.arguments.all()[::-1]
    while waiting:
        value = waiting.pop()
        if type(value) is Sequence and value.items is not None:
            waiting.extend(value.items[::-1])
        elif type(value) is Mapping:
            waiting.extend(item for _, item in value.items)
        elif not isinstance(value, Constant) and value is not TENSOR_VALUE:
            functions.append(value)
    found = [called(frame, function, []) for function in functions if function is not UNKNOWN]
    given = join_all(tuple(value for value in found if value is not UNKNOWN))
    return call.result if given is UNKNOWN or type(given) is Union else leaves_as_tensors(given)
