"""Lowering of whole modules: their top-level statements, the unchanged ones found again by their text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from energy_code.ir.code import Code, TopLevelStatement
from energy_code.lowering.blocks import BLOCK, Body
from energy_code.lowering.context import KnownCode, Lowering
from energy_code.lowering.expressions import BOUNDED, EXPRESSIONS
from energy_code.lowering.recovery import recover_statements
from energy_code.lowering.statements import STATEMENTS
from energy_code.process import budget
from energy_code.syntax.error_recovery import groups
from energy_code.syntax.node_kinds import ERROR, IGNORED, Node


def lower_module(
    source: bytes,
    top: Sequence[Node],
    known: KnownCode,
    used: set[TopLevelStatement] | None = None,
    twins: dict[bytes, int] | None = None,
) -> Iterator[tuple[int, TopLevelStatement]]:
    """The top-level statements and where they start; unchanged ones are found by their kind and text.

    By both: in broken code `a = f(b)` may be an argument of a call that was never closed. `used` are those that stand
    elsewhere in the module already: a statement of the same text gets a code of its own. `twins` counts those for whoever
    lowers a module in several pieces.
    """
    lowering = Lowering(source, EXPRESSIONS, STATEMENTS, known)
    twins = twins if twins is not None else {}
    for nodes in top_level(top):
        budget.check()
        start, end = nodes[0].start_byte, nodes[-1].end_byte
        if len(nodes) > 1 or nodes[0].has_error:
            yield start, lower_top_level_statement(lowering, nodes, start, end)
            continue
        text = source[start:end]
        column = nodes[0].start_point[1]
        code: Code | None = None
        while True:  # statements of the same text get a number each
            twin = twins[text] = twins.get(text, 0) + 1
            key = (f"{nodes[0].kind_id} {twin}", column, text)
            code = known.find(key)
            if code is None or used is None or code not in used:
                break
        if type(code) is not TopLevelStatement:
            code = lower_top_level_statement(lowering, nodes, start, end)
            known.keep(key, code)
        yield start, code


def top_level(top: Sequence[Node]) -> Iterator[list[Node]]:
    """The statements of a module; in broken code, a lost header and what stood under it."""
    stack = list(reversed(top))
    while stack:
        node = stack.pop()
        kind = node.kind_id
        if kind in IGNORED:
            continue
        if kind == ERROR:
            yield from groups(node.children)
        elif kind in BLOCK:
            stack.extend(node.children[::-1])
        elif node.is_named:
            yield [node]


def lower_top_level_statement(
    lowering: Lowering, nodes: list[Node], start: int, end: int
) -> TopLevelStatement:
    """One top-level statement, or what is left of a broken one."""
    statement = TopLevelStatement(end - start)
    outer = lowering.enter(statement, start)
    lowering.scope.prefix = ""
    lowering.depth = 0
    statement.statements = lower_at_any_depth(lowering, nodes)
    statement.binds = lowering.scope.names
    lowering.leave(outer)
    outer.code.parts.clear()
    return statement


def lower_at_any_depth(lowering: Lowering, nodes: list[Node]) -> Body:
    """Lower a top-level statement, and once more with bounded depth when the stack does not hold it."""
    scope = lowering.scope
    try:
        return recover_statements(lowering, nodes)
    except RecursionError:
        lowering.scope = scope
        scope.code.parts.clear()
        lowering.expressions, lowering.depth = BOUNDED, 0
        try:
            return recover_statements(lowering, nodes)
        finally:
            lowering.expressions = EXPRESSIONS
