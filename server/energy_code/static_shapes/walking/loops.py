"""Loops: turn by turn where they are short and known.

Of another the body is taken twice: with what stands before it, and with what is still true after one turn.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from energy_code.static_shapes.doors import Walk
from energy_code.static_shapes.limits import MOST_TURNS
from energy_code.static_shapes.values.kinds import (
    SOME_NUMBER,
    UNKNOWN,
    Array,
    Dataset,
    Items,
    Scope,
)
from energy_code.static_shapes.values.structures import (
    joined,
    truth,
    turns,
)
from energy_code.static_shapes.walking.functions import FunctionWalk


class Loops:
    """Answers what a loop leaves bound. No state of its own."""

    def __init__(self, walk: Walk, functions: FunctionWalk) -> None:
        self.walk, self.context, self.functions = walk, walk.context, functions

    def loop(self, node: ast.For | ast.AsyncFor | ast.While, scope: Scope) -> str:
        """A loop, turn by turn where it is short and known."""
        if isinstance(node, ast.While):
            if truth(self.walk.value(node.test, scope)) is False:
                return self.walk.run(node.orelse, scope)
            return self._repeated(node, lambda: None, scope, 1)
        over = self.walk.value(node.iter, scope)
        values, sample = turns(over)
        if values is not None and len(values) <= MOST_TURNS:
            for value in values:
                self.walk.assign(node.target, value, scope)
                self._header(node, scope)
                end = self.walk.run(node.body, scope)
                if end == "break":
                    return ""
                if end in ("return", "raise"):
                    return end
            return self.walk.run(node.orelse, scope)
        if values is not None:
            sample = values[0]
            for each in values[1:]:
                sample = joined(sample, each)
            if sample is UNKNOWN and all(isinstance(each, int) for each in values):
                sample = SOME_NUMBER
        target = node.target

        def begin() -> None:
            self.walk.assign(target, sample, scope)
            self._header(node, scope)

        return self._repeated(node, begin, scope, _count(over))

    def _header(self, node: ast.For | ast.AsyncFor, scope: Scope) -> None:
        comments = self.functions.written.get(scope.file)
        if comments:
            self.functions.apply_written(comments, node.lineno, node.lineno, scope)

    def _repeated(
        self, node: ast.For | ast.AsyncFor | ast.While, begin: Callable[[], None], scope: Scope, count: int
    ) -> str:
        """A body that runs so many times: once as it begins, and again with what then still holds."""
        before, outer = dict(scope.names), self.context.turns
        self.context.uncertain += 1
        self.context.turns = outer * count
        begin()
        self.walk.run(node.body, scope)
        stored = [name for name in dict.fromkeys(names_stored(node)) if name in before]
        changed = False
        for name in stored:
            both = joined(before[name], scope.names.get(name, before[name]))
            changed = changed or both is not before[name]
            scope.names[name] = both
        self.context.turns = 0
        if changed:
            begin()
            self.walk.run(node.body, scope)
            for name in stored:
                scope.names[name] = joined(before[name], scope.names.get(name, before[name]))
        self.context.uncertain -= 1
        self.context.turns = outer
        return ""


def _count(over: Any) -> int:
    """Turns of a loop over something; 1 where the source does not tell."""
    if isinstance(over, Dataset):
        return over.count if over.count is not None and over.count > 0 else 1
    if isinstance(over, Array):
        return (over.shape[0] if over.shape else 1) or 1
    return len(over) if isinstance(over, (range, tuple, Items)) and len(over) else 1


def names_stored(node: ast.AST) -> Iterator[str]:
    """Names that a statement may bind."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id
