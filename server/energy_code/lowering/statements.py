"""Lowering of statements: which function lowers which kind of node, and those of the simple statements."""

from __future__ import annotations

import re

from energy_code.ir.expressions import NOTHING, Group, Name
from energy_code.ir.nodes import Expression, Statement
from energy_code.ir.operators import Operator
from energy_code.ir.statements import (
    Assert,
    Assign,
    AssignName,
    Augment,
    Block,
    Delete,
    Evaluate,
    Jump,
    Return,
)
from energy_code.lowering.blocks import lower_block, lower_for, lower_if, lower_try, lower_while, lower_with
from energy_code.lowering.context import Lowering, StatementHandler
from energy_code.lowering.definitions import lower_decorated, lower_definition
from energy_code.lowering.imports import lower_import, lower_import_from
from energy_code.lowering.match import lower_match
from energy_code.lowering.recovery import lower_lone_expression, recover
from energy_code.lowering.targets import lower_target
from energy_code.syntax import node_fields as fields
from energy_code.syntax.node_kinds import KINDS, TOKENS, Node, code_children, kinds

PLAIN_RAISE = re.compile(
    rb"raise (?:(?:Value|Type|NotImplemented|Runtime|Key|Index|Attribute|Assertion)Error)\([^()]*\)\Z"
).match
"""An exception with a message that calls nothing: most of what library code raises, and nothing in it matters."""
RAISED = Evaluate((), ends=True)
STRING = kinds("string", "concatenated_string")
ASSIGNMENT = kinds("assignment")
AUGMENTED = kinds("augmented_assignment")
ASSIGNMENTS = ASSIGNMENT | AUGMENTED
EQUALS = kinds("=")


def skip(lowering: Lowering, node: Node) -> Statement | None:
    """Statements without meaning here."""
    return None


def lower_expression_statement(lowering: Lowering, node: Node) -> Statement | None:
    """An expression or an assignment."""
    children = node.children
    if len(children) == 1:
        child = children[0]
        kind = child.kind_id
        if kind in ASSIGNMENT:
            return lower_assignment(lowering, child)
        if kind in AUGMENTED:
            return lower_augmented(lowering, child)
        if kind in STRING:
            return lower_docstring(lowering, child)
        return Evaluate((lowering.expression(child),))
    return Evaluate(tuple([lowering.expression(child) for child in children if child.kind_id not in TOKENS]))


def lower_docstring(lowering: Lowering, node: Node) -> Statement | None:
    """A string standing alone, mostly documentation; only a formatted one can hold calls."""
    prefix = lowering.source[node.start_byte : node.start_byte + 2]
    if KINDS[node.kind_id] == "string" and prefix[:1] in b"\"'rR" and prefix[1:] not in b"fF":
        return None
    value = lowering.expression(node)
    return Evaluate((value,)) if type(value) is Group else None


def lower_assignment(lowering: Lowering, node: Node) -> Statement:
    """`a = b = c`, `a: T = c`."""
    children = node.children
    if len(children) == 3 and children[1].kind_id in EQUALS and children[2].kind_id not in ASSIGNMENTS:
        target, value = lower_target(lowering, children[0]), lowering.expression(children[2])
        return AssignName(target, value) if type(target) is Name else Assign((target,), value, None)
    targets: list[Expression] = []
    while True:
        left = node.child_by_field_id(fields.LEFT)
        right = node.child_by_field_id(fields.RIGHT)
        annotation = node.child_by_field_id(fields.TYPE)
        if left is not None:
            targets.append(lower_target(lowering, left))
        if right is None or right.kind_id not in ASSIGNMENT:
            break
        node = right
    return Assign(
        tuple(targets),
        assigned_value(lowering, right),
        lowering.expression(annotation) if annotation is not None else None,
    )


def assigned_value(lowering: Lowering, node: Node | None) -> Expression | None:
    """The right side of an assignment."""
    if node is None:
        return None
    if node.kind_id in AUGMENTED:
        return Group((lowering.expression(node),))
    return lowering.expression(node)


