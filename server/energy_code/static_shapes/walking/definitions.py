"""Functions and classes where they are defined, with what their decorators make of them."""

from __future__ import annotations

import ast
from typing import Any

from energy_code.static_shapes.doors import Walk
from energy_code.static_shapes.values.kinds import (
    UNKNOWN,
    Bound,
    Class,
    Function,
    Items,
    Name,
    Scope,
)
from energy_code.static_shapes.walking.expressions import Expressions
from energy_code.static_shapes.walking.modules import full_name
from energy_data.catalogue.naming import canonical


class Definitions:
    """Answers what `def` and `class` bind. No state of its own."""

    def __init__(self, walk: Walk, expressions: Expressions) -> None:
        self.walk, self.expressions = walk, expressions

    def defined(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope, home: Class | None = None
    ) -> Any:
        """A function with what its decorators make of it."""
        made = Function(node, scope, self.expressions.defaults(node.args, scope), home=home)
        found: Any = made
        for decorator in reversed(node.decorator_list):
            value = self.walk.value(decorator.func if isinstance(decorator, ast.Call) else decorator, scope)
            name = canonical(full_name(value.dotted)) if isinstance(value, Name) else ""
            if name in ("staticmethod", "classmethod", "property"):
                made.kind = name
            elif name == "tensorflow.function":
                made.compiled = True
                for keyword in decorator.keywords if isinstance(decorator, ast.Call) else ():
                    if keyword.arg == "input_signature":
                        signature = self.walk.value(keyword.value, scope)
                        made.signature = tuple(signature) if isinstance(signature, (tuple, Items)) else ()
            elif isinstance(value, (Function, Bound)) and not isinstance(decorator, ast.Call):
                found = self.walk.invoke(value, [found], {})
            elif not name.startswith(
                ("tensorflow.", "keras.", "functools.", "contextlib.", "typing.", "abc.", "numba.")
            ):
                found = UNKNOWN
        if found is UNKNOWN:
            # What it does is not known, but its body may run.
            scope.names[f"{node.name} undecorated"] = made
        return found

    def class_of(self, node: ast.ClassDef, scope: Scope) -> Any:
        """A class of the program."""
        bases = tuple(
            Name(canonical(full_name(base.dotted))) if isinstance(base, Name) else base
            for base in (self.walk.value(each, scope) for each in node.bases)
        )
        made = Class(node.name, bases, {}, node, scope)
        for decorator in node.decorator_list:
            value = self.walk.value(decorator.func if isinstance(decorator, ast.Call) else decorator, scope)
            made.dataclass = made.dataclass or (
                isinstance(value, Name) and value.dotted.endswith("dataclass")
            )
        inner = Scope(made.members, scope, scope.file, scope.module, scope.package)
        for statement in node.body:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                made.members[statement.name] = self.defined(statement, scope, made)
            elif isinstance(statement, ast.AnnAssign) and isinstance(statement.value, ast.Call):
                made.members.update(self._field(statement, inner))
            else:
                self.walk.run([statement], inner)
        made.members = inner.names
        return made

    def _field(self, node: ast.AnnAssign, scope: Scope) -> dict[str, Any]:
        """A field of a dataclass whose default is made by `field(…)`."""
        assert isinstance(node.value, ast.Call)
        value: Any = self.walk.value(node.value, scope)
        for keyword in node.value.keywords:
            if keyword.arg == "default":
                value = self.walk.value(keyword.value, scope)
            elif keyword.arg == "default_factory":
                value = self.walk.invoke(self.walk.value(keyword.value, scope), [], {})
        return {node.target.id: value} if isinstance(node.target, ast.Name) else {}
