"""From the syntax tree to the lowered program.

Every node of the tree is looked at once. What was lowered before is found again by its text, so after an edit only the
functions, classes and top-level statements that hold the edit are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from sys import intern

import tree_sitter

from energy_code.bindings import Lambda, Walrus
from energy_code.codes import FunctionCode
from energy_code.expressions import (
    NOTHING,
    TEXT,
    Attribute,
    Await,
    Both,
    CallExpression,
    Choice,
    Display,
    Expression,
    Group,
    Literal,
    Name,
    Slice,
    Starred,
    Subscript,
    Yield,
    member,
)
from energy_code.lowering_containers import ContainerLowering
from energy_code.lowering_scopes import Cache, utf8
from energy_code.narrowing import TellingBoth, TellingChoice, tells
from energy_code.node_kinds import (
    AND,
    DICT_SPLAT,
    DOTTED,
    ERROR,
    GENERATOR,
    IGNORED,
    INTERPOLATION,
    KEYWORD_ARGUMENT,
    KINDS,
    LIST_SPLAT,
    PLAIN_IDENTIFIER,
    STRINGS,
    TOKENS,
    Node,
)
from energy_code.node_kinds import LANGUAGE as LANGUAGE
from energy_code.operators import Operator
from energy_code.values import NONE, STRING, Constant

PREFIX = re.compile(r"[a-zA-Z]?[fFtT]").match
"""Formatted strings: `f"`, `rf"`, `fr"`, template strings."""
MUTATORS = frozenset(["append", "extend", "insert", "add", "appendleft", "update"])
MAX_DEPTH = 120
"""Expressions nested deeper than this are not followed: the interpreter's stack has to hold them."""