def lower_augmented(lowering: Lowering, node: Node) -> Statement:
    """`a += b`."""
    left, right = node.child_by_field_id(fields.LEFT), node.child_by_field_id(fields.RIGHT)
    if left is None or right is None:
        return Evaluate((lowering.group(node),))
    operator = node.child_by_field_id(fields.OPERATOR)
    symbol = operator.type.rstrip("=") if operator is not None else "?"
    target = lower_target(lowering, left)
    start, end = node.start_byte - lowering.scope.base, node.end_byte - lowering.scope.base
    value = assigned_value(lowering, right) or NOTHING
    return Augment(target, Operator(start, end, (target, value), symbol))


def lower_return(lowering: Lowering, node: Node) -> Statement:
    """`return a`."""
    children = code_children(node)
    return Return(lowering.expression(children[0]) if children else None)


def lower_evaluated(lowering: Lowering, node: Node) -> Statement:
    """`print a`."""
    return Evaluate(tuple(lowering.expression(child) for child in code_children(node)))


def lower_assert(lowering: Lowering, node: Node) -> Statement:
    """`assert a, b`."""
    return Assert(tuple(lowering.expression(child) for child in code_children(node)))


def lower_raise(lowering: Lowering, node: Node) -> Statement:
    """`raise a from b`."""
    if PLAIN_RAISE(lowering.source, node.start_byte, node.end_byte):
        return RAISED
    return Evaluate(tuple(lowering.expression(child) for child in code_children(node)), ends=True)


def lower_jump(lowering: Lowering, node: Node) -> Statement:
    """`break`, `continue`."""
    return Jump()


def lower_delete(lowering: Lowering, node: Node) -> Statement:
    """`del a, b`."""
    children = code_children(node)
    if len(children) == 1 and KINDS[children[0].kind_id % 65535] == "expression_list":
        children = code_children(children[0])
    return Delete(tuple(lowering.expression(child) for child in children))


def lower_global(lowering: Lowering, node: Node) -> Statement | None:
    """`global a, b`."""
    lowering.scope.globals.update(lowering.text(child) for child in code_children(node))
    return None


def lower_nonlocal(lowering: Lowering, node: Node) -> Statement | None:
    """`nonlocal a, b`."""
    lowering.scope.nonlocals.update(lowering.text(child) for child in code_children(node))
    return None


def lower_lost_block(lowering: Lowering, node: Node) -> Statement:
    """A block that lost its header."""
    return Block(lower_block(lowering, node))


HANDLERS: dict[str, StatementHandler] = {
    "expression_statement": lower_expression_statement,
    "assignment": lower_assignment,
    "augmented_assignment": lower_augmented,
    "return_statement": lower_return,
    "if_statement": lower_if,
    "for_statement": lower_for,
    "while_statement": lower_while,
    "with_statement": lower_with,
    "try_statement": lower_try,
    "match_statement": lower_match,
    "function_definition": lower_definition,
    "class_definition": lower_definition,
    "decorated_definition": lower_decorated,
    "import_statement": lower_import,
    "import_from_statement": lower_import_from,
    "future_import_statement": skip,
    "assert_statement": lower_assert,
    "print_statement": lower_evaluated,
    "exec_statement": lower_evaluated,
    "raise_statement": lower_raise,
    "delete_statement": lower_delete,
    "global_statement": lower_global,
    "nonlocal_statement": lower_nonlocal,
    "break_statement": lower_jump,
    "continue_statement": lower_jump,
    "pass_statement": skip,
    "type_alias_statement": skip,
    "comment": skip,
    "line_continuation": skip,
    "block": lower_lost_block,
}
STATEMENTS = [
    HANDLERS.get(name, skip if kind in TOKENS else lower_lone_expression) for kind, name in enumerate(KINDS)
]
STATEMENTS.append(recover)
