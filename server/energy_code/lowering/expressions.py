"""Lowering of expressions: which function lowers which kind of node, and those of names, attributes and calls."""

from __future__ import annotations

from functools import lru_cache
from sys import intern

from energy_code.interpreter.limits import MAX_EXPRESSION_DEPTH
from energy_code.ir.code import FunctionCode
from energy_code.ir.expressions import (
    NOTHING,
    Attribute,
    Await,
    CallExpression,
    Display,
    Name,
    Slice,
    Starred,
    Subscript,
    Yield,
    member,
)
from energy_code.ir.nodes import Expression
from energy_code.ir.targets import Lambda, Walrus
from energy_code.lowering.context import ExpressionHandler, Lowering
from energy_code.lowering.displays import DISPLAYS
from energy_code.lowering.literals import LITERALS
from energy_code.lowering.operators import OPERATORS
from energy_code.lowering.parameters import lower_parameters
from energy_code.lowering.targets import lower_target
from energy_code.syntax.node_kinds import (
    DICT_SPLAT,
    DOTTED,
    ERROR,
    GENERATOR,
    IGNORED,
    KEYWORD_ARGUMENT,
    KINDS,
    LIST_SPLAT,
    PLAIN_IDENTIFIER,
    TOKENS,
    Node,
    code_children,
)
from energy_code.syntax.tree import parse

MUTATORS = frozenset(["append", "extend", "insert", "add", "appendleft", "update"])


def lower_attribute(lowering: Lowering, node: Node) -> Expression:
    """`a.b`; a chain of plain names is read from the text."""
    start, end = node.start_byte, node.end_byte
    base = lowering.scope.base
    text = lowering.letters[start:end]
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
            return lowering.group(node)
    return member(
        start - base, end - base, lowering.expression(children[0]), intern(lowering.text(children[2]))
    )


def lower_call(lowering: Lowering, node: Node) -> Expression:
    """`f(...)`."""
    children = node.children
    if len(children) != 2:
        children = code_children(node)
        if len(children) != 2:
            return lowering.group(node)
    callee, arguments = children
    function = lowering.expression(callee)
    result = new_call(lowering, node, function)
    if type(function) is Attribute and function.name in MUTATORS and type(function.value) is Attribute:
        lowering.scope.attributes.add(
            function.value.name
        )  # `lowering.layers.append(x)` sets the attribute too
    if arguments.kind_id in GENERATOR:
        result.positional = (lowering.expression(arguments),)
        return result
    children = arguments.children
    if len(children) == 2:
        return result
    handlers = lowering.expressions
    positional: list[Expression] = []
    keywords: list[tuple[str, Expression]] = []
    for child in children:
        kind = child.kind_id
        if kind in TOKENS:
            continue
        if kind == PLAIN_IDENTIFIER:
            positional.append(lowering.name(child))
        elif kind == KEYWORD_ARGUMENT:
            keywords.append(keyword_argument(lowering, child))
        elif kind in LIST_SPLAT:
            positional.append(Starred(lowering.only(child)))
            result.unpacks = True
        elif kind in DICT_SPLAT:
            keywords.append(("**", lowering.only(child)))
            result.unpacks = True
        else:
            positional.append(handlers[kind if kind != ERROR else -1](lowering, child))
    result.positional = tuple(positional)
    if keywords:
        result.keywords = tuple(keywords)
    return result


def new_call(lowering: Lowering, node: Node, function: Expression) -> CallExpression:
    """A call without arguments."""
    result = CallExpression()
    result.start = node.start_byte - lowering.scope.base
    result.end = node.end_byte - lowering.scope.base
    result.function = function
    result.enclosing_code = lowering.scope.code
    result.positional = result.keywords = ()
    result.loud = None
    result.unpacks = False
    return result


def keyword_argument(lowering: Lowering, node: Node) -> tuple[str, Expression]:
    """`name=value`."""
    children = node.children
    if len(children) != 3:
        return "", lowering.group(node)
    return intern(lowering.text(children[0])), lowering.expression(children[2])


def lower_keyword_value(lowering: Lowering, node: Node) -> Expression:
    """`name=value` outside of a call, in broken code."""
    return keyword_argument(lowering, node)[1]


def lower_parenthesized(lowering: Lowering, node: Node) -> Expression:
    """`(a)`, however many brackets deep."""
    children = code_children(node)
    while len(children) == 1 and KINDS[children[0].kind_id % 65535] == "parenthesized_expression":
        children = code_children(children[0])
    return lowering.expression(children[0]) if len(children) == 1 else lowering.group(node)


