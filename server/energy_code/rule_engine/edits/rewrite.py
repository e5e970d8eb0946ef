"""Writing the fix: libcst builds the new expression, everything outside of it stays byte for byte."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

import libcst as cst
from libcst.helpers import parse_template_expression

from energy_code.rule_engine.context import Edit, Match
from energy_code.rule_engine.edits.names import Spelling

if TYPE_CHECKING:
    from tree_sitter import Node

    from energy_code.analysis.analysis import Analysis

_HOLE = re.compile(r"\$(\w+)\??")
_DROPPABLE = re.compile(r"(?:, )?(?:\w+=)?\$(\w+)\?")
_LOOSE = (
    cst.BinaryOperation,
    cst.BooleanOperation,
    cst.Comparison,
    cst.UnaryOperation,
    cst.IfExp,
    cst.Lambda,
    cst.Await,
    cst.NamedExpr,
    cst.Yield,
)
"""Expressions that need parentheses as an operand."""
_TIGHT_PARENTS = frozenset(
    {
        "binary_operator",
        "unary_operator",
        "comparison_operator",
        "boolean_operator",
        "not_operator",
        "attribute",
        "subscript",
        "await",
    }
)


def edits_for(analysis: Analysis, match: Match) -> list[Edit]:
    """The replacements that carry a match out, in ascending order."""
    if match.edits is not None:
        return sorted(match.edits())
    assert match.template is not None
    names, callee = Spelling(analysis), match.node.child_by_field_name("function")
    captures = {**match.captures, "callee": callee} if callee is not None else match.captures
    text = expression(analysis, names.spell(match.template), captures, match.node)
    return sorted([*names.import_edits(), Edit(match.node.start_byte, match.node.end_byte, text)])


def expression(analysis: Analysis, template: str, captures: Mapping[str, Node], replaced: Node) -> str:
    """Fill a template with the captured source, with parentheses where precedence asks for them."""
    template = _DROPPABLE.sub(lambda m: m.group(0) if m.group(1) in captures else "", template)
    template = template.replace("(, ", "(")
    parts: dict[str, cst.BaseExpression] = {}
    pieces: list[str] = []
    end = 0
    for number, hole in enumerate(_HOLE.finditer(template)):
        key = f"part{number}"
        before, after = template[: hole.start()].rstrip()[-1:], template[hole.end() :].lstrip()[:1]
        is_argument = before in ("(", ",", "=", "[") and after in (")", ",", "]")
        parts[key] = _parse(_source(analysis, captures[hole.group(1)]), keep_bare=is_argument)
        pieces += [template[end : hole.start()], "{" + key + "}"]
        end = hole.end()
    pieces.append(template[end:])
    built = parse_template_expression("".join(pieces), cst.PartialParserConfig(), **parts)
    text = cst.Module([]).code_for_node(built)
    return f"({text})" if _needs_parentheses(built, text, replaced) else text


def _source(analysis: Analysis, node: Node) -> str:
    return analysis.source[node.start_byte : node.end_byte].decode()


def _parse(text: str, *, keep_bare: bool) -> cst.BaseExpression:
    """Parse captured source; in parentheses, so that a line break inside it is no end of the expression."""
    wrapped = cst.parse_expression(f"({text})")
    if isinstance(wrapped, cst.Tuple) and text.startswith("("):
        return cst.parse_expression(text)
    if keep_bare or not isinstance(wrapped, _LOOSE):
        return wrapped.with_changes(lpar=wrapped.lpar[1:], rpar=wrapped.rpar[:-1])
    return wrapped


def _needs_parentheses(built: cst.BaseExpression, text: str, replaced: Node) -> bool:
    if not isinstance(built, _LOOSE) or built.lpar:
        return False
    parent = replaced.parent
    if parent is not None and parent.type in _TIGHT_PARENTS:
        return True
    return "\n" in text and (
        parent is None or parent.type not in ("argument_list", "parenthesized_expression")
    )
