"""What the text tells of a tensor's shape and type; None where it does not."""

from __future__ import annotations

import ast
import math
import re
from typing import TYPE_CHECKING, Protocol

from energy_code.rule_engine.queries.dtypes import COMPARISONS, FLOATS_BY_DEFAULT

if TYPE_CHECKING:
    from tree_sitter import Node


Shape = tuple[int | None, ...]


class Questions(Protocol):
    """What is asked of a place (`rule_engine.context.RuleContext`)."""

    def api(self, node: Node | None) -> str | None:
        """Canonical API of a call expression."""

    def text(self, node: Node) -> str:
        """The source of a node."""

    def constant(self, node: Node) -> object:
        """The value of a literal; `...` when it is none."""

    def shape(self, node: Node) -> Shape | None:
        """The shape of a tensor."""

    def dtype_name(self, node: Node) -> str:
        """The name of a type of elements."""

    def is_tensor(self, node: Node) -> bool:
        """Whether an expression is known to be a tensor."""

    def argument(self, node: Node, keyword: str, position: int | None = None) -> Node | None:
        """An argument of a call by keyword or position."""

    def value(self, node: Node) -> Node:
        """What a name stands for."""


SHAPED = {
    "tensorflow.zeros": 0,
    "tensorflow.ones": 0,
    "tensorflow.fill": 0,
    "tensorflow.random.normal": 0,
    "tensorflow.random.uniform": 0,
    "tensorflow.random.truncated_normal": 0,
    "tensorflow.reshape": 1,
    "tensorflow.broadcast_to": 1,
}
"""API → position of its `shape`."""
SAME_SHAPE = frozenset(
    {"tensorflow.cast", "tensorflow.identity", "tensorflow.zeros_like", "tensorflow.ones_like"}
)
_NUMBERS = frozenset({"integer", "float", "true", "false"})
MADE_OF_VALUES = frozenset({"tensorflow.constant", "tensorflow.convert_to_tensor", "tensorflow.Variable"})

_NUMBERS_ALONE = re.compile(r"[\[\](),\s+-]*\.?\d[\[\](),\s\d_.eE+-]*", re.ASCII)
_TRUTHS_ALONE = re.compile(r"(?:[\[\](),\s]|True\b|False\b)*(?:True|False)[\[\](),\s]*")
_SIMPLE = re.compile(
    r"(-?(?:0|[1-9]\d{0,17}))|(-?(?:\d+\.\d*|\.\d+))|('[^'\\\n\r]*'|\"[^\"\\\n\r]*\")", re.ASCII
)
"""Whole numbers, fractions and plain strings: Python's own parser takes many times as long for them."""


def shape_of(place: Questions, node: Node, depth: int = 4) -> Shape | None:
    """The shape of an expression, with None for axes of unknown length."""
    node = place.value(node)
    api = place.api(node)
    if api is None or depth == 0:
        return None
    if api in SHAPED:
        position = SHAPED[api]
        given = place.argument(node, "dims" if api == "tensorflow.fill" else "shape", position)
        return _literal_shape(place, given) if given is not None else None
    if api in MADE_OF_VALUES:
        value = place.argument(node, "initial_value" if api == "tensorflow.Variable" else "value", 0)
        if value is None or place.argument(node, "shape", 2) is not None:
            return None
        known = _shape_of_values(value)
        return known if known is not None else shape_of(place, value, depth - 1)
    if api in SAME_SHAPE:
        first = place.argument(node, "x", 0)
        return shape_of(place, first, depth - 1) if first is not None else None
    if api == "tensorflow.eye":
        rows = place.argument(node, "num_rows", 0)
        size = place.constant(rows) if rows is not None else None
        return (size, size) if isinstance(size, int) else (None, None)
    return None


def size_of(shape: Shape | None) -> int | None:
    """Number of elements, where every axis is known."""
    if shape is None:
        return None
    known = [side for side in shape if side is not None]
    return math.prod(known) if len(known) == len(shape) else None


def is_large(place: Questions, node: Node, small: int) -> bool:
    """False where the last axis is known to be no longer than `small`."""
    shape = place.shape(node)
    return not shape or shape[-1] is None or shape[-1] > small


def _literal_shape(place: Questions, node: Node) -> Shape | None:
    node = place.value(node)
    if node.type not in ("list", "tuple"):
        size = place.constant(node)
        return (size,) if isinstance(size, int) else None
    sides = [place.constant(side) for side in node.named_children if side.type != "comment"]
    return tuple(side if isinstance(side, int) and side >= 0 else None for side in sides)


def _shape_of_values(node: Node) -> Shape | None:
    """The shape of numbers in nested lists, by the first of each; to read them all would take long in a table."""
    if node.type == "unary_operator":
        node = node.named_children[-1]
    if node.type not in ("list", "tuple"):
        return () if node.type in _NUMBERS else None
    entries = [child for child in node.named_children if child.type != "comment"]
    if any(entry.type == "list_splat" for entry in entries):
        return None
    inner = _shape_of_values(entries[0]) if entries else ()
    return None if inner is None else (len(entries), *inner)


def dtype_of(place: Questions, node: Node, depth: int = 4) -> str | None:
    """The element type of an expression: from a comparison, a cast, a stated dtype or a default."""
    node = place.value(node)
    if node.type == "comparison_operator":
        operands = (child for child in node.named_children)
        return "bool" if any(place.is_tensor(operand) for operand in operands) else None
    api = place.api(node)
    if api is None or depth == 0:
        return None
    if api in COMPARISONS:
        return "bool"
    stated = place.argument(node, "dtype", 1 if api == "tensorflow.cast" else None)
    if stated is not None:
        return place.dtype_name(stated)
    if api in ("tensorflow.random.normal", "tensorflow.random.uniform", *FLOATS_BY_DEFAULT):
        arguments = node.child_by_field_name("arguments")
        return "float32" if arguments is not None and len(arguments.named_children) == 1 else None
    if api in MADE_OF_VALUES:
        value = place.argument(node, "initial_value" if api == "tensorflow.Variable" else "value", 0)
        return _dtype_of_values(place.text(value)) if value is not None else None
    if api == "tensorflow.range":
        arguments = node.child_by_field_name("arguments")
        text = place.text(arguments) if arguments is not None else "."
        return "int32" if "." not in text else None
    return None


def _dtype_of_values(text: str) -> str | None:
    """The type of numbers in nested lists: one fraction makes fractions of all."""
    if _NUMBERS_ALONE.fullmatch(text):
        return "float32" if any(sign in text for sign in ".eE") else "int32"
    return "bool" if _TRUTHS_ALONE.fullmatch(text) else None


def literal(text: str) -> object:
    """The value of a literal; `...` when it is none."""
    simple = _SIMPLE.fullmatch(text)
    if simple is not None:
        whole, fraction, quoted = simple.groups()
        return int(whole) if whole is not None else float(fraction) if fraction is not None else quoted[1:-1]
    try:
        value: object = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return ...
    return value
