"""Lowering of statements, functions, classes and whole modules."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from energy_code import node_fields as fields
from energy_code.codes import ClassCode, Code, FunctionCode, Unit
from energy_code.definitions import Define, DefineClass
from energy_code.expressions import NOTHING, CallExpression, Expression, Group, Name
from energy_code.lowering import BOUNDED, EXPRESSIONS
from energy_code.lowering_blocks import BLOCK, Body
from energy_code.lowering_patterns import PatternLowering
from energy_code.node_kinds import ERROR, IGNORED, KEYWORD_ARGUMENT, KINDS, TOKENS, Node, kinds
from energy_code.operators import Operator
from energy_code.statements import (
    Assert,
    Assign,
    AssignName,
    Augment,
    Block,
    Delete,
    Evaluate,
    Jump,
    Loop,
    Return,
    Statement,
    With,
)
from energy_code.wreckage import HEADERS, groups

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


class StatementLowering(PatternLowering):
    """Lowers statements; expressions are its parent's."""

    def units(self, top: Sequence[Node], used: set[Unit] | None = None) -> Iterator[tuple[int, Unit]]:
        """The top-level statements and where they start; unchanged ones are found by their kind and text.

        By both: in broken code `a = f(b)` may be an argument of a call that was never closed.
        """
        twins: dict[bytes, int] = {}
        for nodes in self.top_level(top):
            start, end = nodes[0].start_byte, nodes[-1].end_byte
            if len(nodes) > 1 or nodes[0].has_error:
                yield start, self.unit(nodes, start, end)
                continue
            text = self.source[start:end]
            column = nodes[0].start_point[1]
            known: Code | None = None
            while True:  # statements of the same text are told apart
                twin = twins[text] = twins.get(text, 0) + 1
                key = (f"{nodes[0].kind_id} {twin}", column, text)
                known = self.known(key)
                if known is None or used is None or known not in used:
                    break
            if type(known) is not Unit:
                known = self.cache[key] = self.unit(nodes, start, end)
            yield start, known

    def known(self, key: tuple[str, int, bytes]) -> Code | None:
        """What was lowered before from the same text in the same place."""
        code = self.cache.get(key)
        if code is None and (code := self.old.get(key)) is not None:
            self.cache[key] = code
        return code

    def top_level(self, top: Sequence[Node]) -> Iterator[list[Node]]:
        """The statements of a module; in wreckage, a lost header and what stood under it."""
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

    def unit(self, nodes: list[Node], start: int, end: int) -> Unit:
        """One top-level statement, or what is left of a broken one."""
        unit = Unit(end - start)
        saved = self.enter(unit, start)
        self.prefix = ""
        self.depth = 0
        unit.statements = self.tried(nodes)
        unit.binds = self.scope.names
        self.leave(unit, saved)
        self.home.parts.clear()
        return unit

    def tried(self, nodes: list[Node]) -> Body:
        """Lower a top-level statement, and once more with bounded depth when the stack does not hold it."""
        state = self.base, self.home, self.scope, self.prefix
        try:
            return self.rebuilt(nodes)
        except RecursionError:
            self.base, self.home, self.scope, self.prefix = state
            self.home.parts.clear()
            self.handlers, self.depth = BOUNDED, 0
            try:
                return self.rebuilt(nodes)
            finally:
                self.handlers = EXPRESSIONS

    def statement(self, node: Node) -> Statement | None:
        """Lower any statement; None for those without meaning here."""
        kind = node.kind_id
        return STATEMENTS[kind if kind != ERROR else -1](self, node)

    def lone_expression(self, node: Node) -> Statement:
        """An expression where a statement should be, in broken code."""
        return Evaluate((self.expression(node),))

    def wreckage(self, node: Node) -> Statement | None:
        """What is left of broken code: every statement and expression in it."""
        self.depth += 1
        body = self.rebuilt(node.children) if self.depth <= 60 else ()
        self.depth -= 1
        return Block(body)

    def rebuilt(self, nodes: list[Node]) -> Body:
        """Statements, and headers that lost their bodies with what stands under them."""
        if len(nodes) == 1:
            alone = self.statement(nodes[0])
            return (alone,) if alone is not None else ()
        result: list[Statement] = []
        for group in groups(nodes):
            word = group[0].type
            if len(group) == 1 or word not in HEADERS:
                statement: Statement | None = self.statement(group[0])
            else:
                colon = next((i for i, node in enumerate(group) if node.type == ":"), len(group))
                statement = self.header(word, group[:colon], group[colon + 1 :])
            if statement is not None:
                result.append(statement)
        return tuple(result)

    def header(self, word: str, head: list[Node], body: list[Node]) -> Statement | None:
        """A definition, loop or context whose parts lie side by side."""
        parts = [node for node in head[1:] if node.kind_id not in TOKENS]
        if word in ("def", "class") and parts:
            return self.rebuilt_definition(word, parts, head[0].start_byte, body)
        if word == "for" and len(parts) == 2:
            return Loop(self.target(parts[0]), self.expression(parts[1]), self.rebuilt(body), ())
        if word == "with":
            items = self.with_items(parts)
            return With(items, self.rebuilt(body))
        return Block((Evaluate(tuple(self.expression(part) for part in parts)), *self.rebuilt(body)))

    def rebuilt_definition(self, word: str, parts: list[Node], start: int, body: list[Node]) -> Statement:
        """A function or class of which only the pieces are left."""
        name = self.text(parts[0])
        end = body[-1].end_byte if body else parts[-1].end_byte
        self.scope.names.add(name)
        lists = [part for part in parts[1:] if KINDS[part.kind_id % 65535] in ("parameters", "argument_list")]
        if word == "def":
            code = FunctionCode(name, f"{self.prefix}{name}", end - start)
            saved = self.enter(code, start)
            code.parameters = self.parameters(lists[0]) if lists else ()
            code.body = self.rebuilt(body)
            self.leave(code, saved)
            return Define(code, ())
        cls = ClassCode(name, f"{self.prefix}{name}", end - start)
        saved = self.enter(cls, start)
        cls.bases = tuple(self.expression(part) for part in self.parts(lists[0])) if lists else ()
        cls.body = self.rebuilt(body)
        cls.local_names = self.scope.names
        self.leave(cls, saved)
        return DefineClass(cls, ())

    def skip(self, node: Node) -> Statement | None:
        """Statements without meaning here."""
        return None

    def expression_statement(self, node: Node) -> Statement | None:
        """An expression or an assignment."""
        children = node.children
        if len(children) == 1:
            child = children[0]
            kind = child.kind_id
            if kind in ASSIGNMENT:
                return self.assignment(child)
            if kind in AUGMENTED:
                return self.augmented(child)
            if kind in STRING:
                return self.text_statement(child)
            return Evaluate((self.expression(child),))
        return Evaluate(tuple([self.expression(child) for child in children if child.kind_id not in TOKENS]))

    def text_statement(self, node: Node) -> Statement | None:
        """A string standing alone, mostly documentation; only a formatted one can hold calls."""
        prefix = self.source[node.start_byte : node.start_byte + 2]
        if KINDS[node.kind_id] == "string" and prefix[:1] in b"\"'rR" and prefix[1:] not in b"fF":
            return None
        value = self.expression(node)
        return Evaluate((value,)) if type(value) is Group else None

    def assignment(self, node: Node) -> Statement:
        """`a = b = c`, `a: T = c`."""
        children = node.children
        if len(children) == 3 and children[1].kind_id in EQUALS and children[2].kind_id not in ASSIGNMENTS:
            target, value = self.target(children[0]), self.expression(children[2])
            return AssignName(target, value) if type(target) is Name else Assign((target,), value, None)
        targets: list[Expression] = []
        while True:
            left = node.child_by_field_id(fields.LEFT)
            right = node.child_by_field_id(fields.RIGHT)
            annotation = node.child_by_field_id(fields.TYPE)
            if left is not None:
                targets.append(self.target(left))
            if right is None or right.kind_id not in ASSIGNMENT:
                break
            node = right
        return Assign(
            tuple(targets),
            self.value(right),
            self.expression(annotation) if annotation is not None else None,
        )

    def value(self, node: Node | None) -> Expression | None:
        """The right side of an assignment."""
        if node is None:
            return None
        if node.kind_id in AUGMENTED:
            return Group((self.expression(node),))
        return self.expression(node)

    def augmented(self, node: Node) -> Statement:
        """`a += b`."""
        left, right = node.child_by_field_id(fields.LEFT), node.child_by_field_id(fields.RIGHT)
        if left is None or right is None:
            return Evaluate((self.group(node),))
        operator = node.child_by_field_id(fields.OPERATOR)
        symbol = operator.type.rstrip("=") if operator is not None else "?"
        target = self.target(left)
        start, end = node.start_byte - self.base, node.end_byte - self.base
        value = self.value(right) or NOTHING
        return Augment(target, Operator(start, end, (target, value), symbol))

    def return_(self, node: Node) -> Statement:
        """`return a`."""
        children = self.parts(node)
        return Return(self.expression(children[0]) if children else None)

    def evaluate(self, node: Node) -> Statement:
        """`print a`."""
        return Evaluate(tuple(self.expression(child) for child in self.parts(node)))

    def assert_(self, node: Node) -> Statement:
        """`assert a, b`."""
        return Assert(tuple(self.expression(child) for child in self.parts(node)))

    def raise_(self, node: Node) -> Statement:
        """`raise a from b`."""
        if PLAIN_RAISE(self.source, node.start_byte, node.end_byte):
            return RAISED
        return Evaluate(tuple(self.expression(child) for child in self.parts(node)), ends=True)

    def jump(self, node: Node) -> Statement:
        """`break`, `continue`."""
        return Jump()

    def delete(self, node: Node) -> Statement:
        """`del a, b`."""
        children = self.parts(node)
        if len(children) == 1 and KINDS[children[0].kind_id % 65535] == "expression_list":
            children = self.parts(children[0])
        return Delete(tuple(self.expression(child) for child in children))

    def global_(self, node: Node) -> Statement | None:
        """`global a, b`."""
        self.scope.globals.update(self.text(child) for child in self.parts(node))
        return None

    def nonlocal_(self, node: Node) -> Statement | None:
        """`nonlocal a, b`."""
        self.scope.nonlocals.update(self.text(child) for child in self.parts(node))
        return None

    # functions and classes ------------------------------------------------------------------------------------

    def decorated(self, node: Node) -> Statement | None:
        """Decorators and what they stand on."""
        decorators: list[tuple[Expression, CallExpression]] = []
        definition: Node | None = None
        for child in self.parts(node):
            kind = KINDS[child.kind_id % 65535]
            if kind == "decorator":
                parts = self.parts(child)
                if parts:
                    expression = self.expression(parts[0])
                    decorators.append((expression, self.called(parts[0], expression)))
            else:
                definition = child
        if definition is None:
            return Evaluate(tuple(expression for expression, _ in decorators))
        return self.definition(definition, tuple(decorators))

    def definition(
        self, node: Node, decorators: tuple[tuple[Expression, CallExpression], ...] = ()
    ) -> Statement | None:
        """A function or a class, known by its text or lowered now."""
        kind = KINDS[node.kind_id % 65535]
        if kind not in ("function_definition", "class_definition"):
            return Block(
                (Evaluate(tuple(expression for expression, _ in decorators)), self.statement(node) or Jump())
            )
        name = node.child_by_field_id(fields.NAME)
        label = self.text(name) if name is not None else ""
        self.scope.names.add(label)
        start, end = node.start_byte, node.end_byte
        key = (f"{self.prefix}{label}", node.start_point[1], self.source[start:end])
        broken = node.has_error
        code: Code | None = None if broken else self.known(key)
        if code is not None:
            self.home.parts.append((start - self.base, code))
        elif kind == "function_definition":
            code = self.function(node, label, end - start)
        else:
            code = self.class_(node, label, end - start)
        if not broken:
            self.cache[key] = code
        if isinstance(code, FunctionCode):
            return Define(code, decorators)
        assert isinstance(code, ClassCode)
        return DefineClass(code, decorators)

    def function(self, node: Node, name: str, length: int) -> FunctionCode:
        """`def name(...) -> ...: ...`."""
        code = FunctionCode(name, f"{self.prefix}{name}", length)
        saved = self.enter(code, node.start_byte)
        parameters = node.child_by_field_id(fields.PARAMETERS)
        if parameters is not None:
            code.parameters = self.parameters(parameters)
        returns = node.child_by_field_id(fields.RETURN_TYPE)
        if returns is not None:
            code.returns = self.expression(returns)
        code.body = self.block(node.child_by_field_id(fields.BODY)) + self.broken_parts(node)
        self.leave(code, saved)
        return code

    def class_(self, node: Node, name: str, length: int) -> ClassCode:
        """`class name(...): ...`."""
        code = ClassCode(name, f"{self.prefix}{name}", length)
        saved = self.enter(code, node.start_byte)
        bases = node.child_by_field_id(fields.SUPERCLASSES)
        if bases is not None:
            children = self.parts(bases)
            plain = [child for child in children if child.kind_id != KEYWORD_ARGUMENT]
            code.bases = tuple(self.expression(child) for child in plain)
            code.keywords = tuple(
                self.keyword(child) for child in children if child.kind_id == KEYWORD_ARGUMENT
            )
        code.body = self.block(node.child_by_field_id(fields.BODY)) + self.broken_parts(node)
        code.local_names = self.scope.names
        self.leave(code, saved)
        return code

    def broken_parts(self, node: Node) -> Body:
        """Statements inside errors directly under a definition."""
        if not node.has_error:
            return ()
        wrecks = [self.wreckage(child) for child in node.children if child.kind_id == ERROR]
        return tuple(wreck for wreck in wrecks if wreck is not None)

    def plain_block(self, node: Node) -> Statement:
        """A block that lost its header."""
        return Block(self.block(node))


