"""Lowering of imports."""

from __future__ import annotations

from energy_code.ir.imports import Import, ImportFrom
from energy_code.ir.nodes import Statement
from energy_code.ir.statements import Evaluate
from energy_code.lowering.context import Lowering
from energy_code.syntax import node_fields as fields
from energy_code.syntax.node_kinds import KINDS, Node, code_children


def lower_import(lowering: Lowering, node: Node) -> Statement:
    """`import a.b as c`."""
    names: list[tuple[str, str | None]] = []
    for child in code_children(node):
        name, alias = imported_name(lowering, child)
        names.append((name, alias))
        lowering.scope.names.add(alias or name.partition(".")[0])
    return Import(tuple(names))


def imported_name(lowering: Lowering, node: Node) -> tuple[str, str | None]:
    """A dotted name and its alias."""
    if KINDS[node.kind_id % 65535] == "aliased_import":
        name, alias = node.child_by_field_id(fields.NAME), node.child_by_field_id(fields.ALIAS)
        return (dotted_name(lowering, name) if name else ""), (lowering.text(alias) if alias else None)
    return dotted_name(lowering, node), None


def dotted_name(lowering: Lowering, node: Node) -> str:
    """A dotted name without the blanks that may stand in it."""
    return "".join(lowering.text(node).split())


def lower_import_from(lowering: Lowering, node: Node) -> Statement:
    """`from a import b as c`."""
    source = node.child_by_field_id(fields.MODULE_NAME)
    text = dotted_name(lowering, source) if source is not None else ""
    module = text.lstrip(".")
    names: list[tuple[str, str]] = []
    star = False
    for child in code_children(node):
        if child == source:
            continue
        if KINDS[child.kind_id % 65535] == "wildcard_import":
            star = True
            lowering.scope.names.add("*")
            continue
        name, alias = imported_name(lowering, child)
        names.append((name, alias or name))
        lowering.scope.names.add(alias or name)
    if not names and not star:
        return Evaluate(())
    return ImportFrom(module, len(text) - len(module), () if star else tuple(names))
