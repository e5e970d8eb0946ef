"""Operators: what arithmetic and comparisons give."""

from __future__ import annotations

from typing import TYPE_CHECKING

from energy_code.expressions import MAX_ITEMS, Expression
from energy_code.values import (
    KERAS_TENSOR,
    STRING,
    TENSOR,
    TENSOR_VALUE,
    UNKNOWN,
    ApiInstance,
    Constant,
    OneOf,
    Sequence,
    Value,
    element_of,
    join,
    options_of,
)

if TYPE_CHECKING:
    from energy_code.frames import Frame


class Operator(Expression):
    """Arithmetic and comparisons: a tensor in, a tensor out."""

    __slots__ = ("comparison", "operands", "symbol")

    def __init__(self, start: int, end: int, operands: tuple[Expression, ...], symbol: str) -> None:
        self.start = start
        self.end = end
        self.operands = operands
        self.symbol = symbol

    def evaluate(self, frame: Frame) -> Value:
        """A tensor if any operand is one, a list for joined lists, a number for numbers."""
        result: Value = UNKNOWN
        values = [operand.evaluate(frame) for operand in self.operands]
        for value in values:
            if type(value) in MAYBE_TENSORS and is_tensor(value):
                if self.symbol not in IDENTITY_OPERATORS:
                    result = tensor_of(values)
                    frame.values[self] = result
                return result
        if len(values) == 2:
            result = fold(self.symbol, values[0], values[1])
        elif self.symbol == "not" and type(values[0]) is Constant and values[0] is not STRING:
            result = Constant(not values[0].value)
        elif self.symbol == "-" and type(values[0]) is Constant and type(values[0].value) is int:
            result = Constant(-values[0].value)
        return result


MAYBE_TENSORS = frozenset([ApiInstance, OneOf])
IDENTITY_OPERATORS = frozenset(["is", "is not", "in", "not in", "not"])
TENSOR_CLASSES = frozenset([TENSOR, KERAS_TENSOR, "tensorflow.Variable", "keras.Variable"])


def is_tensor(value: Value) -> bool:
    """True when operators on the value give tensors."""
    if type(value) is ApiInstance:
        return value.cls in TENSOR_CLASSES
    return type(value) is OneOf and any(is_tensor(option) for option in value.options)


def tensor_of(values: list[Value]) -> Value:
    """The kind of tensor that an operation on these gives: symbolic ones stay symbolic."""
    for value in values:
        for option in options_of(value):
            if type(option) is ApiInstance and option.cls == KERAS_TENSOR:
                return ApiInstance(KERAS_TENSOR)
    return TENSOR_VALUE


def fold(symbol: str, left: Value, right: Value) -> Value:
    """Operators on constants (loop lengths) and on lists."""
    if type(left) is Constant and type(right) is Constant and left is not STRING and right is not STRING:
        return fold_constants(symbol, left, right)
    if type(left) is Sequence and symbol == "+" and type(right) is Sequence and left.kind == right.kind:
        if left.items is not None and right.items is not None:
            return Sequence(left.kind, (left.items + right.items)[:MAX_ITEMS])
        return Sequence(left.kind, None, join(element_of(left), element_of(right)))
    if type(left) is Sequence and symbol == "*":
        return Sequence(left.kind, None, element_of(left))
    return UNKNOWN


def fold_constants(symbol: str, left: Constant, right: Constant) -> Value:
    """The few operators that loop lengths and flags are made of."""
    a, b = left.value, right.value
    if symbol in ("is", "=="):
        return Constant(a == b)
    if symbol in ("is not", "!="):
        return Constant(a != b)
    if type(a) is not int or type(b) is not int or abs(a) > 10**9 or abs(b) > 10**9:
        return UNKNOWN
    if symbol == "+":
        return Constant(a + b)
    if symbol == "-":
        return Constant(a - b)
    if symbol == "*":
        return Constant(a * b)
    if symbol == "//" and b:
        return Constant(a // b)
    if symbol == "%" and b:
        return Constant(a % b)
    if symbol == "**" and 0 <= b <= 30 and abs(a) <= 1000:
        return Constant(a**b)
    return UNKNOWN
