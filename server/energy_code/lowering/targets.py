"""Lowering of what is assigned to."""

from __future__ import annotations

from energy_code.ir.expressions import (
    NOTHING,
    Attribute,
    Display,
    Starred,
    Subscript,
)
from energy_code.ir.nodes import Expression
from energy_code.lowering.context import Lowering
from energy_code.syntax.node_kinds import KINDS, PLAIN_IDENTIFIER, Node, code_children


def lower_target(lowering: Lowering, node: Node) -> Expression:
    """What is assigned to."""
    if node.kind_id == PLAIN_IDENTIFIER:
        name = lowering.name(node)
        lowering.scope.names.add(name.id)
        return name
    kind = KINDS[node.kind_id % 65535]
    if kind in ("pattern_list", "tuple_pattern", "list_pattern", "expression_list", "tuple", "list"):
        return Display("tuple", tuple(lower_target(lowering, child) for child in code_children(node)))
    if kind in ("list_splat_pattern", "list_splat"):
        children = code_children(node)
        return Starred(lower_target(lowering, children[0])) if children else NOTHING
    if kind in ("parenthesized_expression", "as_pattern_target"):
        children = code_children(node)
        return lower_target(lowering, children[0]) if len(children) == 1 else lowering.group(node)
    result = lowering.expression(node)
    if type(result) is Attribute:
        lowering.scope.attributes.add(result.name)
    elif type(result) is Subscript and type(result.value) is Attribute:
        lowering.scope.attributes.add(result.value.name)
    return result
