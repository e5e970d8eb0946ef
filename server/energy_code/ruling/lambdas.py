"""What can be seen of small functions: whether they are pure, and whether they treat each element alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from energy_code.ruling.pattern import catalogue
from energy_code.ruling.place import Place, descend

if TYPE_CHECKING:
    from tree_sitter import Node

_ELEMENTWISE = frozenset(
    [
        "abs",
        "acos",
        "add",
        "asin",
        "atan",
        "cast",
        "ceil",
        "clip_by_value",
        "cos",
        "cosh",
        "divide",
        "elu",
        "erf",
        "exp",
        "expm1",
        "floor",
        "floordiv",
        "gelu",
        "leaky_relu",
        "log",
        "log1p",
        "log_sigmoid",
        "maximum",
        "minimum",
        "mod",
        "multiply",
        "negative",
        "pow",
        "reciprocal",
        "relu",
        "relu6",
        "round",
        "rsqrt",
        "saturate_cast",
        "sigmoid",
        "sign",
        "silu",
        "sin",
        "sinh",
        "softplus",
        "softsign",
        "sqrt",
        "square",
        "squared_difference",
        "subtract",
        "swish",
        "tan",
        "tanh",
    ]
)


def parameters(place: Place, function: Node) -> list[str] | None:
    """Plain parameter names of a lambda; None when it has others (defaults, stars) or is no lambda."""
    if function.type != "lambda":
        return None
    listed = function.child_by_field_name("parameters")
    if listed is None or any(child.type != "identifier" for child in listed.named_children):
        return None
    return [place.text(child) for child in listed.named_children]


def body(function: Node) -> Node | None:
    """The expression that a lambda gives."""
    return function.child_by_field_name("body")


def is_pure(place: Place, function: Node) -> bool:
    """A lambda in which every call is a TensorFlow operation without effects or chance."""
    inner = body(function)
    if parameters(place, function) is None or inner is None:
        return False
    calls = [*descend(inner, "call"), *([inner] if inner.type == "call" else [])]
    return all(_pure_call(place, call) for call in calls)


def is_elementwise(place: Place, function: Node) -> bool:
    """A lambda of one parameter that does the same to each number."""
    names = parameters(place, function)
    inner = body(function)
    if names is None or len(names) != 1 or inner is None:
        return False
    return _elementwise(place, inner, names[0])


def _elementwise(place: Place, node: Node, name: str) -> bool:
    if node.type == "parenthesized_expression":
        return all(_elementwise(place, child, name) for child in node.named_children)
    if node.type == "identifier":
        return place.text(node) == name
    if node.type in ("integer", "float"):
        return True
    if node.type in ("binary_operator", "unary_operator"):
        operator = node.child_by_field_name("operator")
        if operator is not None and operator.type == "@":
            return False
        return all(_elementwise(place, child, name) for child in node.named_children)
    if node.type == "call":
        api = place.api(node) or ""
        arguments = node.child_by_field_name("arguments")
        if (
            api.rpartition(".")[2] not in _ELEMENTWISE
            or not api.startswith("tensorflow.")
            or arguments is None
        ):
            return False
        values = [c.child_by_field_name("value") or c for c in arguments.named_children]
        return all(_elementwise(place, value, name) or _is_dtype(place, value) for value in values)
    return False


def _is_dtype(place: Place, node: Node) -> bool:
    return place.dtype_name(node).rstrip("0123456789") in ("float", "bfloat", "int", "uint", "bool")


def _pure_call(place: Place, call: Node) -> bool:
    api = place.api(call)
    if api is None or ".random" in api or api.endswith(("py_function", "numpy_function")):
        return False
    entry = catalogue().find(api)
    return entry is not None and entry.pure
