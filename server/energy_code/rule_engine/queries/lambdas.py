"""What can be seen of small functions: whether they are pure, and whether they treat each element alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from energy_code.rule_engine.context import RuleContext, descend
from energy_code.rule_engine.patterns.pattern import catalogue
from energy_code.rule_engine.queries.loops import definition

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

_ADDS_LAST_AXIS = frozenset({"one_hot"})


def parameters(place: RuleContext, function: Node) -> list[str] | None:
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


def is_pure(place: RuleContext, function: Node) -> bool:
    """A lambda in which every call is a TensorFlow operation without effects or chance."""
    inner = body(function)
    if parameters(place, function) is None or inner is None:
        return False
    calls = [*descend(inner, "call"), *([inner] if inner.type == "call" else [])]
    return all(_pure_call(place, call) for call in calls)


def is_elementwise(place: RuleContext, function: Node) -> bool:
    """A function that does the same to each number, of single elements as of whole batches.

    A lambda, or a function of the module made of plain assignments and a return: `(image, label)` may go in and
    come out, but an expression that uses both would meet other shapes in a batch.
    """
    if function.type == "identifier":
        defined = definition(place, place.text(function))
        return defined is not None and _maps_elements(place, defined)
    names = parameters(place, function)
    inner = body(function)
    if names is None or inner is None:
        return False
    return _results(place, inner, {name: name for name in names})


def _maps_elements(place: RuleContext, function: Node) -> bool:
    listed, block = function.child_by_field_name("parameters"), body(function)
    if listed is None or block is None or any(child.type != "identifier" for child in listed.named_children):
        return False
    origins = {place.text(child): place.text(child) for child in listed.named_children}
    statements = [one for one in block.named_children if one.type != "comment"]
    for statement in statements[:-1]:
        inner = statement.named_children[0] if statement.named_children else statement
        if inner.type == "string":
            continue  # what the function is about
        left, right = inner.child_by_field_name("left"), inner.child_by_field_name("right")
        if inner.type != "assignment" or left is None or right is None or left.type != "identifier":
            return False
        used = _used(place, right, origins)
        if used is None or len(used) != 1:
            return False
        origins[place.text(left)] = next(iter(used))
    last = statements[-1] if statements else None
    given = last.named_children if last is not None and last.type == "return_statement" else []
    return len(given) == 1 and _results(place, given[0], origins)


def _results(place: RuleContext, node: Node, origins: dict[str, str]) -> bool:
    """Whether each result depends on one parameter alone."""
    if node.type == "parenthesized_expression" and len(node.named_children) == 1:
        return _results(place, node.named_children[0], origins)
    if node.type in ("tuple", "expression_list"):
        return all(_results(place, child, origins) for child in node.named_children)
    used = _used(place, node, origins)
    return used is not None and len(used) == 1


def _used(place: RuleContext, node: Node, origins: dict[str, str]) -> set[str] | None:
    """The parameters behind an expression that treats each number alike; None where it does not."""
    if node.type in ("integer", "float"):
        return set()
    if node.type == "identifier":
        origin = origins.get(place.text(node))
        return None if origin is None else {origin}
    parts = _operands(place, node, origins)
    if parts is None:
        return None
    found: set[str] = set()
    for part in parts:
        used = _used(place, part, origins)
        if used is None:
            return None
        found |= used
    return found


def _operands(place: RuleContext, node: Node, origins: dict[str, str]) -> list[Node] | None:
    if node.type == "parenthesized_expression":
        return node.named_children
    if node.type in ("binary_operator", "unary_operator"):
        operator = node.child_by_field_name("operator")
        return None if operator is not None and operator.type == "@" else node.named_children
    arguments = node.child_by_field_name("arguments") if node.type == "call" else None
    if arguments is None:
        return None
    api = place.api(node) or ""
    values = [child.child_by_field_name("value") or child for child in arguments.named_children]
    if not api.startswith("tensorflow.") or api.rpartition(".")[2] not in _ELEMENTWISE | _ADDS_LAST_AXIS:
        return None
    if api.rpartition(".")[2] in _ADDS_LAST_AXIS:
        # The depth is one number for all elements, unless it comes from the element itself.
        return values[:1] if len(values) == 2 and _from_outside(place, values[1], origins) else None
    return [value for value in values if not _is_dtype(place, value)]


def _from_outside(place: RuleContext, node: Node, origins: dict[str, str]) -> bool:
    return node.type == "integer" or (node.type == "identifier" and place.text(node) not in origins)


def _is_dtype(place: RuleContext, node: Node) -> bool:
    return place.dtype_name(node).rstrip("0123456789") in ("float", "bfloat", "int", "uint", "bool")


def _pure_call(place: RuleContext, call: Node) -> bool:
    api = place.api(call)
    if api is None or ".random" in api or api.endswith(("py_function", "numpy_function")):
        return False
    entry = catalogue().find(api)
    return entry is not None and entry.pure
