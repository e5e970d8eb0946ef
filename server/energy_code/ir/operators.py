"""Operators: what arithmetic and comparisons give."""

from __future__ import annotations

from typing import TYPE_CHECKING

from energy_code.interpreter.domain.lattice import element_of, join
from energy_code.interpreter.domain.values import (
    KERAS_TENSOR,
    STRING,
    TENSOR,
    TENSOR_VALUE,
    UNKNOWN,
    ApiInstance,
    Constant,
    Sequence,
    Union,
    Value,
    options_of,
)
from energy_code.interpreter.limits import MAX_ITEMS
from energy_code.ir.nodes import Expression

if TYPE_CHECKING:
    from energy_code.interpreter.frame import Frame


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
        operands = self.operands
        if len(operands) == 2:
            left, right = operands[0].evaluate(frame), operands[1].evaluate(frame)
            if type(left) not in MAYBE_TENSORS and type(right) not in MAYBE_TENSORS:
                return fold(self.symbol, left, right) if left is not UNKNOWN else UNKNOWN
            values = [left, right]
        elif len(operands) == 1:
            values = [operands[0].evaluate(frame)]
            if values[0] is UNKNOWN:
                return UNKNOWN
        else:
            values = [operand.evaluate(frame) for operand in operands]
        result = operated(self.symbol, values)
        if type(result) is ApiInstance:
            frame.values[self] = result
        return result


def operated(symbol: str, values: list[Value]) -> Value:
    """What an operator gives for these operands."""
    if any(map(is_tensor, values)):
        return UNKNOWN if symbol in IDENTITY_OPERATORS else tensor_of(values)
    if len(values) == 2:
        return fold(symbol, values[0], values[1])
    first = values[0] if len(values) == 1 else UNKNOWN
    if symbol == "not" and type(first) is Constant and first is not STRING:
        return Constant(not first.value)
    if symbol == "-" and type(first) is Constant and type(first.value) is int:
        return Constant(-first.value)
    return UNKNOWN


MAYBE_TENSORS = frozenset([ApiInstance, Union])
IDENTITY_OPERATORS = frozenset(["is", "is not", "in", "not in", "not"])
SPECIAL_TENSORS = (KERAS_TENSOR, "tensorflow.RaggedTensor", "tensorflow.sparse.SparseTensor")
"""Of an operation on them comes the same kind."""
TENSOR_CLASSES = frozenset([TENSOR, "tensorflow.Variable", "keras.Variable", *SPECIAL_TENSORS])


def is_tensor(value: Value) -> bool:
    """True when operators on the value give tensors."""
    if type(value) is ApiInstance:
        return value.cls in TENSOR_CLASSES
    return type(value) is Union and any(is_tensor(option) for option in value.options)


def tensor_of(values: list[Value]) -> Value:
    """The kind of tensor that an operation on these gives: symbolic and ragged ones stay what they are."""
    met = {o.cls for value in values for o in options_of(value) if type(o) is ApiInstance}
    return next((ApiInstance(cls) for cls in SPECIAL_TENSORS if cls in met), TENSOR_VALUE)


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
