"""Lowering of operators: arithmetic, comparisons, `and` and `or`, conditional expressions."""

from __future__ import annotations

from energy_code.ir.expressions import NOTHING, Both, Choice
from energy_code.ir.narrowing import TellingBoth, TellingChoice, tells
from energy_code.ir.nodes import Expression
from energy_code.ir.operators import Operator
from energy_code.lowering.context import ExpressionHandler, Lowering
from energy_code.syntax.node_kinds import AND, TOKENS, Node, code_children


def lower_binary(lowering: Lowering, node: Node) -> Expression:
    """`a + b`; long chains are taken apart without going deeper."""
    operands: list[Expression] = []
    symbol = "?"
    start, end = node.start_byte - lowering.scope.base, node.end_byte - lowering.scope.base
    while True:
        children = node.children
        if len(children) != 3:
            operands.extend(lowering.expression(child) for child in code_children(node))
            break
        symbol = children[1].type
        operands.append(lowering.expression(children[2]))
        left = children[0]
        if left.kind_id != node.kind_id:
            operands.append(lowering.expression(left))
            break
        node = left
    operands.reverse()
    return Operator(start, end, tuple(operands), symbol)


def lower_unary(lowering: Lowering, node: Node) -> Expression:
    """`-a`, `not a`."""
    children = node.children
    operand = lowering.expression(children[-1]) if children else NOTHING
    return Operator(
        node.start_byte - lowering.scope.base,
        node.end_byte - lowering.scope.base,
        (operand,),
        children[0].type if children else "?",
    )


def lower_comparison(lowering: Lowering, node: Node) -> Expression:
    """`a < b`."""
    children = node.children
    if len(children) == 3 and children[1].kind_id in TOKENS:
        first, sign, second = children
        pair = (lowering.expression(first), lowering.expression(second))
        return Operator(
            node.start_byte - lowering.scope.base, node.end_byte - lowering.scope.base, pair, sign.type
        )
    operands = tuple(lowering.expression(child) for child in code_children(node))
    symbols = [child.type for child in children if not child.is_named]
    symbol = symbols[0] if len(symbols) == 1 else " ".join(symbols) if len(operands) == 2 else "<"
    return Operator(
        node.start_byte - lowering.scope.base, node.end_byte - lowering.scope.base, operands, symbol
    )


def lower_boolean(lowering: Lowering, node: Node) -> Expression:
    """`a or b`, in chains of any length."""
    options: list[Expression] = []
    both = True
    while True:
        children = node.children
        both = both and AND in [child.kind_id for child in children]
        if len(children) != 3:
            options.extend([lowering.expression(child) for child in code_children(node)][::-1])
            break
        options.append(lowering.expression(children[2]))
        left = children[0]
        if left.kind_id != node.kind_id:
            options.append(lowering.expression(left))
            break
        node = left
    options.reverse()
    if not options:
        return NOTHING
    if not both:
        return Choice(None, tuple(options))
    return (TellingBoth if tells(options[0]) else Both)(None, tuple(options))


def lower_conditional(lowering: Lowering, node: Node) -> Expression:
    """`a if b else c`."""
    children = code_children(node)
    if len(children) != 3:
        return lowering.group(node)
    body, test, orelse = map(lowering.expression, children)
    return (TellingChoice if tells(test) else Choice)(test, (body, orelse))


OPERATORS: dict[str, ExpressionHandler] = {
    "binary_operator": lower_binary,
    "union_type": lower_binary,
    "unary_operator": lower_unary,
    "not_operator": lower_unary,
    "comparison_operator": lower_comparison,
    "boolean_operator": lower_boolean,
    "conditional_expression": lower_conditional,
}
