"""Lowering of broken code: every statement and expression that is left of it, under the headers they stood under."""

from __future__ import annotations

from energy_code.interpreter.limits import MAX_BLOCK_DEPTH, MAX_BROKEN_DEPTH
from energy_code.ir.blocks import Loop, With
from energy_code.ir.code import ClassCode, FunctionCode
from energy_code.ir.definitions import Define, DefineClass
from energy_code.ir.nodes import Statement
from energy_code.ir.statements import Block, Evaluate
from energy_code.lowering.blocks import Body, with_items
from energy_code.lowering.context import Lowering
from energy_code.lowering.parameters import lower_parameters
from energy_code.lowering.targets import lower_target
from energy_code.syntax.error_recovery import HEADERS, groups
from energy_code.syntax.node_kinds import ERROR, KINDS, TOKENS, Node, code_children


def lower_lone_expression(lowering: Lowering, node: Node) -> Statement:
    """An expression where a statement should be, in broken code."""
    return Evaluate((lowering.expression(node),))


def recover(lowering: Lowering, node: Node) -> Statement:
    """What is left of broken code: every statement and expression in it."""
    lowering.depth += 1
    body = recover_statements(lowering, node.children) if lowering.depth <= MAX_BROKEN_DEPTH else ()
    lowering.depth -= 1
    return Block(body)


def recover_statements(lowering: Lowering, nodes: list[Node]) -> Body:
    """Statements, and headers that lost their bodies with what stands under them."""
    if len(nodes) == 1:
        alone = lowering.statement(nodes[0])
        return (alone,) if alone is not None else ()
    result: list[Statement] = []
    for group in groups(nodes):
        word = group[0].type
        if len(group) == 1 or word not in HEADERS:
            statement: Statement | None = lowering.statement(group[0])
        else:
            colon = next((i for i, node in enumerate(group) if node.type == ":"), len(group))
            statement = recover_header(lowering, word, group[:colon], group[colon + 1 :])
        if statement is not None:
            result.append(statement)
    return tuple(result)


def recover_header(lowering: Lowering, word: str, head: list[Node], body: list[Node]) -> Statement | None:
    """A definition, loop or context whose parts lie side by side."""
    lowering.depth += 2
    try:
        return recover_under(lowering, word, head, body if lowering.depth < MAX_BLOCK_DEPTH else [])
    finally:
        lowering.depth -= 2


def recover_under(lowering: Lowering, word: str, head: list[Node], body: list[Node]) -> Statement | None:
    """The same, of parts that are not nested too deep."""
    parts = [node for node in head[1:] if node.kind_id not in TOKENS]
    if word in ("def", "class") and parts:
        return recover_definition(lowering, word, parts, head[0].start_byte, body)
    if word == "for" and len(parts) == 2:
        return Loop(
            lower_target(lowering, parts[0]),
            lowering.expression(parts[1]),
            recover_statements(lowering, body),
            (),
        )
    if word == "with":
        items = with_items(lowering, parts)
        return With(items, recover_statements(lowering, body))
    return Block(
        (Evaluate(tuple(lowering.expression(part) for part in parts)), *recover_statements(lowering, body))
    )


def recover_definition(
    lowering: Lowering, word: str, parts: list[Node], start: int, body: list[Node]
) -> Statement:
    """A function or class of which only the pieces are left."""
    name = lowering.text(parts[0])
    end = body[-1].end_byte if body else parts[-1].end_byte
    lowering.scope.names.add(name)
    lists = [part for part in parts[1:] if KINDS[part.kind_id % 65535] in ("parameters", "argument_list")]
    if word == "def":
        code = FunctionCode(name, f"{lowering.scope.prefix}{name}", end - start)
        outer = lowering.enter(code, start)
        code.parameters = lower_parameters(lowering, lists[0]) if lists else ()
        code.body = recover_statements(lowering, body)
        lowering.leave(outer)
        return Define(code, ())
    cls = ClassCode(name, f"{lowering.scope.prefix}{name}", end - start)
    outer = lowering.enter(cls, start)
    cls.bases = tuple(lowering.expression(part) for part in code_children(lists[0])) if lists else ()
    cls.body = recover_statements(lowering, body)
    cls.local_names = lowering.scope.names
    lowering.leave(outer)
    return DefineClass(cls, ())


def broken_parts(lowering: Lowering, node: Node) -> Body:
    """Statements inside errors directly under a definition."""
    if not node.has_error:
        return ()
    return tuple(recover(lowering, child) for child in node.children if child.kind_id == ERROR)
