"""Values under operators: numbers and texts as in Python, arrays by their shapes."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from energy_code.static_shapes.doors import Walk
from energy_code.static_shapes.limits import LONGEST_LIST
from energy_code.static_shapes.models.trace import ModelTrace
from energy_code.static_shapes.operations import arrays
from energy_code.static_shapes.values.kinds import (
    SOME_NUMBER,
    UNKNOWN,
    Array,
    Items,
    Name,
    Node,
)
from energy_code.static_shapes.values.structures import (
    items_of,
)

SIGNS: Mapping[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
    ast.Lt: "<", ast.Gt: ">", ast.LtE: "<=", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
APIS = {
    "+": "math.add", "-": "math.subtract", "*": "math.multiply", "/": "math.truediv", "@": "linalg.matmul", "**": "math.pow",
    "<": "math.less", ">": "math.greater", "<=": "math.less_equal", ">=": "math.greater_equal", "==": "math.equal",
}  # fmt: skip
"""The API that an operator between tensors stands for."""
PLAIN: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "&": operator.and_, "|": operator.or_, "<": operator.lt, ">": operator.gt, "<=": operator.le,
    ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


class Operators:
    """Answers what two values under an operator are. No state of its own."""

    def __init__(self, walk: Walk, trace: ModelTrace) -> None:
        self.walk, self.context, self.trace = walk, walk.context, trace

    def combined(self, sign: str, left: Any, right: Any) -> Any:
        """Two values under an operator."""
        if isinstance(left, Node) or isinstance(right, Node):
            return self.walk.symbolic(Name(f"(operator).{sign}"), [left, right], {})
        if isinstance(left, Array) or isinstance(right, Array):
            try:
                found = arrays.combined(left, right, sign)
            except (ValueError, TypeError):
                return UNKNOWN
            if self.trace.active and isinstance(found, Array) and sign in APIS:
                self.trace.operation(
                    f"tensorflow.{APIS[sign]}",
                    [each for each in (left, right) if isinstance(each, Array)],
                    None,
                    self.context.at,
                )
            return found
        if SOME_NUMBER in (left, right):
            number = all(isinstance(each, (int, float)) or each is SOME_NUMBER for each in (left, right))
            return SOME_NUMBER if number and sign in "+-*//%**" else UNKNOWN
        if isinstance(left, Items) or isinstance(right, Items):
            return self._lists(sign, left, right)
        if sign == "%" and isinstance(left, str):
            return UNKNOWN
        if sign == "**":
            return left**right if _small(left) and _small(right) and (left or right >= 0) else UNKNOWN
        plain = (int, float, str, tuple)
        found_plain = PLAIN.get(sign)
        if found_plain is None or not isinstance(left, plain) or not isinstance(right, plain):
            if sign in ("==", "!=") and (left is None or right is None) and UNKNOWN not in (left, right):
                return (left is right) == (sign == "==")
            return UNKNOWN
        if _long(left) or _long(right) or (sign == "*" and _repeats_long(left, right)):
            return UNKNOWN
        try:
            result = found_plain(left, right)
        except (TypeError, ValueError, ZeroDivisionError, OverflowError):
            return UNKNOWN
        return UNKNOWN if _long(result) else result

    def _lists(self, sign: str, left: Any, right: Any) -> Any:
        one, other = items_of(left), items_of(right)
        if sign == "+" and one is not None and other is not None and len(one) + len(other) <= LONGEST_LIST:
            return Items([*one, *other], self.context.uncertain)
        times = right if one is not None else left
        listed = one if one is not None else other
        if (
            sign == "*"
            and listed is not None
            and isinstance(times, int)
            and len(listed) * times <= LONGEST_LIST
        ):
            return Items(listed * times, self.context.uncertain)
        return UNKNOWN

    def compared(self, op: ast.cmpop, left: Any, right: Any) -> Any:
        """What a comparison says."""
        if isinstance(op, (ast.Is, ast.IsNot)):
            if UNKNOWN in (left, right) or isinstance(left, Name) or isinstance(right, Name):
                return UNKNOWN
            same = left is right or (
                isinstance(left, (int, str)) and left == right and type(left) is type(right)
            )
            return same == isinstance(op, ast.Is)
        if isinstance(op, (ast.In, ast.NotIn)):
            listed = items_of(right)
            if isinstance(left, str) and isinstance(right, str):
                return (left in right) == isinstance(op, ast.In)
            if listed is None or not isinstance(left, (int, str, float)) or UNKNOWN in listed:
                return UNKNOWN
            return (left in listed) == isinstance(op, ast.In)
        return self.combined(SIGNS[type(op)], left, right)


def _small(value: Any) -> bool:
    return isinstance(value, (int, float)) and abs(value) <= 4096


def _long(value: Any) -> bool:
    if isinstance(value, (int, float)):
        return abs(value) > 1 << 62
    return isinstance(value, (tuple, str)) and len(value) > LONGEST_LIST


def _repeats_long(left: Any, right: Any) -> bool:
    for one, times in ((left, right), (right, left)):
        if isinstance(one, (tuple, str)) and isinstance(times, int) and len(one) * times > LONGEST_LIST:
            return True
    return False
