"""What stands on the left: names, members, elements, several at once."""

from __future__ import annotations

import ast
from typing import Any

from energy_code.static_shapes.doors import Walk
from energy_code.static_shapes.values.kinds import (
    UNKNOWN,
    Array,
    Items,
    Scope,
    Table,
)
from energy_code.static_shapes.values.structures import (
    joined,
)
from energy_code.static_shapes.walking.classes import ClassWalk
from energy_code.static_shapes.walking.indexing import Indexing


class Assignment:
    """Binds values. Its state stands in scopes and objects."""

    def __init__(self, walk: Walk, classes: ClassWalk, indexing: Indexing) -> None:
        self.walk, self.context, self.classes, self.indexing = walk, walk.context, classes, indexing

    def assign(self, target: ast.expr, value: Any, scope: Scope) -> None:
        """Bind a value to what stands on the left."""
        if isinstance(target, ast.Name):
            home: Scope | None = scope
            if target.id in scope.outside:
                home = scope.outer
                while home is not None and home.outer is not None and target.id not in home.names:
                    home = home.outer
            home = home or scope
            home.names[target.id] = (
                joined(home.names.get(target.id, value), value)
                if home is not scope and self.context.uncertain
                else value
            )
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target.elts, value, scope)
        elif isinstance(target, ast.Attribute):
            self.classes.set_member(self.walk.value(target.value, scope), target.attr, value)
        elif isinstance(target, ast.Subscript):
            owner = self.walk.value(target.value, scope)
            index = self.indexing.index(target.slice, scope)
            if (
                isinstance(owner, Table)
                and isinstance(index, (str, int))
                and self.context.uncertain <= owner.born
            ):
                owner[index] = value
            elif isinstance(owner, Items) and isinstance(index, int) and -len(owner) <= index < len(owner):
                owner[index] = value if self.context.uncertain <= owner.born else joined(owner[index], value)
            elif isinstance(owner, (Table, Items)):
                owner.known = False
        elif isinstance(target, ast.Starred):
            self.assign(target.value, value, scope)

    def _unpack(self, targets: list[ast.expr], value: Any, scope: Scope) -> None:
        if isinstance(value, Items):
            parts: list[Any] | None = list(value) if value.known else None
        elif isinstance(value, Array) and value.shape:
            parts = [Array(value.dtype, value.shape[1:], value.numpy)] * len(targets)
        else:
            parts = list(value) if isinstance(value, tuple) else None
        starred = [place for place, each in enumerate(targets) if isinstance(each, ast.Starred)]
        if parts is not None and len(starred) == 1 and len(parts) >= len(targets) - 1:
            first, after = starred[0], len(targets) - starred[0] - 1
            middle = Items(parts[first : len(parts) - after], self.context.uncertain)
            parts = [*parts[:first], middle, *parts[len(parts) - after :]]
        if parts is None or len(parts) != len(targets):
            parts = [UNKNOWN] * len(targets)
        for each, part in zip(targets, parts, strict=True):
            self.assign(each, part, scope)
