"""How many rows an array has, where the text tells: of tensors by their shape, of NumPy's by the call that made it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

    from energy_code.rule_engine.context import RuleContext

_SHAPED = frozenset({"zeros", "ones", "empty", "full", "random", "random_sample", "standard_normal"})
"""Functions of NumPy that take a shape first."""
_COUNTED = frozenset({"rand", "randn"})
"""Those that take the axes one by one."""
_SIZED = frozenset({"normal", "uniform", "randint", "integers", "choice"})
"""Those that take a shape as `size`, third or by name."""


def rows_of(place: RuleContext, node: Node, depth: int = 4) -> int | None:
    """The length of the first axis; None where the text does not tell."""
    shape = place.shape(node)
    if shape:
        return shape[0] if isinstance(shape[0], int) else None
    made = place.value(node)
    function = made.child_by_field_name("function") if made.type == "call" else None
    if function is None or function.type != "attribute" or not depth:
        return None
    name = place.text(function).rpartition(".")[2]
    receiver = function.child_by_field_name("object")
    if name == "astype" and receiver is not None:
        return rows_of(place, receiver, depth - 1)
    if name in _SHAPED | _COUNTED:
        return _first(place, place.argument(made, "shape", 0) or place.argument(made, "size"))
    return _first(place, place.argument(made, "size", 2)) if name in _SIZED else None


def _first(place: RuleContext, size: Node | None) -> int | None:
    if size is None:
        return None
    size = place.value(size)
    if size.type in ("tuple", "list") and size.named_children:
        size = place.value(size.named_children[0])
    length = place.constant(size)
    return length if isinstance(length, int) and length > 0 else None
