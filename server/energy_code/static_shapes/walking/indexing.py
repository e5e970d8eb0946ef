"""Elements and slices: `x[0]`, `x[i : i + 32]`, `table[name]`."""

from __future__ import annotations

import ast
from typing import Any

from energy_code.static_shapes.doors import Walk
from energy_code.static_shapes.operations import arrays
from energy_code.static_shapes.values.kinds import (
    SOME_NUMBER,
    UNKNOWN,
    Array,
    Items,
    Name,
    Node,
    Scope,
    Table,
)
from energy_code.static_shapes.values.structures import (
    items_of,
    joined,
)


class Indexing:
    """Answers what an index is and what it takes. No state of its own."""

    def __init__(self, walk: Walk) -> None:
        self.walk, self.context = walk, walk.context

    def index(self, node: ast.expr, scope: Scope) -> Any:
        """What stands between the brackets."""
        if isinstance(node, ast.Tuple):
            return tuple(self.index(each, scope) for each in node.elts)
        if not isinstance(node, ast.Slice):
            found = self.walk.value(node, scope)
            return None if isinstance(found, Name) and found.dotted.endswith(".newaxis") else found
        length = self._window(node, scope)
        if length is not None:
            return slice(arrays.Length(length), None, None)
        return slice(
            *(
                None if each is None else self.walk.value(each, scope)
                for each in (node.lower, node.upper, node.step)
            )
        )

    def _window(self, node: ast.Slice, scope: Scope) -> int | None:
        """The length of `i : i + 32`, and of `i * 32 : (i + 1) * 32`, whatever i is."""
        lower, upper = node.lower, node.upper
        if (
            lower is None
            or upper is None
            or node.step is not None
            or isinstance(self.walk.value(lower, scope), int)
        ):
            return None
        step: Any = None
        added, times = _is(upper, ast.Add), _is(upper, ast.Mult)
        if added is not None and ast.dump(added.left) == ast.dump(lower):
            step = self.walk.value(added.right, scope)
        elif times is not None and isinstance(lower, ast.BinOp):
            more = _is(times.left, ast.Add)
            same = ast.dump(times.right) == ast.dump(lower.right)
            if more is not None and same and ast.dump(more.left) == ast.dump(lower.left):
                step = (
                    self.walk.value(lower.right, scope) if self.walk.value(more.right, scope) == 1 else None
                )
        return step if isinstance(step, int) and not isinstance(step, bool) and step > 0 else None

    def item(self, owner: Any, index: Any) -> Any:
        """An element or a slice."""
        if isinstance(owner, Node):
            return self.walk.symbolic(Name("(operator).[]"), [owner, index], {})
        if isinstance(owner, Array):
            parts = index if isinstance(index, tuple) else (index,)
            if any(part is UNKNOWN for part in parts):
                return UNKNOWN
            parts = tuple(arrays.array_of(part) if isinstance(part, list) else part for part in parts)
            if not all(_indexes(part) for part in parts):
                return UNKNOWN
            try:
                return arrays.taken(owner, parts)
            except (ValueError, TypeError):
                return UNKNOWN
        if isinstance(owner, Table):
            hashable = isinstance(index, (str, int, float, tuple, Name))
            return (
                owner.get(index, UNKNOWN)
                if owner.known and hashable and not isinstance(index, slice)
                else UNKNOWN
            )
        if isinstance(owner, Items) and not owner.known:
            return UNKNOWN
        if isinstance(owner, (tuple, Items, str, range)):
            if isinstance(index, slice):
                ends = (index.start, index.stop, index.step)
                if any(end is not None and not isinstance(end, int) for end in ends):
                    return UNKNOWN
                part = owner[index]
                return Items(part, self.context.uncertain) if isinstance(owner, Items) else part
            if isinstance(index, int) and -len(owner) <= index < len(owner):
                return owner[index]
            alike = items_of(owner)
            if index is SOME_NUMBER and alike:
                found = alike[0]
                for each in alike[1:]:
                    found = joined(found, each)
                return found
        return UNKNOWN


def _is(node: ast.expr, sign: type[ast.operator]) -> ast.BinOp | None:
    """An expression with this operator; None for any other."""
    return node if isinstance(node, ast.BinOp) and isinstance(node.op, sign) else None


def _indexes(part: Any) -> bool:
    if isinstance(part, slice):
        return all(
            end is None
            or isinstance(end, (int, arrays.Length))
            or end is SOME_NUMBER
            or _scalar(end)
            or end is UNKNOWN
            for end in (part.start, part.stop, part.step)
        )
    return part is None or part is Ellipsis or part is SOME_NUMBER or isinstance(part, (int, Array))


def _scalar(value: Any) -> bool:
    return isinstance(value, Array) and not value.shape
