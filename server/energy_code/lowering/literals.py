"""Lowering of literals: numbers, strings, constants."""

from __future__ import annotations

import re

from energy_code.interpreter.domain.values import NONE, STRING, Constant
from energy_code.ir.expressions import (
    NOTHING,
    TEXT,
    Group,
    Literal,
)
from energy_code.ir.nodes import Expression
from energy_code.lowering.context import ExpressionHandler, Lowering, utf8
from energy_code.syntax.node_kinds import INTERPOLATION, KINDS, STRINGS, Node, code_children

PREFIX = re.compile(r"[a-zA-Z]?[fFtT]").match
"""Formatted strings: `f"`, `rf"`, `fr"`, template strings."""
TRUE = Literal(Constant(True))
FALSE = Literal(Constant(False))
NO = Literal(NONE)


def lower_integer(lowering: Lowering, node: Node) -> Expression:
    """`10_000`."""
    text = lowering.letters[node.start_byte : node.end_byte]
    known = lowering.integers.get(text)
    if known is None:
        try:
            known = Literal(Constant(int(text, 0)))
        except ValueError:
            known = NOTHING
        lowering.integers[text] = known
    return known


def lower_true(lowering: Lowering, node: Node) -> Expression:
    """`True`."""
    return TRUE


def lower_false(lowering: Lowering, node: Node) -> Expression:
    """`False`."""
    return FALSE


def lower_none(lowering: Lowering, node: Node) -> Expression:
    """`None`."""
    return NO


def lower_string(lowering: Lowering, node: Node) -> Expression:
    """A string: its text where it is short and plain, the expressions inside where it is formatted."""
    start, end = node.start_byte, node.end_byte
    letters = lowering.letters
    quote = letters[start]
    if quote == '"' or quote == "'":
        if end - start < 80:
            body = letters[start + 1 : end - 1]
            if body and "\\" not in body and not (body[0] == quote and letters[start + 2] == quote):
                known = lowering.texts.get(body)
                if known is None:
                    known = lowering.texts[body] = Literal(Constant(body if body.isascii() else utf8(body)))
                return known
    elif PREFIX(letters, start):
        return lower_formatted(lowering, node)
    return TEXT


def lower_formatted(lowering: Lowering, node: Node) -> Expression:
    """An f-string, or several strings side by side."""
    inner: list[Expression] = []
    stack = code_children(node)[::-1]
    while stack:
        child = stack.pop()
        if child.kind_id in INTERPOLATION or KINDS[child.kind_id % 65535] == "format_expression":
            for part in code_children(child):
                if KINDS[part.kind_id % 65535] == "format_specifier":
                    stack.extend(code_children(part)[::-1])
                else:
                    inner.append(lowering.expression(part))
        elif child.kind_id in STRINGS:
            stack.extend(code_children(child)[::-1])
    return Group(tuple(inner), STRING) if inner else TEXT


LITERALS: dict[str, ExpressionHandler] = {
    "integer": lower_integer,
    "float": Lowering.nothing,
    "true": lower_true,
    "false": lower_false,
    "none": lower_none,
    "string": lower_string,
    "concatenated_string": lower_formatted,
}
