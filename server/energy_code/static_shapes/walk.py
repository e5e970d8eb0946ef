"""Goes through the statements of a file in the order in which they run, and notes the shapes that calls are given.

Nothing is run. Branches are both taken, and what they leave different is unknown afterwards; a loop's body is taken once,
with what it assigns unknown from the start. Functions of the file are entered where they are called.
"""

from __future__ import annotations

import ast
import copy
import operator
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from energy_code.static_shapes.libraries import Libraries
from energy_code.static_shapes.values import UNKNOWN, Asked, Defined, Layer, Method, Model, Name, Node
from energy_data.prediction.specs import Tensor

DEEPEST = 12
"""Calls of the file's own functions within each other."""
MOST_CALLS = 20_000
"""Expressions of calls that are looked at: a file must not keep its reader."""
FULL_NAMES = {"tensorflow.keras": "keras", "tf_keras": "keras"}

Place = tuple[int, int, int, int]
"""Line and column (bytes) of the first and the last character of a call, lines from 1."""
Names = dict[str, Any]

OPERATIONS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
}


def shapes_in(source: str, file: str = "") -> dict[Place, Asked]:
    """The calls of a file whose shapes the source tells, by place; empty where it is no Python."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    walk = Walk(file)
    try:
        walk.body(tree.body, walk.globals)
        walk.entered_nowhere()
    except RecursionError:
        pass
    return walk.found


class Returned(Exception):  # noqa: N818
    """A function came to its end."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Walk:
    """One walk through a file."""

    def __init__(self, file: str) -> None:
        self.found: dict[Place, Asked] = {}
        self.several: set[Place] = set()
        """Places that were reached with different shapes: two shapes are two figures, and none is the call's."""
        self.globals: Names = {}
        self.depth = 0
        self.calls = 0
        self.entered: set[int] = set()
        self.libraries = Libraries(file)

    def entered_nowhere(self) -> None:
        """Functions that nothing called: their parameters are unknown, what they make themselves is not."""
        for value in list(self.globals.values()):
            if isinstance(value, Defined) and id(value.code) not in self.entered:
                self.call_defined(value, [], {}, unknown=True)

    def body(self, statements: list[ast.stmt], names: Names) -> None:
        """Statements, one after the other."""
        for statement in statements:
            self.statement(statement, names)

    def statement(self, node: ast.stmt, names: Names) -> None:
        """One statement."""
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            self.imported(node, names)
        elif isinstance(node, ast.Assign):
            value = self.value(node.value, names)
            for target in node.targets:
                self.assign(target, value, names)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self.assign(node.target, self.value(node.value, names), names)
        elif isinstance(node, ast.AugAssign):
            self.value(node.value, names)
            self.assign(node.target, UNKNOWN, names)
        elif isinstance(node, ast.Expr):
            self.value(node.value, names)
        elif isinstance(node, ast.FunctionDef):
            names[node.name] = Defined(node, names) if not node.decorator_list else UNKNOWN
        elif isinstance(node, ast.Return):
            raise Returned(None if node.value is None else self.value(node.value, names))
        elif isinstance(node, ast.If):
            self.branches(node, names)
        elif isinstance(node, (ast.For, ast.While)):
            self.loop(node, names)
        elif isinstance(node, ast.With):
            for item in node.items:
                value = self.value(item.context_expr, names)
                if item.optional_vars is not None:
                    self.assign(item.optional_vars, value, names)
            self.body(node.body, names)
        elif isinstance(node, ast.Try):
            self.forget(node, names, after=False)
            self.body(node.body, names)
            self.forget(node, names, after=True)
        elif isinstance(node, ast.ClassDef):
            names[node.name] = UNKNOWN

    def branches(self, node: ast.If, names: Names) -> None:
        """Both sides, unless the test is the usual question for the main program."""
        if "__name__" in ast.dump(node.test):
            self.body(node.body, names)
            return
        self.value(node.test, names)
        left, right = dict(names), dict(names)
        returned = False
        for side, statements in ((left, node.body), (right, node.orelse)):
            try:
                self.body(statements, side)
            except Returned:
                returned = True
        for name in {**left, **right}:
            one, other = left.get(name, UNKNOWN), right.get(name, UNKNOWN)
            names[name] = one if _same(one, other) else UNKNOWN
        if returned:
            raise Returned(UNKNOWN)

    def loop(self, node: ast.For | ast.While, names: Names) -> None:
        """The body once: what it assigns may be anything when it begins."""
        if isinstance(node, ast.For):
            self.value(node.iter, names)
            self.assign(node.target, UNKNOWN, names)
        self.forget(node, names, after=False)
        with suppress(Returned):
            self.body(node.body, names)
        self.forget(node, names, after=True)

    def forget(self, node: ast.stmt, names: Names, *, after: bool) -> None:
        """Names that a statement may assign are unknown."""
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                names[part.id] = UNKNOWN

    def imported(self, node: ast.Import | ast.ImportFrom, names: Names) -> None:
        """Libraries by their dotted names."""
        for alias in node.names:
            if isinstance(node, ast.ImportFrom):
                names[alias.asname or alias.name] = Name(_full(f"{node.module or ''}.{alias.name}"))
            elif alias.asname:
                names[alias.asname] = Name(_full(alias.name))
            else:
                first = alias.name.split(".")[0]
                names[first] = Name(_full(first))

    def assign(self, target: ast.expr, value: Any, names: Names) -> None:
        """Bind a value to what stands on the left."""
        if isinstance(target, ast.Name):
            names[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            parts = list(value) if isinstance(value, (tuple, list)) else []
            if len(parts) != len(target.elts) or any(isinstance(each, ast.Starred) for each in target.elts):
                parts = [UNKNOWN] * len(target.elts)
            for each, part in zip(target.elts, parts, strict=True):
                self.assign(each, part, names)

    def value(self, node: ast.expr, names: Names) -> Any:
        """What an expression is."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return names.get(node.id, self.globals.get(node.id, UNKNOWN))
        if isinstance(node, (ast.Tuple, ast.List)):
            items = [self.value(each, names) for each in node.elts]
            return tuple(items) if isinstance(node, ast.Tuple) else items
        if isinstance(node, ast.Attribute):
            return self.attribute(self.value(node.value, names), node.attr)
        if isinstance(node, ast.Call):
            return self.call(node, names)
        if isinstance(node, ast.BinOp):
            return self.operation(node, names)
        if isinstance(node, ast.UnaryOp):
            inner = self.value(node.operand, names)
            negative = isinstance(node.op, ast.USub) and isinstance(inner, (int, float))
            return -inner if negative else inner if isinstance(inner, Tensor) else UNKNOWN
        if isinstance(node, ast.Subscript):
            return self.libraries.item(
                self.value(node.value, names), node.slice, lambda e: self.value(e, names)
            )
        if isinstance(node, ast.Dict):
            return UNKNOWN
        if isinstance(node, ast.Lambda):
            return Defined(node, names)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.value(child, names)
        return UNKNOWN

    def attribute(self, owner: Any, name: str) -> Any:
        """A member of a library, or of a value."""
        if isinstance(owner, Name):
            return Name(_full(f"{owner.dotted}.{name}"))
        if isinstance(owner, Tensor) and name == "shape":
            return owner.shape
        if isinstance(owner, Tensor) and name == "T":
            return Tensor(owner.dtype, owner.shape[::-1])
        return UNKNOWN if owner is UNKNOWN else Method(owner, name)

    def operation(self, node: ast.BinOp, names: Names) -> Any:
        """Arithmetic of numbers, tuples and tensors."""
        left, right = self.value(node.left, names), self.value(node.right, names)
        if isinstance(left, Tensor) or isinstance(right, Tensor):
            return self.libraries.combined(left, right, node.op)
        found = OPERATIONS.get(type(node.op))
        plain = (int, float, str, tuple, list)
        if found is None or not isinstance(left, plain) or not isinstance(right, plain):
            return UNKNOWN
        if isinstance(left, str) or isinstance(right, str) or _long(left) or _long(right):
            return UNKNOWN
        try:
            result = found(left, right)
        except (TypeError, ValueError, ZeroDivisionError, OverflowError):
            return UNKNOWN
        return UNKNOWN if _long(result) else result

    def call(self, node: ast.Call, names: Names) -> Any:
        """A call: of the file's own function, of a layer, or of a library."""
        self.calls += 1
        if self.calls > MOST_CALLS:
            return UNKNOWN
        function = self.value(node.func, names)
        unpacked = any(isinstance(each, ast.Starred) for each in node.args)
        given = [] if unpacked else [self.value(each, names) for each in node.args]
        named = {each.arg: self.value(each.value, names) for each in node.keywords if each.arg}
        if unpacked or any(each.arg is None for each in node.keywords):
            return UNKNOWN
        if isinstance(function, Defined):
            return self.call_defined(function, given, named)
        result, asked = self.libraries.call(function, given, named, node.lineno)
        if asked is not None:
            place = (node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)
            self.note(place, asked)
        return result

    def note(self, place: Place, asked: Asked) -> None:
        """Keep what a call was given, unless it was given something else before."""
        before = self.found.get(place)
        if place in self.several:
            return
        if before is not None and before.shape != asked.shape:
            del self.found[place]
            self.several.add(place)
        elif before is None:
            self.found[place] = asked

    def call_defined(
        self, function: Defined, given: list[Any], named: Names, *, unknown: bool = False
    ) -> Any:
        """Enter a function of the file."""
        code = function.code
        if self.depth >= DEEPEST:
            return UNKNOWN
        parameters = [each.arg for each in (*code.args.posonlyargs, *code.args.args)]
        names: Names = {**function.names} if function.names is not self.globals else {}
        names.update(dict.fromkeys([*parameters, *(each.arg for each in code.args.kwonlyargs)], UNKNOWN))
        if not unknown:
            self.entered.add(id(code))
            defaults = code.args.defaults
            for name, default in zip(parameters[len(parameters) - len(defaults) :], defaults, strict=True):
                names[name] = self.value(default, dict(function.names))
            names.update(zip(parameters, given, strict=False))
            names.update({name: value for name, value in named.items() if name in names})
        self.depth += 1
        try:
            if isinstance(code, ast.Lambda):
                return self.value(code.body, names)
            self.body(code.body, names)
        except Returned as end:
            return end.value
        finally:
            self.depth -= 1
        return None


def _full(dotted: str) -> str:
    for short, name in FULL_NAMES.items():
        if dotted == short or dotted.startswith(short + "."):
            return name + dotted[len(short) :]
    return dotted


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, (Model, Defined, Method, Layer, Node)) or isinstance(other, (Model, Defined)):
        return one is other
    return type(one) is type(other) and copy.copy(one) == other


def _long(value: Any) -> bool:
    if isinstance(value, int):
        return abs(value) > 1 << 62
    return isinstance(value, (tuple, list)) and len(value) > 1000