class Lowering(ContainerLowering):
    """Lowers expressions."""

    def __init__(self, source: bytes, cache: Cache | None = None, old: Cache | None = None) -> None:
        super().__init__(source, cache, old)
        self.handlers = EXPRESSIONS
        """What lowers an expression, by its kind; the last one is for errors."""

    # expressions ----------------------------------------------------------------------------------------------

    def expression(self, node: Node) -> Expression:
        """Lower any expression."""
        kind = node.kind_id
        if kind == PLAIN_IDENTIFIER:  # by far the most frequent
            return self.name(node)
        return self.handlers[kind if kind != ERROR else -1](self, node)

    def nothing(self, node: Node) -> Expression:
        """A leaf without meaning here."""
        return NOTHING

    def name(self, node: Node) -> Name:
        """A variable."""
        start, end, base = node.start_byte, node.end_byte, self.base
        text = self.letters[start:end]
        result = Name()
        result.start = start - base
        result.end = end - base
        result.id = intern(text if text.isascii() else utf8(text))
        return result

    def attribute(self, node: Node) -> Expression:
        """`a.b`; a chain of plain names is read from the text."""
        start, end = node.start_byte, node.end_byte
        base = self.base
        text = self.letters[start:end]
        first, _, name = text.partition(".")
        if first.isidentifier() and name.isidentifier() and text.isascii():  # `a.b`, as most are
            owner = Name()
            owner.start = start - base
            owner.end = owner.start + len(first)
            owner.id = intern(first)
            return member(owner.start, end - base, owner, intern(name))
        if DOTTED(text):
            return chain(start - base, text)
        children = node.children
        if len(children) != 3:  # comments between the lines of a chain
            children = [child for child in children if child.kind_id not in IGNORED]
            if len(children) != 3:
                return self.group(node)
        return member(start - base, end - base, self.expression(children[0]), intern(self.text(children[2])))

    def call(self, node: Node) -> Expression:
        """`f(...)`."""
        children = node.children
        if len(children) != 2:
            children = self.parts(node)
            if len(children) != 2:
                return self.group(node)
        callee, arguments = children
        function = self.expression(callee)
        result = self.called(node, function)
        if type(function) is Attribute and function.name in MUTATORS and type(function.value) is Attribute:
            self.scope.attributes.add(function.value.name)  # `self.layers.append(x)` sets the attribute too
        if arguments.kind_id in GENERATOR:
            result.positional = (self.expression(arguments),)
            return result
        children = arguments.children
        if len(children) == 2:
            return result
        handlers = self.handlers
        positional: list[Expression] = []
        keywords: list[tuple[str, Expression]] = []
        for child in children:
            kind = child.kind_id
            if kind in TOKENS:
                continue
            if kind == PLAIN_IDENTIFIER:
                positional.append(self.name(child))
            elif kind == KEYWORD_ARGUMENT:
                keywords.append(self.keyword(child))
            elif kind in LIST_SPLAT:
                positional.append(Starred(self.only(child)))
                result.unpacks = True
            elif kind in DICT_SPLAT:
                keywords.append(("**", self.only(child)))
                result.unpacks = True
            else:
                positional.append(handlers[kind if kind != ERROR else -1](self, child))
        result.positional = tuple(positional)
        if keywords:
            result.keywords = tuple(keywords)
        return result

    def called(self, node: Node, function: Expression) -> CallExpression:
        """A call without arguments."""
        result = CallExpression()
        result.start = node.start_byte - self.base
        result.end = node.end_byte - self.base
        result.function = function
        result.home = self.home
        result.positional = result.keywords = ()
        result.loud = None
        result.unpacks = False
        return result

    def keyword(self, node: Node) -> tuple[str, Expression]:
        """`name=value`."""
        children = node.children
        if len(children) != 3:
            return "", self.group(node)
        return intern(self.text(children[0])), self.expression(children[2])

    def keyword_value(self, node: Node) -> Expression:
        """`name=value` outside of a call, in broken code."""
        return self.keyword(node)[1]

    def parenthesized(self, node: Node) -> Expression:
        """`(a)`, however many brackets deep."""
        children = self.parts(node)
        while len(children) == 1 and KINDS[children[0].kind_id % 65535] == "parenthesized_expression":
            children = self.parts(children[0])
        return self.expression(children[0]) if len(children) == 1 else self.group(node)

    def subscript(self, node: Node) -> Expression:
        """`a[b]`."""
        children = self.parts(node)
        if len(children) < 2:
            return self.group(node)
        value = self.expression(children[0])
        if len(children) == 2:
            key = self.expression(children[1])
        else:
            key = Display("tuple", tuple(self.expression(child) for child in children[1:]))
        return Subscript(node.start_byte - self.base, node.end_byte - self.base, value, key)

    def slice(self, node: Node) -> Expression:
        """`a:b`."""
        return Slice(tuple(self.expression(child) for child in self.parts(node)))

    def binary(self, node: Node) -> Expression:
        """`a + b`; long chains are taken apart without going deeper."""
        operands: list[Expression] = []
        symbol = "?"
        start, end = node.start_byte - self.base, node.end_byte - self.base
        while True:
            children = node.children
            if len(children) != 3:
                operands.extend(self.expression(child) for child in self.parts(node))
                break
            symbol = children[1].type
            operands.append(self.expression(children[2]))
            left = children[0]
            if left.kind_id != node.kind_id:
                operands.append(self.expression(left))
                break
            node = left
        operands.reverse()
        return Operator(start, end, tuple(operands), symbol)

    def unary(self, node: Node) -> Expression:
        """`-a`, `not a`."""
        children = node.children
        operand = self.expression(children[-1]) if children else NOTHING
        return Operator(
            node.start_byte - self.base,
            node.end_byte - self.base,
            (operand,),
            children[0].type if children else "?",
        )

    def comparison(self, node: Node) -> Expression:
        """`a < b`."""
        children = node.children
        if len(children) == 3 and children[1].kind_id in TOKENS:
            first, sign, second = children
            pair = (self.expression(first), self.expression(second))
            return Operator(node.start_byte - self.base, node.end_byte - self.base, pair, sign.type)
        operands = tuple(self.expression(child) for child in self.parts(node))
        symbols = [child.type for child in children if not child.is_named]
        symbol = symbols[0] if len(symbols) == 1 else " ".join(symbols) if len(operands) == 2 else "<"
        return Operator(node.start_byte - self.base, node.end_byte - self.base, operands, symbol)

    def boolean(self, node: Node) -> Expression:
        """`a or b`, in chains of any length."""
        options: list[Expression] = []
        both = True
        while True:
            children = node.children
            both = both and AND in [child.kind_id for child in children]
            if len(children) != 3:
                options.extend([self.expression(child) for child in self.parts(node)][::-1])
                break
            options.append(self.expression(children[2]))
            left = children[0]
            if left.kind_id != node.kind_id:
                options.append(self.expression(left))
                break
            node = left
        options.reverse()
        if not options:
            return NOTHING
        if not both:
            return Choice(None, tuple(options))
        return (TellingBoth if tells(options[0]) else Both)(None, tuple(options))

    def conditional(self, node: Node) -> Expression:
        """`a if b else c`."""
        children = self.parts(node)
        if len(children) != 3:
            return self.group(node)
        body, test, orelse = map(self.expression, children)
        return (TellingChoice if tells(test) else Choice)(test, (body, orelse))

    def walrus(self, node: Node) -> Expression:
        """`a := b`."""
        children = self.parts(node)
        if len(children) != 2:
            return self.group(node)
        return Walrus(self.target(children[0]), self.expression(children[1]))

    def yielding(self, node: Node) -> Expression:
        """`yield a`, `yield from a`."""
        self.scope.generator = True
        children = self.parts(node)
        delegates = any(child.type == "from" for child in node.children)
        return Yield(self.expression(children[0]) if children else None, delegates)

    def awaiting(self, node: Node) -> Expression:
        """`await a`."""
        return Await(self.only(node))

    def integer(self, node: Node) -> Expression:
        """`10_000`."""
        text = self.letters[node.start_byte : node.end_byte]
        known = self.integers.get(text)
        if known is None:
            try:
                known = Literal(Constant(int(text, 0)))
            except ValueError:
                known = NOTHING
            self.integers[text] = known
        return known

    def true(self, node: Node) -> Expression:
        """`True`."""
        return TRUE

    def false(self, node: Node) -> Expression:
        """`False`."""
        return FALSE

    def none(self, node: Node) -> Expression:
        """`None`."""
        return NO

    def string(self, node: Node) -> Expression:
        """A string: its text where it is short and plain, the expressions inside where it is formatted."""
        start, end = node.start_byte, node.end_byte
        letters = self.letters
        quote = letters[start]
        if quote == '"' or quote == "'":
            if end - start < 80:
                body = letters[start + 1 : end - 1]
                if body and "\\" not in body and not (body[0] == quote and letters[start + 2] == quote):
                    known = self.texts.get(body)
                    if known is None:
                        known = self.texts[body] = Literal(Constant(body if body.isascii() else utf8(body)))
                    return known
        elif PREFIX(letters, start):
            return self.formatted(node)
        return TEXT

    def formatted(self, node: Node) -> Expression:
        """An f-string, or several strings side by side."""
        inner: list[Expression] = []
        stack = self.parts(node)[::-1]
        while stack:
            child = stack.pop()
            if child.kind_id in INTERPOLATION or KINDS[child.kind_id % 65535] == "format_expression":
                for part in self.parts(child):
                    if KINDS[part.kind_id % 65535] == "format_specifier":
                        stack.extend(self.parts(part)[::-1])
                    else:
                        inner.append(self.expression(part))
            elif child.kind_id in STRINGS:
                stack.extend(self.parts(child)[::-1])
        return Group(tuple(inner), STRING) if inner else TEXT

    def lambda_(self, node: Node) -> Expression:
        """`lambda a: b`."""
        children = self.parts(node)
        if not children:
            return NOTHING
        code = FunctionCode("<lambda>", f"{self.prefix}<lambda>", node.end_byte - node.start_byte)
        saved = self.enter(code, node.start_byte)
        if len(children) == 2:
            code.parameters = self.parameters(children[0])
        code.value = self.expression(children[-1])
        self.leave(code, saved)
        return Lambda(node.start_byte - self.base, node.end_byte - self.base, code)

    # targets --------------------------------------------------------------------------------------------------

    def target(self, node: Node) -> Expression:
        """What is assigned to."""
        if node.kind_id == PLAIN_IDENTIFIER:
            name = self.name(node)
            self.scope.names.add(name.id)
            return name
        kind = KINDS[node.kind_id % 65535]
        if kind in ("pattern_list", "tuple_pattern", "list_pattern", "expression_list", "tuple", "list"):
            return Display("tuple", tuple(self.target(child) for child in self.parts(node)))
        if kind in ("list_splat_pattern", "list_splat"):
            children = self.parts(node)
            return Starred(self.target(children[0])) if children else NOTHING
        if kind in ("parenthesized_expression", "as_pattern_target"):
            children = self.parts(node)
            return self.target(children[0]) if len(children) == 1 else self.group(node)
        result = self.expression(node)
        if type(result) is Attribute:
            self.scope.attributes.add(result.name)
        elif type(result) is Subscript and type(result.value) is Attribute:
            self.scope.attributes.add(result.value.name)
        return result


