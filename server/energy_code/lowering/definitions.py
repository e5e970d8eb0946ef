"""Lowering of functions and classes, found again by their text where they were lowered before."""

from __future__ import annotations

from energy_code.ir.code import ClassCode, Code, FunctionCode
from energy_code.ir.definitions import Define, DefineClass
from energy_code.ir.expressions import CallExpression
from energy_code.ir.nodes import Expression, Statement
from energy_code.ir.statements import Block, Evaluate, Jump
from energy_code.lowering.blocks import lower_block
from energy_code.lowering.context import Lowering
from energy_code.lowering.expressions import keyword_argument, new_call
from energy_code.lowering.parameters import lower_parameters
from energy_code.lowering.recovery import broken_parts
from energy_code.syntax import node_fields as fields
from energy_code.syntax.node_kinds import KEYWORD_ARGUMENT, KINDS, Node, code_children


def lower_decorated(lowering: Lowering, node: Node) -> Statement | None:
    """Decorators and what they stand on."""
    decorators: list[tuple[Expression, CallExpression]] = []
    definition: Node | None = None
    for child in code_children(node):
        kind = KINDS[child.kind_id % 65535]
        if kind == "decorator":
            parts = code_children(child)
            if parts:
                expression = lowering.expression(parts[0])
                decorators.append((expression, new_call(lowering, parts[0], expression)))
        else:
            definition = child
    if definition is None:
        return Evaluate(tuple(expression for expression, _ in decorators))
    return lower_definition(lowering, definition, tuple(decorators))


def lower_definition(
    lowering: Lowering, node: Node, decorators: tuple[tuple[Expression, CallExpression], ...] = ()
) -> Statement | None:
    """A function or a class, known by its text or lowered now."""
    kind = KINDS[node.kind_id % 65535]
    if kind not in ("function_definition", "class_definition"):
        return Block(
            (Evaluate(tuple(expression for expression, _ in decorators)), lowering.statement(node) or Jump())
        )
    name = node.child_by_field_id(fields.NAME)
    label = lowering.text(name) if name is not None else ""
    lowering.scope.names.add(label)
    start, end = node.start_byte, node.end_byte
    key = (f"{lowering.scope.prefix}{label}", node.start_point[1], lowering.source[start:end])
    broken = node.has_error
    code: Code | None = None if broken else lowering.known.find(key)
    if code is not None:
        lowering.scope.code.parts.append((start - lowering.scope.base, code))
    elif kind == "function_definition":
        code = lower_function(lowering, node, label, end - start)
    else:
        code = lower_class(lowering, node, label, end - start)
    if not broken:
        lowering.known.keep(key, code)
    if isinstance(code, FunctionCode):
        return Define(code, decorators)
    assert isinstance(code, ClassCode)
    return DefineClass(code, decorators)


def lower_function(lowering: Lowering, node: Node, name: str, length: int) -> FunctionCode:
    """`def name(...) -> ...: ...`."""
    code = FunctionCode(name, f"{lowering.scope.prefix}{name}", length)
    outer = lowering.enter(code, node.start_byte)
    parameters = node.child_by_field_id(fields.PARAMETERS)
    if parameters is not None:
        code.parameters = lower_parameters(lowering, parameters)
    returns = node.child_by_field_id(fields.RETURN_TYPE)
    if returns is not None:
        code.returns = lowering.expression(returns)
    code.body = lower_block(lowering, node.child_by_field_id(fields.BODY)) + broken_parts(lowering, node)
    lowering.leave(outer)
    return code


def lower_class(lowering: Lowering, node: Node, name: str, length: int) -> ClassCode:
    """`class name(...): ...`."""
    code = ClassCode(name, f"{lowering.scope.prefix}{name}", length)
    outer = lowering.enter(code, node.start_byte)
    bases = node.child_by_field_id(fields.SUPERCLASSES)
    if bases is not None:
        children = code_children(bases)
        plain = [child for child in children if child.kind_id != KEYWORD_ARGUMENT]
        code.bases = tuple(lowering.expression(child) for child in plain)
        code.keywords = tuple(
            keyword_argument(lowering, child) for child in children if child.kind_id == KEYWORD_ARGUMENT
        )
    code.body = lower_block(lowering, node.child_by_field_id(fields.BODY)) + broken_parts(lowering, node)
    code.local_names = lowering.scope.names
    lowering.leave(outer)
    return code
