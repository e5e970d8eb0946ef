"""Reads what calls return from the types-tensorflow stubs: dotted name of a function or method → type."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

FOREIGN = {"str", "int", "float", "bool", "bytes", "dict", "list", "tuple"}
CONTAINERS = {
    "list": "list",
    "Sequence": "list",
    "tuple": "tuple",
    "Iterator": "iterator",
    "Generator": "iterator",
    "Iterable": "iterator",
}


class StubModule:
    """One .pyi file: its imports, and the annotations of what it defines."""

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self.package = name if path.name == "__init__.pyi" else name.rpartition(".")[0]
        self.tree = ast.parse(path.read_text(encoding="utf-8"))
        self.names: dict[str, str] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    self.names[alias.asname or alias.name.split(".")[0]] = (
                        alias.name if alias.asname else alias.name.split(".")[0]
                    )
            elif isinstance(node, ast.ImportFrom):
                source = node.module or ""
                if node.level:
                    base = self.package.split(".")
                    source = ".".join([*base[: len(base) - node.level + 1], source]).strip(".")
                for alias in node.names:
                    self.names[alias.asname or alias.name] = f"{source}.{alias.name}"
        for statement in self.tree.body:
            if isinstance(statement, ast.ClassDef):
                self.names[statement.name] = f"{name}.{statement.name}"

    def annotations(self) -> Iterator[tuple[str, str]]:
        """(dotted name, type) of every function, method and attribute whose type is of use."""
        yield from self._body(self.tree.body, self.name)

    def _body(self, body: list[ast.stmt], owner: str) -> Iterator[tuple[str, str]]:
        for node in body:
            if isinstance(node, ast.ClassDef):
                yield from self._body(node.body, f"{owner}.{node.name}")
            elif isinstance(node, ast.FunctionDef):
                if node.returns is not None and (found := self.type_of(node.returns)):
                    yield f"{owner}.{node.name}", found
            elif isinstance(node, ast.AnnAssign) and (found := self.type_of(node.annotation)):
                yield f"{owner}.{ast.unparse(node.target)}", found

    def type_of(self, node: ast.expr) -> str | None:
        """The class an annotation names, in the catalogue's notation; None where it says nothing certain."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return self.type_of(ast.parse(node.value, mode="eval").body)
        if isinstance(node, ast.BinOp):
            sides = [side for side in (self.type_of(node.left), self.type_of(node.right)) if side]
            return next((side for side in sides if side.startswith("tensorflow.")), None)
        if isinstance(node, ast.Subscript):
            return self._subscript(node)
        dotted = ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else ""
        head, _, rest = dotted.partition(".")
        if dotted in FOREIGN:
            return dotted
        full = self.names.get(head, "")
        full = f"{full}.{rest}" if rest else full
        if full.endswith(".Self"):
            return "self"
        return full if full.startswith(("tensorflow.", "keras.", "numpy.")) else None

    def _subscript(self, node: ast.Subscript) -> str | None:
        outer = ast.unparse(node.value).rpartition(".")[2]
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if outer in CONTAINERS:
            inner = [self.type_of(part) for part in parts if not isinstance(part, ast.Constant)]
            if not inner or inner[0] is None or (outer == "tuple" and None in inner):
                return None
            if outer == "tuple" and len(parts) > 1 and not isinstance(parts[1], ast.Constant):
                return f"tuple[{', '.join(str(item) for item in inner)}]"
            return f"{'list' if outer == 'tuple' else CONTAINERS[outer]}[{inner[0]}]"
        return self.type_of(node.value)


def read(folder: Path) -> dict[str, str]:
    """Everything the stubs say, the first overload of a function winning."""
    found: dict[str, str] = {}
    for path in sorted(folder.rglob("*.pyi")):
        parts = ["tensorflow", *path.relative_to(folder).with_suffix("").parts]
        if parts[1] in ("core", "compiler", "tsl", "python"):
            continue
        name = ".".join(part for part in parts if part != "__init__")
        for dotted, result in StubModule(name, path).annotations():
            found.setdefault(dotted, result)
    return found
