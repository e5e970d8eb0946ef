"""Statements, in the order in which they run.

Of a branch whose test is not known both sides are taken, and what they leave different is unknown afterwards.
"""

from __future__ import annotations

import ast
from typing import Any

from energy_code.static_shapes.doors import Walk
from energy_code.static_shapes.models.gradients import Gradients
from energy_code.static_shapes.values import written
from energy_code.static_shapes.values.kinds import (
    UNKNOWN,
    Scope,
    Tape,
)
from energy_code.static_shapes.values.structures import (
    joined,
    truth,
)
from energy_code.static_shapes.walking.definitions import Definitions
from energy_code.static_shapes.walking.functions import FunctionWalk
from energy_code.static_shapes.walking.loops import Loops
from energy_code.static_shapes.walking.modules import ModuleWalk
from energy_code.static_shapes.walking.operators import SIGNS


class Statements:
    """Answers how statements end and what they leave bound. No state of its own."""

    def __init__(
        self,
        walk: Walk,
        functions: FunctionWalk,
        definitions: Definitions,
        modules: ModuleWalk,
        loops: Loops,
        gradients: Gradients,
    ) -> None:
        self.walk, self.context, self.gradients = walk, walk.context, gradients
        self.functions, self.definitions, self.modules, self.loops = functions, definitions, modules, loops

    def run(self, statements: list[ast.stmt], scope: Scope) -> str:
        """Statements, one after the other; how they end: `return`, `break`, `continue`, `raise`, or nothing."""
        comments = self.functions.written.get(scope.file)
        last = statements[0].lineno if statements else 0
        for statement in statements:
            self.context.step()
            if comments:
                self.functions.apply_written(comments, last, statement.lineno - 1, scope)
            end = self.statement(statement, scope)
            if comments and not isinstance(
                statement, (ast.FunctionDef, ast.ClassDef, ast.If, ast.With, ast.Try)
            ):
                head = (
                    statement.lineno
                    if hasattr(statement, "body")
                    else statement.end_lineno or statement.lineno
                )
                self.functions.apply_written(comments, statement.lineno, head, scope)
            last = (statement.end_lineno or statement.lineno) + 1
            if end:
                return end
        return ""

    def statement(self, node: ast.stmt, scope: Scope) -> str:
        """One statement."""
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            self.modules.imported(node, scope)
        elif isinstance(node, ast.Assign):
            value = self.walk.value(node.value, scope)
            for target in node.targets:
                self.walk.assign(target, value, scope)
        elif isinstance(node, ast.AnnAssign):
            value = UNKNOWN if node.value is None else self.walk.value(node.value, scope)
            about = written.annotated(node.annotation)
            if node.value is not None or about:
                self.walk.assign(node.target, written.with_shape(value, about) if about else value, scope)
        elif isinstance(node, ast.AugAssign):
            current = self.walk.value(_loaded(node.target), scope)
            more = self.walk.value(node.value, scope)
            self.walk.assign(node.target, self.walk.combined(SIGNS[type(node.op)], current, more), scope)
        elif isinstance(node, ast.Expr):
            self.walk.value(node.value, scope)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            scope.names[node.name] = self.definitions.defined(node, scope)
        elif isinstance(node, ast.ClassDef):
            scope.names[node.name] = self.definitions.class_of(node, scope)
        elif isinstance(node, ast.Return):
            if self.functions.returned:
                self.functions.returned[-1].append(
                    None if node.value is None else self.walk.value(node.value, scope)
                )
            return "return"
        elif isinstance(node, ast.If):
            return self.branches(node, scope)
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            return self.loops.loop(node, scope)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            values = []
            for item in node.items:
                values.append(self.walk.value(item.context_expr, scope))
                if item.optional_vars is not None:
                    self.walk.assign(item.optional_vars, values[-1], scope)
            with self.gradients.watching([value for value in values if isinstance(value, Tape)]):
                return self.run(node.body, scope)
        elif isinstance(node, ast.Try):
            return self.tried(node, scope)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            scope.outside.update(node.names)
        elif isinstance(node, ast.Raise):
            return "raise"
        elif isinstance(node, ast.Break):
            return "break"
        elif isinstance(node, ast.Continue):
            return "continue"
        elif isinstance(node, ast.Delete):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    scope.names.pop(target.id, None)
        elif isinstance(node, ast.Assert):
            self.walk.value(node.test, scope)
        elif isinstance(node, ast.Match):
            self.walk.value(node.subject, scope)
            self._alternatives([case.body for case in node.cases] + [[]], scope)
        return ""

    def branches(self, node: ast.If, scope: Scope) -> str:
        """The side that is taken, or both."""
        test = truth(self.walk.value(node.test, scope))
        if test is not None:
            return self.run(node.body if test else node.orelse, scope)
        return self._alternatives([node.body, node.orelse], scope)

    def _alternatives(self, sides: list[list[ast.stmt]], scope: Scope) -> str:
        """Statements of which one list or another runs."""
        before = scope.names
        left: list[dict[str, Any]] = []
        ends: list[str] = []
        self.context.uncertain += 1
        for statements in sides:
            scope.names = dict(before)
            end = self.run(statements, scope)
            if end in ("", "continue", "break"):
                left.append(scope.names)
            ends.append(end)
        self.context.uncertain -= 1
        if not left:
            scope.names = dict(before)
            return ends[0]
        names = left[0]
        for other in left[1:]:
            for name in {**names, **other}:
                # A name that only one side binds is that where it is read: elsewhere the program would not run.
                if name in names and name in other:
                    names[name] = joined(names[name], other[name])
                else:
                    names[name] = names.get(name, other.get(name))
        scope.names = names
        return ends[0] if len(set(ends)) == 1 else ""

    def tried(self, node: ast.Try, scope: Scope) -> str:
        """A `try` whose body does not fail; what its handlers do is looked at and forgotten."""
        before = dict(scope.names)
        end = self.run(node.body, scope)
        after = scope.names
        self.context.uncertain += 1
        for handler in node.handlers:
            scope.names = dict(before)
            marks = len(self.functions.returned[-1]) if self.functions.returned else 0
            self.run(handler.body, scope)
            if self.functions.returned:
                del self.functions.returned[-1][marks:]
        self.context.uncertain -= 1
        scope.names = after
        if not end:
            end = self.run(node.orelse, scope)
        return self.run(node.finalbody, scope) or end


def _loaded(target: ast.expr) -> ast.expr:
    """What stands on the left of `+=`, as an expression."""
    if isinstance(target, ast.Name):
        return ast.copy_location(ast.Name(target.id, ast.Load()), target)
    return target
