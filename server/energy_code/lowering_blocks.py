"""Lowering of compound statements: branches, loops, contexts, handlers."""

from __future__ import annotations

from energy_code import node_fields as fields
from energy_code.expressions import NOTHING, Expression
from energy_code.lowering_imports import ImportLowering
from energy_code.node_kinds import ERROR, KINDS, TOKENS, Node, kinds
from energy_code.statements import Block, If, Loop, Statement, Try, With

BLOCK = kinds("block")
Body = tuple[Statement, ...]


class BlockLowering(ImportLowering):
    """Adds compound statements; which statement a node is, is the heir's to say."""

    def statement(self, node: Node) -> Statement | None:
        """Lower any statement."""
        raise NotImplementedError

    def wreckage(self, node: Node) -> Statement | None:
        """What is left of broken code."""
        raise NotImplementedError

    def block(self, node: Node | None) -> Body:
        """The statements of a block."""
        if node is None:
            return ()
        self.depth += 2
        result: list[Statement] = []
        if self.depth < 100:
            lower = self.statement
            for child in node.children:
                statement = lower(child)
                if statement is not None:
                    result.append(statement)
        self.depth -= 2
        return tuple(result)

    def inner_block(self, node: Node) -> Body:
        """The block among the children of a clause."""
        for child in node.children:
            if child.kind_id in BLOCK:
                return self.block(child)
        return ()

    def if_(self, node: Node) -> Statement:
        """`if`, with any number of `elif`."""
        children = node.children
        if len(children) == 4 and children[3].kind_id in BLOCK:  # neither `elif` nor `else`, as most are
            body = self.block(children[3])
            return If(self.expression(children[1]), body, ())
        test = node.child_by_field_id(fields.CONDITION)
        clauses = [(test, self.block(node.child_by_field_id(fields.CONSEQUENCE)))]
        tests = [self.expression(test) if test is not None else NOTHING]
        orelse: Body = ()
        extra: list[Statement] = []
        for child in children:
            kind = KINDS[child.kind_id % 65535]
            if kind == "elif_clause":
                test = child.child_by_field_id(fields.CONDITION)
                tests.append(self.expression(test) if test is not None else NOTHING)
                clauses.append((test, self.block(child.child_by_field_id(fields.CONSEQUENCE))))
            elif kind == "else_clause":
                orelse = self.block(child.child_by_field_id(fields.BODY))
            elif child.kind_id == ERROR:
                wreck = self.wreckage(child)
                if wreck is not None:
                    extra.append(wreck)
        for condition, (_, body) in zip(reversed(tests), reversed(clauses), strict=True):
            orelse = (If(condition, body, orelse),)
        return Block((*orelse, *extra)) if extra else orelse[0]

    def for_(self, node: Node) -> Statement:
        """`for a in b`."""
        left, right = node.child_by_field_id(fields.LEFT), node.child_by_field_id(fields.RIGHT)
        source = self.expression(right) if right is not None else NOTHING
        target = self.target(left) if left is not None else NOTHING
        body = self.block(node.child_by_field_id(fields.BODY))
        return Loop(target, source, body, self.alternative(node))

    def while_(self, node: Node) -> Statement:
        """`while a`."""
        test = node.child_by_field_id(fields.CONDITION)
        source = self.expression(test) if test is not None else NOTHING
        return Loop(None, source, self.block(node.child_by_field_id(fields.BODY)), self.alternative(node))

    def alternative(self, node: Node) -> Body:
        """The `else` of a loop."""
        clause = node.child_by_field_id(fields.ALTERNATIVE)
        return self.block(clause.child_by_field_id(fields.BODY)) if clause is not None else ()

    def with_(self, node: Node) -> Statement:
        """`with a as b, c as d`."""
        parts = [
            child for child in node.children if child.kind_id not in TOKENS and child.kind_id not in BLOCK
        ]
        items = self.with_items(parts)
        return With(items, self.block(node.child_by_field_id(fields.BODY)))

    def with_items(self, nodes: list[Node]) -> tuple[tuple[Expression, Expression | None], ...]:
        """What is entered, and what it is bound to."""
        items: list[tuple[Expression, Expression | None]] = []
        stack = nodes[::-1]
        while stack:
            child = stack.pop()
            kind = KINDS[child.kind_id % 65535]
            if kind in ("with_clause", "with_item", "tuple") or (
                kind == "parenthesized_expression" and "as_pattern" in [part.type for part in child.children]
            ):
                stack.extend(self.parts(child)[::-1])
            elif kind == "as_pattern":
                parts = self.parts(child)
                target = self.target(parts[1]) if len(parts) > 1 else None
                items.append((self.expression(parts[0]), target))
            else:
                items.append((self.expression(child), None))
        return tuple(items)

    def try_(self, node: Node) -> Statement:
        """`try`, with its clauses."""
        body = self.block(node.child_by_field_id(fields.BODY))
        handlers: list[tuple[Expression | None, Expression | None, Body]] = []
        orelse: Body = ()
        final: Body = ()
        for child in node.children:
            kind = KINDS[child.kind_id % 65535]
            if kind in ("except_clause", "except_group_clause"):
                handlers.append(self.handler(child))
            elif kind == "else_clause":
                orelse = self.block(child.child_by_field_id(fields.BODY))
            elif kind == "finally_clause":
                final = self.inner_block(child)
        return Try(body, tuple(handlers), orelse, final)

    def handler(self, node: Node) -> tuple[Expression | None, Expression | None, Body]:
        """`except A as b`."""
        test: Expression | None = None
        target: Expression | None = None
        for child in self.parts(node):
            kind = KINDS[child.kind_id % 65535]
            if kind == "as_pattern":
                parts = self.parts(child)
                test = self.expression(parts[0])
                target = self.target(parts[1]) if len(parts) > 1 else None
            elif kind != "block":
                test = self.expression(child)
        return test, target, self.inner_block(node)
