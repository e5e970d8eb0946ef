"""Lowering of `match`."""

from __future__ import annotations

from sys import intern

from energy_code.interpreter.limits import MAX_PATTERN_DEPTH
from energy_code.ir.expressions import NOTHING, member
from energy_code.ir.match import (
    Anything,
    Either,
    Entries,
    Equal,
    MatchCase,
    MatchPattern,
    MatchStatement,
    OfClass,
    SequencePattern,
)
from energy_code.ir.nodes import Expression, Statement
from energy_code.lowering.blocks import clause_block
from energy_code.lowering.context import Lowering
from energy_code.syntax import node_fields as fields
from energy_code.syntax.node_kinds import KINDS, Node, code_children


def lower_match(lowering: Lowering, node: Node) -> Statement:
    """`match`, with its cases."""
    subject = node.child_by_field_id(fields.SUBJECT)
    body = node.child_by_field_id(fields.BODY)
    cases = [lower_case(lowering, child) for child in (body.named_children if body is not None else [])]
    return MatchStatement(lowering.expression(subject) if subject is not None else NOTHING, tuple(cases))


def lower_case(lowering: Lowering, node: Node) -> MatchCase:
    """`case pattern if guard: ...`; several patterns with commas are a sequence."""
    patterns: list[Node] = []
    guards: list[Expression] = []
    for part in code_children(node):
        kind = KINDS[part.kind_id % 65535]
        if kind == "case_pattern":
            patterns.append(part)
        elif kind == "if_clause":
            guards.append(lowering.only(part))
    alone = len(patterns) == 1 and not ends_in_comma(lowering, patterns[0])
    pattern = (
        lower_pattern(lowering, patterns[0], 0) if alone else lower_sequence_pattern(lowering, patterns, 0)
    )
    return MatchCase(pattern, tuple(guards), clause_block(lowering, node))


def ends_in_comma(lowering: Lowering, pattern: Node) -> bool:
    """True for the `a,` of `case a,:`."""
    following = pattern.next_sibling
    return following is not None and following.type == ","


def lower_pattern(lowering: Lowering, node: Node, depth: int) -> MatchPattern:
    """Any pattern."""
    kind = KINDS[node.kind_id % 65535]
    children = code_children(node)
    if depth > MAX_PATTERN_DEPTH:
        return MatchPattern()
    if kind == "case_pattern":
        return (
            lower_pattern(lowering, children[0], depth + 1)
            if node.child_count == 1 == len(children)
            else lower_value_pattern(lowering, node)
        )
    if kind == "dotted_name":
        return (
            Anything(bound_name(lowering, node))
            if len(children) == 1
            else Equal(dotted_class(lowering, node))
        )
    if kind == "as_pattern" and len(children) == 2:
        inner = lower_pattern(lowering, children[0], depth + 1)
        return Anything(bound_name(lowering, children[1]), inner)
    if kind == "union_pattern":
        return lower_or_pattern(lowering, node, depth)
    if kind == "class_pattern" and children:
        return lower_class_pattern(lowering, children, depth)
    if kind in ("list_pattern", "tuple_pattern"):
        return lower_sequence_pattern(lowering, children, depth)
    if kind == "dict_pattern":
        return lower_mapping_pattern(lowering, children, depth)
    return lower_value_pattern(lowering, node)


def lower_value_pattern(lowering: Lowering, node: Node) -> MatchPattern:
    """`_`, or a literal."""
    if lowering.text(node) == "_":
        return Anything(None)
    return Equal(lowering.expression(node))


def lower_or_pattern(lowering: Lowering, node: Node, depth: int) -> MatchPattern:
    """`a | b`; of numbers below zero the sign stands apart."""
    signs = {child.type for child in node.children}
    options = [lower_pattern(lowering, child, depth + 1) for child in code_children(node)]
    if "-" in signs:
        return MatchPattern()
    return Either((*options, Anything(None)) if "_" in signs else tuple(options))


def bound_name(lowering: Lowering, node: Node) -> str:
    """A name that a pattern binds."""
    name = lowering.text(node)
    lowering.scope.names.add(name)
    return name


def dotted_class(lowering: Lowering, node: Node) -> Expression:
    """`module.Class`."""
    first, *rest = code_children(node)
    start = node.start_byte - lowering.scope.base
    result: Expression = lowering.name(first)
    for part in rest:
        result = member(start, part.end_byte - lowering.scope.base, result, intern(lowering.text(part)))
    return result


def lower_class_pattern(lowering: Lowering, children: list[Node], depth: int) -> MatchPattern:
    """`Class(pattern, name=pattern)`."""
    positional: list[MatchPattern] = []
    keywords: list[tuple[str, MatchPattern]] = []
    for child in children[1:]:
        parts = code_children(child)
        if len(parts) == 1 and parts[0].type == "keyword_pattern":
            named = code_children(parts[0])
            if len(named) == 2 and parts[0].child_count == 3:
                keywords.append((lowering.text(named[0]), lower_pattern(lowering, named[1], depth + 1)))
        else:
            positional.append(lower_pattern(lowering, child, depth + 1))
    return OfClass(dotted_class(lowering, children[0]), tuple(positional), tuple(keywords))


def lower_sequence_pattern(lowering: Lowering, children: list[Node], depth: int) -> MatchPattern:
    """`[a, *b]`, `(a, b)`, `a, b`."""
    star: int | None = None
    found: list[MatchPattern] = []
    for place, child in enumerate(children):
        splat = splat_pattern(lowering, child)
        if splat is not None:
            star = place
        found.append(splat or lower_pattern(lowering, child, depth + 1))
    return SequencePattern(tuple(found), star)


def splat_pattern(lowering: Lowering, node: Node) -> Anything | None:
    """`*name` or `**name`; None for any other pattern."""
    parts = code_children(node)
    inner = parts[0] if node.type == "case_pattern" and len(parts) == 1 else node
    if inner.type != "splat_pattern":
        return None
    names = [child for child in inner.named_children if child.type == "identifier"]
    return Anything(bound_name(lowering, names[0]) if names else None)


def lower_mapping_pattern(lowering: Lowering, children: list[Node], depth: int) -> MatchPattern:
    """`{"key": pattern, **rest}`."""
    found: list[tuple[Expression, MatchPattern]] = []
    rest: str | None = None
    key: Expression | None = None
    for child in children:
        splat = splat_pattern(lowering, child)
        if splat is not None:
            rest = splat.name
        elif child.type != "case_pattern":
            key = lowering.expression(child)
        elif key is not None:
            found.append((key, lower_pattern(lowering, child, depth + 1)))
            key = None
    return Entries(tuple(found), rest)
