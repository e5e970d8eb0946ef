"""What expressions are, by their kind."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from energy_code.static_shapes.doors import Walk
from energy_code.static_shapes.values.kinds import (
    SOME_NUMBER,
    UNKNOWN,
    Array,
    Function,
    Items,
    Name,
    Node,
    Scope,
    Table,
)
from energy_code.static_shapes.values.structures import (
    items_of,
    joined,
    truth,
    turns,
)
from energy_code.static_shapes.walking.functions import FunctionWalk
from energy_code.static_shapes.walking.indexing import Indexing
from energy_code.static_shapes.walking.operators import SIGNS, Operators


class Expressions:
    """Answers what an expression is; calls and members are asked of who knows them. No state of its own."""

    def __init__(self, walk: Walk, functions: FunctionWalk, operators: Operators, indexing: Indexing) -> None:
        self.walk, self.context = walk, walk.context
        self.functions, self.operators, self.indexing = functions, operators, indexing

    def value(self, node: ast.expr | None, scope: Scope) -> Any:
        """What an expression is."""
        self.context.step()
        if node is None:
            return None
        found = self._KINDS.get(type(node))
        if found is not None:
            return found(self, node, scope)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.value(child, scope)
        return UNKNOWN

    def _constant(self, node: ast.Constant, scope: Scope) -> Any:
        return node.value

    def _name(self, node: ast.Name, scope: Scope) -> Any:
        return scope.find(node.id)

    def _tuple(self, node: ast.Tuple, scope: Scope) -> Any:
        found = self._elements(node.elts, scope)
        return UNKNOWN if found is None else tuple(found)

    def _list(self, node: ast.List | ast.Set, scope: Scope) -> Any:
        found = self._elements(node.elts, scope)
        return UNKNOWN if found is None else Items(found, self.context.uncertain)

    def _elements(self, nodes: list[ast.expr], scope: Scope) -> list[Any] | None:
        found: list[Any] | None = []
        for each in nodes:
            if isinstance(each, ast.Starred):
                more = items_of(self.value(each.value, scope))
                found = None if more is None or found is None else [*found, *more]
            else:
                one = self.value(each, scope)
                if found is not None:
                    found.append(one)
        return found

    def _dict(self, node: ast.Dict, scope: Scope) -> Any:
        found = Table(born=self.context.uncertain)
        for key, value in zip(node.keys, node.values, strict=True):
            what = self.value(value, scope)
            name = UNKNOWN if key is None else self.value(key, scope)
            if key is None and isinstance(what, Table) and what.known:
                found.update(what)
            elif isinstance(name, (str, int, float, tuple, Name)) or name is None:
                found[name] = what
            else:
                found.known = False
        return found

    def _attribute(self, node: ast.Attribute, scope: Scope) -> Any:
        return self.walk.attribute(self.value(node.value, scope), node.attr)

    def _lambda(self, node: ast.Lambda, scope: Scope) -> Any:
        return Function(node, scope, self.defaults(node.args, scope))

    def defaults(self, given: ast.arguments, scope: Scope) -> dict[str, Any]:
        """What parameters are where nothing is given, evaluated where the function is made."""
        named = [each.arg for each in (*given.posonlyargs, *given.args)]
        found = {
            name: self.value(default, scope)
            for name, default in zip(named[len(named) - len(given.defaults) :], given.defaults, strict=True)
        }
        for each, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
            if default is not None:
                found[each.arg] = self.value(default, scope)
        return found

    def _conditional(self, node: ast.IfExp, scope: Scope) -> Any:
        test = truth(self.value(node.test, scope))
        if test is not None:
            return self.value(node.body if test else node.orelse, scope)
        self.context.uncertain += 1
        try:
            return joined(self.value(node.body, scope), self.value(node.orelse, scope))
        finally:
            self.context.uncertain -= 1

    def _boolean(self, node: ast.BoolOp, scope: Scope) -> Any:
        last: Any = UNKNOWN
        for each in node.values:
            last = self.value(each, scope)
            known = truth(last)
            if known is None:
                return UNKNOWN
            if known == isinstance(node.op, ast.Or):
                return last
        return last

    def _unary(self, node: ast.UnaryOp, scope: Scope) -> Any:
        inner = self.value(node.operand, scope)
        if isinstance(node.op, ast.Not):
            known = truth(inner)
            return UNKNOWN if known is None else not known
        if isinstance(inner, (int, float)) and isinstance(node.op, ast.USub):
            return -inner
        if isinstance(inner, Node):
            return self.walk.symbolic(Name("tensorflow.math.negative"), [inner], {})
        return inner if isinstance(inner, Array) or inner is SOME_NUMBER else UNKNOWN

    def _binary(self, node: ast.BinOp, scope: Scope) -> Any:
        return self.operators.combined(
            SIGNS[type(node.op)], self.value(node.left, scope), self.value(node.right, scope)
        )

    def _compare(self, node: ast.Compare, scope: Scope) -> Any:
        left = self.value(node.left, scope)
        result: Any = True
        for op, each in zip(node.ops, node.comparators, strict=True):
            right = self.value(each, scope)
            one = self.operators.compared(op, left, right)
            if one is not True:
                result = one if len(node.ops) == 1 or one is False else UNKNOWN
            left = right
        return result

    def _subscript(self, node: ast.Subscript, scope: Scope) -> Any:
        owner = self.value(node.value, scope)
        return self.indexing.item(owner, self.indexing.index(node.slice, scope))

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp, scope: Scope) -> Any:
        inner = Scope({}, scope, scope.file, scope.module, scope.package)
        found = Items(born=self.context.uncertain)
        if not self._each(node.generators, inner, lambda: found.append(self.value(node.elt, inner))):
            found.known = False
        return found

    def _dict_comprehension(self, node: ast.DictComp, scope: Scope) -> Any:
        inner = Scope({}, scope, scope.file, scope.module, scope.package)
        found = Table(born=self.context.uncertain)

        def one() -> None:
            key = self.value(node.key, inner)
            if isinstance(key, (str, int, float)):
                found[key] = self.value(node.value, inner)
            else:
                found.known = False

        if not self._each(node.generators, inner, one):
            found.known = False
        return found

    def _each(self, loops: list[ast.comprehension], scope: Scope, then: Callable[[], object]) -> bool:
        """Do something for each turn of a comprehension; False where the turns are not all known."""
        if not loops:
            then()
            return True
        loop, *rest = loops
        values, sample = turns(self.value(loop.iter, scope))
        complete = values is not None
        for value in [sample] if values is None else values:
            self.walk.assign(loop.target, value, scope)
            tests = [truth(self.value(test, scope)) for test in loop.ifs]
            if False in tests:
                continue
            complete = self._each(rest, scope, then) and complete and None not in tests
        return complete

    def _walrus(self, node: ast.NamedExpr, scope: Scope) -> Any:
        found = self.value(node.value, scope)
        self.walk.assign(node.target, found, scope)
        return found

    def _starred(self, node: ast.Starred, scope: Scope) -> Any:
        return self.value(node.value, scope)

    def _joined_text(self, node: ast.JoinedStr, scope: Scope) -> Any:
        parts = []
        for each in node.values:
            part = self.value(each.value if isinstance(each, ast.FormattedValue) else each, scope)
            plain = not isinstance(each, ast.FormattedValue) or each.format_spec is None
            parts.append(str(part) if isinstance(part, (str, int)) and plain else None)
        return "".join(str(part) for part in parts) if None not in parts else UNKNOWN

    def _call(self, node: ast.Call, scope: Scope) -> Any:
        return self.walk.call(node, scope)

    def _yield(self, node: ast.Yield, scope: Scope) -> Any:
        found = self.value(node.value, scope)
        if self.functions.yielded:
            self.functions.yielded[-1].append(found)
        return UNKNOWN

    _KINDS: Mapping[type[ast.AST], Callable[..., Any]] = {
        ast.Constant: _constant, ast.Name: _name, ast.Tuple: _tuple, ast.List: _list, ast.Set: _list, ast.Dict: _dict,
        ast.Attribute: _attribute, ast.Lambda: _lambda, ast.IfExp: _conditional, ast.BoolOp: _boolean,
        ast.UnaryOp: _unary, ast.BinOp: _binary, ast.Compare: _compare, ast.Subscript: _subscript,
        ast.ListComp: _comprehension, ast.GeneratorExp: _comprehension, ast.SetComp: _comprehension,
        ast.DictComp: _dict_comprehension, ast.NamedExpr: _walrus, ast.Starred: _starred, ast.JoinedStr: _joined_text,
        ast.Call: _call, ast.Yield: _yield,
    }  # fmt: skip