def chain(place: int, text: str) -> Expression:
    """`a.b.c` of plain names."""
    first, *rest = text.split(".")
    name = Name()
    name.start, name.end, name.id = place, place + len(first), intern(first)
    result: Name | Attribute = name
    for word in rest:
        result = member(place, result.end + 1 + len(word), result, intern(word))
    return result


TRUE = Literal(Constant(True))
FALSE = Literal(Constant(False))
NO = Literal(NONE)


Handler = Callable[[Lowering, Node], Expression]

HANDLERS: dict[str, Handler] = {
    "identifier": Lowering.name,
    "attribute": Lowering.attribute,
    "member_type": Lowering.attribute,
    "call": Lowering.call,
    "keyword_argument": Lowering.keyword_value,
    "parenthesized_expression": Lowering.parenthesized,
    "type": Lowering.parenthesized,
    "expression_statement": Lowering.parenthesized,
    "list": Lowering.list_display,
    "tuple": Lowering.tuple_display,
    "expression_list": Lowering.tuple_display,
    "set": Lowering.set_display,
    "dictionary": Lowering.dictionary,
    "subscript": Lowering.subscript,
    "generic_type": Lowering.subscript,
    "type_parameter": Lowering.tuple_display,
    "slice": Lowering.slice,
    "binary_operator": Lowering.binary,
    "union_type": Lowering.binary,
    "unary_operator": Lowering.unary,
    "not_operator": Lowering.unary,
    "comparison_operator": Lowering.comparison,
    "boolean_operator": Lowering.boolean,
    "conditional_expression": Lowering.conditional,
    "list_comprehension": Lowering.list_comprehension,
    "set_comprehension": Lowering.set_comprehension,
    "dictionary_comprehension": Lowering.dict_comprehension,
    "generator_expression": Lowering.generator,
    "named_expression": Lowering.walrus,
    "yield": Lowering.yielding,
    "await": Lowering.awaiting,
    "list_splat": Lowering.starred,
    "integer": Lowering.integer,
    "float": Lowering.nothing,
    "true": Lowering.true,
    "false": Lowering.false,
    "none": Lowering.none,
    "string": Lowering.string,
    "concatenated_string": Lowering.formatted,
    "lambda": Lowering.lambda_,
    "comment": Lowering.nothing,
}
EXPRESSIONS = [*(HANDLERS.get(name, Lowering.group) for name in KINDS), Lowering.group]


def bounded(handler: Handler) -> Handler:
    """Lower an expression of a statement that turned out to be nested too deep for the stack."""

    def lower(self: Lowering, node: Node) -> Expression:
        if self.depth > MAX_DEPTH:
            return NOTHING
        self.depth += 1
        result = handler(self, node)
        self.depth -= 1
        return result

    return lower


BOUNDED = [bounded(handler) for handler in EXPRESSIONS]


def lower_expression(text: str) -> Expression:
    """A text as one expression by itself."""
    source = text.strip().encode("utf-8", "surrogatepass")
    root = tree_sitter.Parser(LANGUAGE).parse(source).root_node
    if root.has_error or len(root.children) != 1:
        return NOTHING
    lowering = Lowering(source)
    lowering.handlers = BOUNDED
    return lowering.expression(root.children[0])