def lower_subscript(lowering: Lowering, node: Node) -> Expression:
    """`a[b]`."""
    children = code_children(node)
    if len(children) < 2:
        return lowering.group(node)
    value = lowering.expression(children[0])
    if len(children) == 2:
        key = lowering.expression(children[1])
    else:
        key = Display("tuple", tuple(lowering.expression(child) for child in children[1:]))
    return Subscript(node.start_byte - lowering.scope.base, node.end_byte - lowering.scope.base, value, key)


def lower_slice(lowering: Lowering, node: Node) -> Expression:
    """`a:b`."""
    return Slice(tuple(lowering.expression(child) for child in code_children(node)))


def lower_walrus(lowering: Lowering, node: Node) -> Expression:
    """`a := b`."""
    children = code_children(node)
    if len(children) != 2:
        return lowering.group(node)
    return Walrus(lower_target(lowering, children[0]), lowering.expression(children[1]))


def lower_yield(lowering: Lowering, node: Node) -> Expression:
    """`yield a`, `yield from a`."""
    lowering.scope.generator = True
    children = code_children(node)
    delegates = any(child.type == "from" for child in node.children)
    return Yield(lowering.expression(children[0]) if children else None, delegates)


def lower_await(lowering: Lowering, node: Node) -> Expression:
    """`await a`."""
    return Await(lowering.only(node))


def lower_lambda(lowering: Lowering, node: Node) -> Expression:
    """`lambda a: b`."""
    children = code_children(node)
    if not children:
        return NOTHING
    code = FunctionCode("<lambda>", f"{lowering.scope.prefix}<lambda>", node.end_byte - node.start_byte)
    outer = lowering.enter(code, node.start_byte)
    if len(children) == 2:
        code.parameters = lower_parameters(lowering, children[0])
    code.value = lowering.expression(children[-1])
    lowering.leave(outer)
    return Lambda(node.start_byte - lowering.scope.base, node.end_byte - lowering.scope.base, code)


def chain(place: int, text: str) -> Expression:
    """`a.b.c` of plain names."""
    first, *rest = text.split(".")
    name = Name()
    name.start, name.end, name.id = place, place + len(first), intern(first)
    result: Name | Attribute = name
    for word in rest:
        result = member(place, result.end + 1 + len(word), result, intern(word))
    return result


HANDLERS: dict[str, ExpressionHandler] = {
    **DISPLAYS,
    **LITERALS,
    **OPERATORS,
    "identifier": Lowering.name,
    "attribute": lower_attribute,
    "member_type": lower_attribute,
    "call": lower_call,
    "keyword_argument": lower_keyword_value,
    "parenthesized_expression": lower_parenthesized,
    "type": lower_parenthesized,
    "expression_statement": lower_parenthesized,
    "subscript": lower_subscript,
    "generic_type": lower_subscript,
    "slice": lower_slice,
    "named_expression": lower_walrus,
    "yield": lower_yield,
    "await": lower_await,
    "lambda": lower_lambda,
    "comment": Lowering.nothing,
}
EXPRESSIONS = [*(HANDLERS.get(name, Lowering.group) for name in KINDS), Lowering.group]
"""What lowers an expression, by its kind; the last one is for errors."""


def bounded(handler: ExpressionHandler) -> ExpressionHandler:
    """Lower an expression of a statement that turned out to be nested too deep for the stack."""

    def lower(lowering: Lowering, node: Node) -> Expression:
        if lowering.depth > MAX_EXPRESSION_DEPTH:
            return NOTHING
        lowering.depth += 1
        result = handler(lowering, node)
        lowering.depth -= 1
        return result

    return lower


BOUNDED = [bounded(handler) for handler in EXPRESSIONS]


def lower_expression(text: str) -> Expression:
    """A text as one expression by itself."""
    source = text.strip().encode("utf-8", "surrogatepass")
    root = parse(source).root_node
    if root.has_error or len(root.children) != 1:
        return NOTHING
    return Lowering(source, BOUNDED).expression(root.children[0])


@lru_cache(maxsize=1024)
def lower_annotation(text: str) -> Expression:
    """The expression inside an annotation in quotes."""
    return lower_expression(text) if text.strip() and "'" not in text and '"' not in text else NOTHING
