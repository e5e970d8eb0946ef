"""Whether an expression is one number: where it is, few rewrites save anything."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from energy_code.rule_engine.queries.loops import mentions
from energy_code.rule_engine.queries.shapes import MADE_OF_VALUES, SAME_SHAPE

if TYPE_CHECKING:
    from tree_sitter import Node

    from energy_code.rule_engine.context import RuleContext

_NUMBER_TYPE = re.compile(r"(?:Optional\[)?(?:int|float)\]?(?: \| None)?")
"""How a parameter that is one number is annotated."""
_NUMBERS = frozenset({"tensorflow.size", "tensorflow.rank"})


def is_number(place: RuleContext, node: Node, depth: int = 4) -> bool:
    """Whether an expression is visibly one number: a length, a size, an argument that is declared as a number."""
    node = place.value(node)
    if depth == 0:
        return False
    if node.type == "call":
        api = place.api(node) or ""
        first = place.argument(node, "x" if api == "tensorflow.cast" else "value", 0)
        passes = api in SAME_SHAPE or api in MADE_OF_VALUES or api == "tensorflow.math.sqrt"
        if api in _NUMBERS or (passes and first is not None and is_number(place, first, depth - 1)):
            return True
    if node.type == "subscript":
        value, index = node.child_by_field_name("value"), node.children_by_field_name("subscript")
        of_shape = value is not None and (
            place.text(value).endswith(".shape") or place.api(value) == "tensorflow.shape"
        )
        return of_shape and len(index) == 1 and index[0].type != "slice"
    if node.type in ("boolean_operator", "binary_operator"):
        return all(is_number(place, part, depth - 1) for part in node.named_children)
    if node.type == "identifier":
        return _is_declared_number(place, node)
    if node.type == "attribute":
        return any(is_number(place, value, depth - 1) for value in _set_values(place, node))
    return node.type in ("integer", "float") or place.shape(node) == ()


def _is_declared_number(place: RuleContext, name: Node) -> bool:
    """Whether a function around has a parameter of that name with a number's type or default."""
    text = place.text(name)
    for function in place.ancestors(name):
        listed = (
            function.child_by_field_name("parameters") if function.type == "function_definition" else None
        )
        for parameter in listed.named_children if listed is not None else ():
            kind, default = parameter.child_by_field_name("type"), parameter.child_by_field_name("value")
            if place.text(parameter).partition(":")[0].partition("=")[0].strip() == text:
                declared = kind is not None and _NUMBER_TYPE.fullmatch(place.text(kind)) is not None
                return declared or (default is not None and default.type in ("integer", "float"))
    return False


def _set_values(place: RuleContext, attribute: Node) -> list[Node]:
    """What the methods of a class set an attribute of `self` to."""
    owner, name = attribute.child_by_field_name("object"), attribute.child_by_field_name("attribute")
    classes = [one for one in place.ancestors(attribute) if one.type == "class_definition"]
    if owner is None or name is None or place.text(owner) != "self" or not classes:
        return []
    inside = range(classes[0].start_byte, classes[0].end_byte)
    targets = [use.parent for use in mentions(place, place.text(name)) if use.start_byte in inside]
    holders = [(target, target.parent) for target in targets if target is not None]
    values = [
        holder.child_by_field_name("right")
        for target, holder in holders
        if holder is not None and holder.type == "assignment" and holder.child_by_field_name("left") == target
    ]
    return [value for value in values if value is not None]
