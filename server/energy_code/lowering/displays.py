"""Lowering of displays and comprehensions: lists, tuples, sets, dictionaries."""

from __future__ import annotations

from energy_code.ir.expressions import (
    NOTHING,
    Attribute,
    CallExpression,
    DictDisplay,
    Display,
    Name,
    Starred,
    Subscript,
)
from energy_code.ir.nodes import Expression
from energy_code.ir.targets import Comprehension
from energy_code.lowering.context import ExpressionHandler, Lowering
from energy_code.lowering.targets import lower_target
from energy_code.syntax.node_kinds import (
    DICT_SPLAT,
    FOR_IN,
    LIST_SPLAT,
    PAIR,
    PLAIN_IDENTIFIER,
    TOKENS,
    Node,
    code_children,
)


def lower_starred(lowering: Lowering, node: Node) -> Expression:
    """`*a` standing alone."""
    return Starred(lowering.only(node))


def display_items(lowering: Lowering, node: Node) -> tuple[Expression, ...]:
    """The items of a display."""
    items: list[Expression] = []
    for child in node.children:
        kind = child.kind_id
        if kind in TOKENS:
            continue
        if kind in LIST_SPLAT:
            items.append(Starred(lowering.only(child)))
        elif kind != PLAIN_IDENTIFIER and lowering.source.startswith(b"*", child.start_byte):
            items.append(Starred(without_star(lowering.expression(child))))
        else:
            items.append(lowering.expression(child))
    return tuple(items)


def lower_list(lowering: Lowering, node: Node) -> Expression:
    """`[a, b]`."""
    return Display("list", display_items(lowering, node))


def lower_tuple(lowering: Lowering, node: Node) -> Expression:
    """`(a, b)` and `a, b`."""
    return Display("tuple", display_items(lowering, node))


def lower_set(lowering: Lowering, node: Node) -> Expression:
    """`{a, b}`."""
    return Display("set", display_items(lowering, node))


def lower_dict(lowering: Lowering, node: Node) -> Expression:
    """`{a: b}`."""
    items: list[tuple[Expression | None, Expression]] = []
    for child in code_children(node):
        if child.kind_id in PAIR:
            pair = code_children(child)
            if len(pair) == 2:
                items.append((lowering.expression(pair[0]), lowering.expression(pair[1])))
                continue
        if child.kind_id in DICT_SPLAT:
            items.append((None, lowering.only(child)))
        else:
            items.append((NOTHING, lowering.group(child)))
    return DictDisplay(tuple(items))


def lower_comprehension(lowering: Lowering, node: Node, kind: str) -> Expression:
    """Any comprehension."""
    children = code_children(node)
    if not children:
        return NOTHING
    outer = lowering.scope
    lowering.scope = outer.comprehension()
    clauses: list[tuple[Expression | None, Expression]] = []
    for child in children[1:]:
        parts = code_children(child)
        if child.kind_id in FOR_IN and len(parts) >= 2:
            right = (
                lowering.expression(parts[1])
                if len(parts) == 2
                else Display("tuple", tuple(map(lowering.expression, parts[1:])))
            )
            clauses.append((lower_target(lowering, parts[0]), right))
        elif parts:
            clauses.append((None, lowering.expression(parts[0])))
    key: Expression | None = None
    if children[0].kind_id in PAIR and len(code_children(children[0])) == 2:
        first, second = code_children(children[0])
        key, element = lowering.expression(first), lowering.expression(second)
    else:
        element = lowering.expression(children[0])
    lowering.scope = outer
    return Comprehension(kind, element, key, tuple(clauses))


def lower_list_comprehension(lowering: Lowering, node: Node) -> Expression:
    """`[a for b in c]`."""
    return lower_comprehension(lowering, node, "list")


def lower_set_comprehension(lowering: Lowering, node: Node) -> Expression:
    """`{a for b in c}`."""
    return lower_comprehension(lowering, node, "set")


def lower_dict_comprehension(lowering: Lowering, node: Node) -> Expression:
    """`{a: b for c in d}`."""
    return lower_comprehension(lowering, node, "dict")


def lower_generator(lowering: Lowering, node: Node) -> Expression:
    """`(a for b in c)`."""
    return lower_comprehension(lowering, node, "iterator")


def without_star(expression: Expression) -> Expression:
    """`[*a.b()]` is parsed as if the star belonged to `a` alone: the chain without it, from where `a` stands."""
    chain: list[CallExpression | Attribute | Subscript] = []
    inner = expression
    while isinstance(inner, CallExpression | Attribute | Subscript):
        chain.append(inner)
        inner = inner.function if isinstance(inner, CallExpression) else inner.value
    if not chain or type(inner) is not Starred:
        return expression
    operand, last = inner.value, chain[-1]
    if isinstance(last, CallExpression):
        last.function = operand
    else:
        last.value = operand
    if isinstance(operand, Name | CallExpression | Attribute | Subscript):
        for part in chain:
            part.start = operand.start
    return expression


DISPLAYS: dict[str, ExpressionHandler] = {
    "list": lower_list,
    "tuple": lower_tuple,
    "expression_list": lower_tuple,
    "type_parameter": lower_tuple,
    "set": lower_set,
    "dictionary": lower_dict,
    "list_comprehension": lower_list_comprehension,
    "set_comprehension": lower_set_comprehension,
    "dictionary_comprehension": lower_dict_comprehension,
    "generator_expression": lower_generator,
    "list_splat": lower_starred,
}
