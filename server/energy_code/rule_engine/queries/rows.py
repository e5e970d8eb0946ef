"""Batches of one row, and code that loops run again and again from elsewhere."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from energy_code.rule_engine.context import RuleContext, bare
from energy_code.rule_engine.queries.loops import calls_of, method_calls

if TYPE_CHECKING:
    from tree_sitter import Node

_ONE_ROW = re.compile(
    r".+\[(?:None|(?:\w+\.)?newaxis)\b.*\]|.+\.reshape\(\(?\[?1,.*\)|\w+\[(\w+)\s*:\s*\1\s*\+\s*1\]",
    re.DOTALL,
)
"""`x[None]`, `x.reshape(1, -1)`, `x[i : i + 1]`."""
_EXPANDS = frozenset({"tensorflow.expand_dims", "keras.ops.expand_dims"})
_CONVERTS = {
    "tensorflow.convert_to_tensor": "value",
    "tensorflow.constant": "value",
    "keras.ops.convert_to_tensor": "x",
}
"""With the name of what they are given."""
_OF_NUMPY = frozenset({"array", "asarray", "stack"})


def is_one_row(place: RuleContext, value: Node) -> bool:
    """Whether an expression puts one row into a batch of its own."""
    text = place.text(value)
    if _ONE_ROW.fullmatch(text):
        return True
    axis = place.argument(value, "axis", 1) if value.type == "call" else None
    expands = axis is not None and place.constant(axis) == 0
    api = place.api(value)
    if api in _EXPANDS:
        return expands
    if api in _CONVERTS:
        inner = place.argument(value, _CONVERTS[api], 0)
        return inner is not None and (
            is_one_row(place, inner) or re.fullmatch(r"\[\w+\]", place.text(inner)) is not None
        )
    alias = place.module_alias("numpy")
    if alias is None or not text.startswith(f"{alias}."):
        return False
    name, _, arguments = text.removeprefix(f"{alias}.").partition("(")
    if name == "expand_dims":
        return expands
    if name == "reshape":
        return re.search(r",\s*(?:newshape\s*=\s*|shape\s*=\s*)?[\[(]1,", arguments) is not None
    return name in _OF_NUMPY and re.fullmatch(r"\[\w+\](?:,[^()]*)?\)", arguments) is not None


def looks_like_one_row(place: RuleContext, call: Node, value: Node) -> bool:
    """The same, also where a name was given such a batch before, or only the first row of what comes out is used."""
    if is_one_row(place, value):
        return True
    if value.type == "identifier" and any(
        is_one_row(place, bare(right))
        for one in place.assignments(value)
        if (right := one.child_by_field_name("right")) is not None
    ):
        return True
    return _first_row_is_used(place, call)


def _first_row_is_used(place: RuleContext, call: Node) -> bool:
    """`predict(x)[0]`, or `y = predict(x)` and `y[0]` behind it."""
    holder = call.parent
    if holder is not None and holder.type == "subscript":
        return _is_first(place, holder)
    left = holder.child_by_field_name("left") if holder is not None and holder.type == "assignment" else None
    if left is None or left.type != "identifier":
        return False
    uses = [use.parent for use in place.uses(place.scope(call), place.text(left))]
    return any(use is not None and use.type == "subscript" and _is_first(place, use) for use in uses)


def _is_first(place: RuleContext, subscript: Node) -> bool:
    index = subscript.child_by_field_name("subscript")
    return index is not None and re.match(r"0(?!\d|\s*:)", place.text(index)) is not None


def loop_of_callers(place: RuleContext, node: Node) -> Node | None:
    """The loop of the file that runs the function around a node again and again, by a call of its name."""
    function = place.function(node)
    block = function.parent if function is not None else None
    if function is None or block is None:
        return None
    in_class = block.parent is not None and block.parent.type == "class_definition"
    calls = method_calls(place, function) if in_class else calls_of(place, function)
    return next((loop for call in calls if (loop := place.loop(call)) is not None), None)
