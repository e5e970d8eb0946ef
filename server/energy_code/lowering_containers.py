"""Lowering of displays and comprehensions."""

from __future__ import annotations

from energy_code.bindings import Comprehension
from energy_code.codes import Scope
from energy_code.expressions import (
    NOTHING,
    Attribute,
    CallExpression,
    DictDisplay,
    Display,
    Expression,
    Group,
    Name,
    Starred,
    Subscript,
)
from energy_code.lowering_scopes import ScopeLowering
from energy_code.node_kinds import DICT_SPLAT, FOR_IN, LIST_SPLAT, PAIR, PLAIN_IDENTIFIER, TOKENS, Node


class ContainerLowering(ScopeLowering):
    """Adds lists, tuples, sets, dictionaries and what is comprehended into them."""

    def target(self, node: Node) -> Expression:
        """What is assigned to."""
        raise NotImplementedError

    def group(self, node: Node) -> Expression:
        """A node whose own meaning is not followed."""
        children = self.parts(node)
        if not children:
            return NOTHING
        return Group(tuple([self.expression(child) for child in children]))

    def only(self, node: Node) -> Expression:
        """The expression inside a wrapper."""
        children = self.parts(node)
        return self.expression(children[0]) if len(children) == 1 else self.group(node)

    def starred(self, node: Node) -> Expression:
        """`*a` standing alone."""
        return Starred(self.only(node))

    def items(self, node: Node) -> tuple[Expression, ...]:
        """The items of a display."""
        items: list[Expression] = []
        for child in node.children:
            kind = child.kind_id
            if kind in TOKENS:
                continue
            if kind in LIST_SPLAT:
                items.append(Starred(self.only(child)))
            elif kind != PLAIN_IDENTIFIER and self.source.startswith(b"*", child.start_byte):
                items.append(Starred(without_star(self.expression(child))))
            else:
                items.append(self.expression(child))
        return tuple(items)

    def list_display(self, node: Node) -> Expression:
        """`[a, b]`."""
        return Display("list", self.items(node))

    def tuple_display(self, node: Node) -> Expression:
        """`(a, b)` and `a, b`."""
        return Display("tuple", self.items(node))

    def set_display(self, node: Node) -> Expression:
        """`{a, b}`."""
        return Display("set", self.items(node))

    def dictionary(self, node: Node) -> Expression:
        """`{a: b}`."""
        items: list[tuple[Expression | None, Expression]] = []
        for child in self.parts(node):
            if child.kind_id in PAIR:
                pair = self.parts(child)
                if len(pair) == 2:
                    items.append((self.expression(pair[0]), self.expression(pair[1])))
                    continue
            if child.kind_id in DICT_SPLAT:
                items.append((None, self.only(child)))
            else:
                items.append((NOTHING, self.group(child)))
        return DictDisplay(tuple(items))

    def comprehend(self, node: Node, kind: str) -> Expression:
        """Any comprehension."""
        children = self.parts(node)
        if not children:
            return NOTHING
        inner = self.scope
        self.scope = Scope()
        self.scope.attributes = inner.attributes
        clauses: list[tuple[Expression | None, Expression]] = []
        for child in children[1:]:
            parts = self.parts(child)
            if child.kind_id in FOR_IN and len(parts) >= 2:
                right = (
                    self.expression(parts[1])
                    if len(parts) == 2
                    else Display("tuple", tuple(map(self.expression, parts[1:])))
                )
                clauses.append((self.target(parts[0]), right))
            elif parts:
                clauses.append((None, self.expression(parts[0])))
        key: Expression | None = None
        if children[0].kind_id in PAIR and len(self.parts(children[0])) == 2:
            first, second = self.parts(children[0])
            key, element = self.expression(first), self.expression(second)
        else:
            element = self.expression(children[0])
        self.scope = inner
        return Comprehension(kind, element, key, tuple(clauses))

    def list_comprehension(self, node: Node) -> Expression:
        """`[a for b in c]`."""
        return self.comprehend(node, "list")

    def set_comprehension(self, node: Node) -> Expression:
        """`{a for b in c}`."""
        return self.comprehend(node, "set")

    def dict_comprehension(self, node: Node) -> Expression:
        """`{a: b for c in d}`."""
        return self.comprehend(node, "dict")

    def generator(self, node: Node) -> Expression:
        """`(a for b in c)`."""
        return self.comprehend(node, "iterator")


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