Handler = Callable[[StatementLowering, Node], Statement | None]

HANDLERS: dict[str, Handler] = {
    "expression_statement": StatementLowering.expression_statement,
    "assignment": StatementLowering.assignment,
    "augmented_assignment": StatementLowering.augmented,
    "return_statement": StatementLowering.return_,
    "if_statement": StatementLowering.if_,
    "for_statement": StatementLowering.for_,
    "while_statement": StatementLowering.while_,
    "with_statement": StatementLowering.with_,
    "try_statement": StatementLowering.try_,
    "match_statement": StatementLowering.match,
    "function_definition": StatementLowering.definition,
    "class_definition": StatementLowering.definition,
    "decorated_definition": StatementLowering.decorated,
    "import_statement": StatementLowering.import_,
    "import_from_statement": StatementLowering.import_from,
    "future_import_statement": StatementLowering.skip,
    "assert_statement": StatementLowering.assert_,
    "print_statement": StatementLowering.evaluate,
    "exec_statement": StatementLowering.evaluate,
    "raise_statement": StatementLowering.raise_,
    "delete_statement": StatementLowering.delete,
    "global_statement": StatementLowering.global_,
    "nonlocal_statement": StatementLowering.nonlocal_,
    "break_statement": StatementLowering.jump,
    "continue_statement": StatementLowering.jump,
    "pass_statement": StatementLowering.skip,
    "type_alias_statement": StatementLowering.skip,
    "comment": StatementLowering.skip,
    "line_continuation": StatementLowering.skip,
    "block": StatementLowering.plain_block,
}
STATEMENTS = [
    HANDLERS.get(name, StatementLowering.skip if kind in TOKENS else StatementLowering.lone_expression)
    for kind, name in enumerate(KINDS)
]
STATEMENTS.append(StatementLowering.wreckage)
