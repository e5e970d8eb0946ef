"""Lowering of compound statements: branches, loops, contexts, handlers."""

from __future__ import annotations

from energy_code.interpreter.limits import MAX_BLOCK_DEPTH, MAX_BRANCHES
from energy_code.ir.blocks import If, Loop, Try, With
from energy_code.ir.expressions import NOTHING
from energy_code.ir.nodes import Expression, Statement
from energy_code.ir.statements import Block
from energy_code.lowering.context import Lowering
from energy_code.lowering.targets import lower_target
from energy_code.syntax import node_fields as fields
from energy_code.syntax.node_kinds import ERROR, KINDS, TOKENS, Node, code_children, kinds

BLOCK = kinds("block")
Body = tuple[Statement, ...]


def lower_block(lowering: Lowering, node: Node | None) -> Body:
    """The statements of a block."""
    if node is None:
        return ()
    lowering.depth += 2
    result: list[Statement] = []
    if lowering.depth < MAX_BLOCK_DEPTH:
        lower = lowering.statement
        for child in node.children:
            statement = lower(child)
            if statement is not None:
                result.append(statement)
    lowering.depth -= 2
    return tuple(result)


def clause_block(lowering: Lowering, node: Node) -> Body:
    """The block among the children of a clause."""
    for child in node.children:
        if child.kind_id in BLOCK:
            return lower_block(lowering, child)
    return ()


def lower_if(lowering: Lowering, node: Node) -> Statement:
    """`if`, with any number of `elif`."""
    children = node.children
    if len(children) == 4 and children[3].kind_id in BLOCK:  # neither `elif` nor `else`, as most are
        body = lower_block(lowering, children[3])
        return If(lowering.expression(children[1]), body, ())
    test = node.child_by_field_id(fields.CONDITION)
    clauses = [(test, lower_block(lowering, node.child_by_field_id(fields.CONSEQUENCE)))]
    tests = [lowering.expression(test) if test is not None else NOTHING]
    orelse: Body = ()
    extra: list[Statement] = []
    for child in children:
        kind = KINDS[child.kind_id % 65535]
        if kind == "elif_clause":
            test = child.child_by_field_id(fields.CONDITION)
            tests.append(lowering.expression(test) if test is not None else NOTHING)
            clauses.append((test, lower_block(lowering, child.child_by_field_id(fields.CONSEQUENCE))))
        elif kind == "else_clause":
            orelse = lower_block(lowering, child.child_by_field_id(fields.BODY))
        elif child.kind_id == ERROR:
            recovered = lowering.statement(child)
            if recovered is not None:
                extra.append(recovered)
    chains: list[Statement] = []
    for number in range(len(tests) - 1, -1, -1):
        orelse = (If(tests[number], clauses[number][1], orelse),)
        if number and number % MAX_BRANCHES == 0:
            chains, orelse = [*orelse, *chains], ()
    return Block((*orelse, *chains, *extra)) if chains or extra else orelse[0]


def lower_for(lowering: Lowering, node: Node) -> Statement:
    """`for a in b`."""
    left, right = node.child_by_field_id(fields.LEFT), node.child_by_field_id(fields.RIGHT)
    source = lowering.expression(right) if right is not None else NOTHING
    target = lower_target(lowering, left) if left is not None else NOTHING
    body = lower_block(lowering, node.child_by_field_id(fields.BODY))
    return Loop(target, source, body, loop_else(lowering, node))


def lower_while(lowering: Lowering, node: Node) -> Statement:
    """`while a`."""
    test = node.child_by_field_id(fields.CONDITION)
    source = lowering.expression(test) if test is not None else NOTHING
    return Loop(
        None, source, lower_block(lowering, node.child_by_field_id(fields.BODY)), loop_else(lowering, node)
    )


def loop_else(lowering: Lowering, node: Node) -> Body:
    """The `else` of a loop."""
    clause = node.child_by_field_id(fields.ALTERNATIVE)
    return lower_block(lowering, clause.child_by_field_id(fields.BODY)) if clause is not None else ()


def lower_with(lowering: Lowering, node: Node) -> Statement:
    """`with a as b, c as d`."""
    parts = [child for child in node.children if child.kind_id not in TOKENS and child.kind_id not in BLOCK]
    items = with_items(lowering, parts)
    return With(items, lower_block(lowering, node.child_by_field_id(fields.BODY)))


def with_items(lowering: Lowering, nodes: list[Node]) -> tuple[tuple[Expression, Expression | None], ...]:
    """What is entered, and what it is bound to."""
    items: list[tuple[Expression, Expression | None]] = []
    stack = nodes[::-1]
    while stack:
        child = stack.pop()
        kind = KINDS[child.kind_id % 65535]
        if kind in ("with_clause", "with_item", "tuple") or (
            kind == "parenthesized_expression" and "as_pattern" in [part.type for part in child.children]
        ):
            stack.extend(code_children(child)[::-1])
        elif kind == "as_pattern":
            parts = code_children(child)
            target = lower_target(lowering, parts[1]) if len(parts) > 1 else None
            items.append((lowering.expression(parts[0]), target))
        else:
            items.append((lowering.expression(child), None))
    return tuple(items)


def lower_try(lowering: Lowering, node: Node) -> Statement:
    """`try`, with its clauses."""
    body = lower_block(lowering, node.child_by_field_id(fields.BODY))
    handlers: list[tuple[Expression | None, Expression | None, Body]] = []
    orelse: Body = ()
    final: Body = ()
    for child in node.children:
        kind = KINDS[child.kind_id % 65535]
        if kind in ("except_clause", "except_group_clause"):
            handlers.append(lower_handler(lowering, child))
        elif kind == "else_clause":
            orelse = lower_block(lowering, child.child_by_field_id(fields.BODY))
        elif kind == "finally_clause":
            final = clause_block(lowering, child)
    return Try(body, tuple(handlers), orelse, final)


def lower_handler(lowering: Lowering, node: Node) -> tuple[Expression | None, Expression | None, Body]:
    """`except A as b`."""
    test: Expression | None = None
    target: Expression | None = None
    for child in code_children(node):
        kind = KINDS[child.kind_id % 65535]
        if kind == "as_pattern":
            parts = code_children(child)
            test = lowering.expression(parts[0])
            target = lower_target(lowering, parts[1]) if len(parts) > 1 else None
        elif kind != "block":
            test = lowering.expression(child)
    return test, target, clause_block(lowering, node)
