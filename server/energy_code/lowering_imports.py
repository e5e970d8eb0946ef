"""Lowering of imports."""

from __future__ import annotations

from energy_code import node_fields as fields
from energy_code.lowering import Lowering
from energy_code.node_kinds import KINDS, Node
from energy_code.statements import Evaluate, Import, ImportFrom, Statement


class ImportLowering(Lowering):
    """Adds imports to what lowering knows."""

    def import_(self, node: Node) -> Statement:
        """`import a.b as c`."""
        names: list[tuple[str, str | None]] = []
        for child in self.parts(node):
            name, alias = self.imported(child)
            names.append((name, alias))
            self.scope.names.add(alias or name.partition(".")[0])
        return Import(tuple(names))

    def imported(self, node: Node) -> tuple[str, str | None]:
        """A dotted name and its alias."""
        if KINDS[node.kind_id % 65535] == "aliased_import":
            name, alias = node.child_by_field_id(fields.NAME), node.child_by_field_id(fields.ALIAS)
            return (self.dotted(name) if name else ""), (self.text(alias) if alias else None)
        return self.dotted(node), None

    def dotted(self, node: Node) -> str:
        """A dotted name without the blanks that may stand in it."""
        return "".join(self.text(node).split())

    def import_from(self, node: Node) -> Statement:
        """`from a import b as c`."""
        source = node.child_by_field_id(fields.MODULE_NAME)
        text = self.dotted(source) if source is not None else ""
        module = text.lstrip(".")
        names: list[tuple[str, str]] = []
        star = False
        for child in self.parts(node):
            if child == source:
                continue
            if KINDS[child.kind_id % 65535] == "wildcard_import":
                star = True
                self.scope.names.add("*")
                continue
            name, alias = self.imported(child)
            names.append((name, alias or name))
            self.scope.names.add(alias or name)
        if not names and not star:
            return Evaluate(())
        return ImportFrom(module, len(text) - len(module), () if star else tuple(names))
