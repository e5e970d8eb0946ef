"""Lowering of the parameters of functions and lambdas."""

from __future__ import annotations

from energy_code.ir.code import Parameter, ParameterKind
from energy_code.lowering.context import Lowering
from energy_code.syntax import node_fields as fields
from energy_code.syntax.node_kinds import KINDS, PLAIN_IDENTIFIER, TOKENS, Node, kinds

DEFAULT_PARAMETER = KINDS.index("default_parameter")
ANNOTATED = kinds("default_parameter", "typed_default_parameter", "typed_parameter")
SEPARATORS = kinds("keyword_separator")
MANY = kinds("list_splat_pattern")
KEYWORDS = kinds("dictionary_splat_pattern")


def lower_parameters(lowering: Lowering, node: Node) -> tuple[Parameter, ...]:
    """The parameters of a function or lambda."""
    result: list[Parameter] = []
    kind: ParameterKind = "plain"
    for child in node.children:
        form = child.kind_id
        if form in TOKENS:
            continue
        if form == PLAIN_IDENTIFIER:
            result.append(Parameter(lowering.text(child), kind))
        elif form == DEFAULT_PARAMETER and len(parts := child.children) == 3:
            result.append(Parameter(lowering.text(parts[0]), kind, None, lowering.expression(parts[2])))
        elif form in ANNOTATED:
            parameter = lower_parameter(lowering, child, kind)
            kind = "keyword" if parameter.kind == "args" else kind
            result.append(parameter)
        elif form in SEPARATORS:
            kind = "keyword"
        elif form in MANY:
            result.append(Parameter(lowering.text(child).lstrip("* "), "args"))
            kind = "keyword"
        elif form in KEYWORDS:
            result.append(Parameter(lowering.text(child).lstrip("* "), "kwargs"))
    return tuple(result)


def lower_parameter(lowering: Lowering, node: Node, kind: ParameterKind) -> Parameter:
    """`a=1`, `a: T`, `a: T = 1`, `*a: T`."""
    name = node.child_by_field_id(fields.NAME) or (node.named_children or [node])[0]
    annotation = node.child_by_field_id(fields.TYPE)
    default = node.child_by_field_id(fields.VALUE)
    text = lowering.text(name)
    if text.startswith("**"):
        kind = "kwargs"
    elif text.startswith("*"):
        kind = "args"
    return Parameter(
        text.lstrip("* "),
        kind,
        lowering.expression(annotation) if annotation is not None else None,
        lowering.expression(default) if default is not None else None,
    )
