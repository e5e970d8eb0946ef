"""Lowering of `match`."""

from __future__ import annotations

from sys import intern

from energy_code import node_fields as fields
from energy_code.expressions import NOTHING, Expression, member
from energy_code.lowering_blocks import BlockLowering
from energy_code.node_kinds import KINDS, Node
from energy_code.patterns import Anything, Case, Either, Entries, Equal, Items, Match, OfClass, Pattern
from energy_code.statements import Statement

MAX_DEPTH = 20
"""Patterns nested deeper than this are not followed."""


class PatternLowering(BlockLowering):
    """Adds `match`."""

    def match(self, node: Node) -> Statement:
        """`match`, with its cases."""
        subject = node.child_by_field_id(fields.SUBJECT)
        body = node.child_by_field_id(fields.BODY)
        cases = [self.case(child) for child in (body.named_children if body is not None else [])]
        return Match(self.expression(subject) if subject is not None else NOTHING, tuple(cases))

    def case(self, node: Node) -> Case:
        """`case pattern if guard: ...`; several patterns with commas are a sequence."""
        patterns: list[Node] = []
        guards: list[Expression] = []
        for part in self.parts(node):
            kind = KINDS[part.kind_id % 65535]
            if kind == "case_pattern":
                patterns.append(part)
            elif kind == "if_clause":
                guards.append(self.only(part))
        alone = len(patterns) == 1 and not self.ends_in_comma(patterns[0])
        pattern = self.pattern(patterns[0], 0) if alone else self.item_patterns(patterns, 0)
        return Case(pattern, tuple(guards), self.inner_block(node))

    def ends_in_comma(self, pattern: Node) -> bool:
        """True for the `a,` of `case a,:`."""
        following = pattern.next_sibling
        return following is not None and following.type == ","

    def pattern(self, node: Node, depth: int) -> Pattern:
        """Any pattern."""
        kind = KINDS[node.kind_id % 65535]
        children = self.parts(node)
        if depth > MAX_DEPTH:
            return Pattern()
        if kind == "case_pattern":
            return (
                self.pattern(children[0], depth + 1)
                if node.child_count == 1 == len(children)
                else self.leaf(node)
            )
        if kind == "dotted_name":
            return Anything(self.bound(node)) if len(children) == 1 else Equal(self.pattern_class(node))
        if kind == "as_pattern" and len(children) == 2:
            inner = self.pattern(children[0], depth + 1)
            return Anything(self.bound(children[1]), inner)
        if kind == "union_pattern":
            return self.either(node, depth)
        if kind == "class_pattern" and children:
            return self.of_class(children, depth)
        if kind in ("list_pattern", "tuple_pattern"):
            return self.item_patterns(children, depth)
        if kind == "dict_pattern":
            return self.entry_patterns(children, depth)
        return self.leaf(node)

    def leaf(self, node: Node) -> Pattern:
        """`_`, or a literal."""
        if self.text(node) == "_":
            return Anything(None)
        return Equal(self.expression(node))

    def either(self, node: Node, depth: int) -> Pattern:
        """`a | b`; of numbers below zero the sign stands apart."""
        signs = {child.type for child in node.children}
        options = [self.pattern(child, depth + 1) for child in self.parts(node)]
        if "-" in signs:
            return Pattern()
        return Either((*options, Anything(None)) if "_" in signs else tuple(options))

    def bound(self, node: Node) -> str:
        """A name that a pattern binds."""
        name = self.text(node)
        self.scope.names.add(name)
        return name

    def pattern_class(self, node: Node) -> Expression:
        """`module.Class`."""
        first, *rest = self.parts(node)
        start = node.start_byte - self.base
        result: Expression = self.name(first)
        for part in rest:
            result = member(start, part.end_byte - self.base, result, intern(self.text(part)))
        return result

    def of_class(self, children: list[Node], depth: int) -> Pattern:
        """`Class(pattern, name=pattern)`."""
        positional: list[Pattern] = []
        keywords: list[tuple[str, Pattern]] = []
        for child in children[1:]:
            parts = self.parts(child)
            if len(parts) == 1 and parts[0].type == "keyword_pattern":
                named = self.parts(parts[0])
                if len(named) == 2 and parts[0].child_count == 3:
                    keywords.append((self.text(named[0]), self.pattern(named[1], depth + 1)))
            else:
                positional.append(self.pattern(child, depth + 1))
        return OfClass(self.pattern_class(children[0]), tuple(positional), tuple(keywords))

    def item_patterns(self, children: list[Node], depth: int) -> Pattern:
        """`[a, *b]`, `(a, b)`, `a, b`."""
        star: int | None = None
        found: list[Pattern] = []
        for place, child in enumerate(children):
            splat = self.splat(child)
            if splat is not None:
                star = place
            found.append(splat or self.pattern(child, depth + 1))
        return Items(tuple(found), star)

    def splat(self, node: Node) -> Anything | None:
        """`*name` or `**name`; None for any other pattern."""
        parts = self.parts(node)
        inner = parts[0] if node.type == "case_pattern" and len(parts) == 1 else node
        if inner.type != "splat_pattern":
            return None
        names = [child for child in inner.named_children if child.type == "identifier"]
        return Anything(self.bound(names[0]) if names else None)

    def entry_patterns(self, children: list[Node], depth: int) -> Pattern:
        """`{"key": pattern, **rest}`."""
        found: list[tuple[Expression, Pattern]] = []
        rest: str | None = None
        key: Expression | None = None
        for child in children:
            splat = self.splat(child)
            if splat is not None:
                rest = splat.name
            elif child.type != "case_pattern":
                key = self.expression(child)
            elif key is not None:
                found.append((key, self.pattern(child, depth + 1)))
                key = None
        return Entries(tuple(found), rest)
