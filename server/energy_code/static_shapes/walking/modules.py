"""Modules of the project, gone through when they are imported; libraries are their dotted names."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from energy_code.static_shapes.doors import Walk
from energy_code.static_shapes.limits import MOST_MODULES
from energy_code.static_shapes.values import written
from energy_code.static_shapes.values.kinds import (
    UNKNOWN,
    Name,
    Scope,
)
from energy_code.static_shapes.walking.functions import FunctionWalk
from energy_code.static_shapes.walking.notes import Notes

FULL_NAMES = {"tensorflow.keras": "keras", "tf_keras": "keras", "tensorflow.compat.v2": "tensorflow"}

Find = Callable[[str, int, str], "ModuleSource | None"]
"""Finds a module of the project: its dotted name, how many levels up, and the file that asks."""


@dataclass(frozen=True, slots=True)
class ModuleSource:
    """A module of the project."""

    text: str
    file: str
    name: str
    package: bool = False


class ModuleWalk:
    """Answers what an import binds. Its state: the modules that were gone through, by name."""

    def __init__(self, walk: Walk, find: Find | None, functions: FunctionWalk, notes: Notes) -> None:
        self.walk, self.context, self.find = walk, walk.context, find
        self.functions, self.notes = functions, notes
        self.scopes: dict[str, Scope | None] = {}

    def load(self, source: str, file: str, name: str, package: bool) -> Scope | None:
        """Go through a module; None where it is no Python."""
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        scope = Scope({"__name__": name}, None, file, "" if name == "__main__" else name, package)
        self.scopes[name] = scope
        self.functions.written[file] = written.comments(source)
        self.notes.of(file)
        self.walk.run(tree.body, scope)
        return scope

    def imported(self, node: ast.Import | ast.ImportFrom, scope: Scope) -> None:
        """Modules of the project are gone through; libraries are their dotted names."""
        for alias in node.names:
            if isinstance(node, ast.Import):
                first = alias.name.split(".")[0]
                module = self.project_module(alias.name if alias.asname else first, 0, scope)
                if not alias.asname and "." in alias.name and module is not None:
                    self.project_module(alias.name, 0, scope)
                name = alias.asname or first
                scope.names[name] = module or Name(full_name(alias.name if alias.asname else first))
                continue
            base = node.module or ""
            module = self.project_module(base, node.level, scope)
            if module is None and node.level == 0:
                scope.names[alias.asname or alias.name] = Name(full_name(f"{base}.{alias.name}"))
            elif alias.name == "*":
                scope.names.update(
                    {
                        name: value
                        for name, value in (module.names if module else {}).items()
                        if not name.startswith("_")
                    }
                )
            else:
                scope.names[alias.asname or alias.name] = self._from_module(
                    module, base, alias.name, node.level, scope
                )

    def _from_module(self, module: Scope | None, base: str, name: str, level: int, scope: Scope) -> Any:
        if module is not None and name in module.names:
            return module.names[name]
        below = self.project_module(f"{base}.{name}".strip("."), level, scope)
        return UNKNOWN if below is None else below

    def project_module(self, dotted: str, level: int, scope: Scope) -> Scope | None:
        """A module of the project by its name; None for one of a library."""
        if self.find is None or (not dotted and not level):
            return None
        source = self.find(dotted, level, scope.file)
        if source is None:
            return None
        if source.name not in self.scopes:
            if len(self.scopes) > MOST_MODULES:
                return None
            self.scopes[source.name] = None
            uncertain, self.context.uncertain = self.context.uncertain, 0
            self.load(source.text, source.file, source.name, source.package)
            self.context.uncertain = uncertain
        return self.scopes[source.name]


def full_name(dotted: str) -> str:
    """A name of Keras or TensorFlow as the catalogue spells it."""
    for short, name in FULL_NAMES.items():
        if dotted == short or dotted.startswith(short + "."):
            return name + dotted[len(short) :]
    return dotted
