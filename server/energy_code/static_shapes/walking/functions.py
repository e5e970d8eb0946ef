"""Functions of the program: entered where they are called, with what they are given."""

from __future__ import annotations

import ast
from typing import Any

from energy_code.static_shapes.doors import Walk
from energy_code.static_shapes.limits import MAX_CALL_DEPTH
from energy_code.static_shapes.values import written
from energy_code.static_shapes.values.kinds import (
    UNKNOWN,
    Dataset,
    Function,
    Scope,
    Table,
)
from energy_code.static_shapes.values.structures import (
    joined,
)


class FunctionWalk:
    """Answers what a function of the program gives.

    Its state: how deep calls are within each other, which functions were entered, what those under way return and yield,
    and what comments say about the shapes of names, by file and line.
    """

    def __init__(self, walk: Walk) -> None:
        self.walk, self.context = walk, walk.context
        self.depth = 0
        self.entered: set[int] = set()
        """Functions that were called, by their code."""
        self.returned: list[list[Any]] = []
        self.yielded: list[list[Any]] = []
        self.written: dict[str, dict[int, dict[str, written.WrittenShape]]] = {}

    def enter(
        self, function: Function, given: list[Any], named: dict[str, Any], *, unknown: bool = False
    ) -> Any:
        """Call a function of the program."""
        code = function.code
        if self.depth >= MAX_CALL_DEPTH:
            return UNKNOWN
        self.context.step()
        scope = Scope({}, function.scope, function.scope.file, function.scope.module, function.scope.package)
        self._bind(function, given, named, scope, unknown)
        if not unknown:
            self.entered.add(id(code))
        if function.home is not None:
            scope.names.setdefault("__class__", function.home)
        self.depth += 1
        try:
            if isinstance(code, ast.Lambda):
                return self.walk.value(code.body, scope)
            self.returned.append([])
            self.yielded.append([])
            uncertain = self.context.uncertain
            try:
                end = self.walk.run(code.body, scope)
            finally:
                found, yielded = self.returned.pop(), self.yielded.pop()
                self.context.uncertain = uncertain
            if _yields(code):
                return Dataset(_all(yielded), None) if yielded else UNKNOWN
            if end == "":
                found.append(None)
            if not found:
                return UNKNOWN  # it never comes back
            return _all(found)
        finally:
            self.depth -= 1

    def _bind(
        self, function: Function, given: list[Any], named: dict[str, Any], scope: Scope, unknown: bool
    ) -> None:
        about = function.code.args
        places = [*about.posonlyargs, *about.args]
        every = [*places, *about.kwonlyargs]
        signature = list(function.signature)
        for place, each in enumerate(every):
            value = UNKNOWN if unknown else function.defaults.get(each.arg, UNKNOWN)
            if not unknown and place < len(places) and place < len(given):
                value = given[place]
            elif not unknown and each.arg in named:
                value = named[each.arg]
            elif unknown and place < len(given):
                value = given[place]
            shown = place - (1 if places and places[0].arg == "self" else 0)
            if value is UNKNOWN and 0 <= shown < len(signature):
                value = signature[shown]
            scope.names[each.arg] = self.as_written(function.code, each.arg, value, each.annotation, scope)
        if about.vararg is not None:
            scope.names[about.vararg.arg] = UNKNOWN if unknown else tuple(given[len(places) :])
        if about.kwarg is not None:
            known = {each.arg for each in every}
            rest = Table({name: value for name, value in named.items() if name not in known})
            scope.names[about.kwarg.arg] = UNKNOWN if unknown else rest

    def as_written(
        self, node: ast.AST, name: str, value: Any, annotation: ast.expr | None, scope: Scope
    ) -> Any:
        """A parameter, with what the user wrote about it."""
        about = written.annotated(annotation)
        lines = self.written.get(scope.file)
        if lines and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for line in range(node.lineno, max(node.body[0].lineno, node.lineno + 1)):
                about = lines.get(line, {}).get(name, about)
        return value if about is None else written.with_shape(value, about)

    def apply_written(
        self, comments: dict[int, dict[str, written.WrittenShape]], first: int, last: int, scope: Scope
    ) -> None:
        """What comments on these lines say about names."""
        for line in range(first, last + 1):
            for name, about in comments.get(line, {}).items():
                scope.names[name] = written.with_shape(scope.find(name), about)


def _all(values: list[Any]) -> Any:
    """What is known of a value that is one of these."""
    result = values[0]
    for each in values[1:]:
        result = joined(result, each)
    return result


def _yields(code: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in ast.walk(code))
