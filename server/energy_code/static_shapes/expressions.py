"""What expressions are: numbers and texts as in Python, arrays by their shapes, everything else as far as it is known."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from energy_code.static_shapes import arrays
from energy_code.static_shapes.values import (
    SOME_NUMBER,
    UNKNOWN,
    Array,
    Bound,
    Class,
    Dataset,
    Function,
    Instance,
    Items,
    Layer,
    Method,
    Model,
    Name,
    Node,
    Scope,
    Table,
    joined,
)  # fmt: skip

LONGEST = 1000
"""Elements of a list or a text that are kept."""
SIGNS: Mapping[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
    ast.Lt: "<", ast.Gt: ">", ast.LtE: "<=", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
APIS = {
    "+": "math.add", "-": "math.subtract", "*": "math.multiply", "/": "math.truediv", "@": "linalg.matmul", "**": "math.pow",
    "<": "math.less", ">": "math.greater", "<=": "math.less_equal", ">=": "math.greater_equal", "==": "math.equal",
}  # fmt: skip
"""The API that an operator between tensors stands for."""
PLAIN: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "&": operator.and_, "|": operator.or_, "<": operator.lt, ">": operator.gt, "<=": operator.le,
    ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


class OutOfBudgetError(Exception):
    """The program is too large to be gone through in the time of a hover."""


def truth(value: Any) -> bool | None:
    """Whether a value counts as true; None where that is not known."""
    if value is None or isinstance(value, (bool, int, float, str, bytes, tuple, range)):
        return bool(value)
    if isinstance(value, (Items, Table)):
        return bool(value) if value.known else None
    if isinstance(value, (Function, Class, Instance, Model, Layer, Bound)):
        return True
    return None


def items_of(value: Any) -> list[Any] | None:
    """The elements of a sequence of the program, as far as they are all known."""
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Items):
        return list(value) if value.known else None
    if isinstance(value, range):
        return list(value) if len(value) <= LONGEST else None
    if isinstance(value, Table):
        return list(value) if value.known else None
    if isinstance(value, str):
        return list(value) if len(value) <= LONGEST else None
    if isinstance(value, set):
        return None
    return None


class Expressions:
    """Evaluates expressions. Calls are left to who knows what is called."""

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.uncertain = 0
        """Depth of what may or may not happen: branches of unknown tests, bodies of unknown loops."""
        self.trace: list[Any] | None = None
        """Layers and operations that are applied, while a model is gone through."""
        self.yielded: list[list[Any]] = []
        """What the generators that are gone through give."""

    def call(self, node: ast.Call, scope: Scope) -> Any:
        """What a call gives."""
        raise NotImplementedError

    def attribute(self, owner: Any, name: str) -> Any:
        """What a member is."""
        raise NotImplementedError

    def symbolic(self, function: Any, given: list[Any], named: dict[str, Any]) -> Any:
        """A call with tensors of a functional model."""
        raise NotImplementedError

    def operation(self, api: str, given: list[Array]) -> None:
        """Note an operation of a model that is gone through."""
        raise NotImplementedError

    def step(self) -> None:
        """Count what was looked at."""
        self.steps -= 1
        if self.steps < 0:
            raise OutOfBudgetError

    def value(self, node: ast.expr | None, scope: Scope) -> Any:
        """What an expression is."""
        self.step()
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
        return UNKNOWN if found is None else Items(found, self.uncertain)

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
        found = Table(born=self.uncertain)
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
        return self.attribute(self.value(node.value, scope), node.attr)

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
        self.uncertain += 1
        try:
            return joined(self.value(node.body, scope), self.value(node.orelse, scope))
        finally:
            self.uncertain -= 1

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
            return self.symbolic(Name("tensorflow.math.negative"), [inner], {})
        return inner if isinstance(inner, Array) or inner is SOME_NUMBER else UNKNOWN

    def _binary(self, node: ast.BinOp, scope: Scope) -> Any:
        return self.combined(
            SIGNS[type(node.op)], self.value(node.left, scope), self.value(node.right, scope)
        )

    def combined(self, sign: str, left: Any, right: Any) -> Any:
        """Two values under an operator."""
        if isinstance(left, Node) or isinstance(right, Node):
            return self.symbolic(Name(f"(operator).{sign}"), [left, right], {})
        if isinstance(left, Array) or isinstance(right, Array):
            try:
                found = arrays.combined(left, right, sign)
            except (ValueError, TypeError):
                return UNKNOWN
            if self.trace is not None and isinstance(found, Array) and sign in APIS:
                self.operation(
                    f"tensorflow.{APIS[sign]}", [each for each in (left, right) if isinstance(each, Array)]
                )
            return found
        if SOME_NUMBER in (left, right):
            number = all(isinstance(each, (int, float)) or each is SOME_NUMBER for each in (left, right))
            return SOME_NUMBER if number and sign in "+-*//%**" else UNKNOWN
        if isinstance(left, Items) or isinstance(right, Items):
            return self._lists(sign, left, right)
        if sign == "%" and isinstance(left, str):
            return UNKNOWN
        if sign == "**":
            return left**right if _small(left) and _small(right) and (left or right >= 0) else UNKNOWN
        plain = (int, float, str, tuple)
        found_plain = PLAIN.get(sign)
        if found_plain is None or not isinstance(left, plain) or not isinstance(right, plain):
            if sign in ("==", "!=") and (left is None or right is None) and UNKNOWN not in (left, right):
                return (left is right) == (sign == "==")
            return UNKNOWN
        if _long(left) or _long(right) or (sign == "*" and _repeats_long(left, right)):
            return UNKNOWN
        try:
            result = found_plain(left, right)
        except (TypeError, ValueError, ZeroDivisionError, OverflowError):
            return UNKNOWN
        return UNKNOWN if _long(result) else result

    def _lists(self, sign: str, left: Any, right: Any) -> Any:
        one, other = items_of(left), items_of(right)
        if sign == "+" and one is not None and other is not None and len(one) + len(other) <= LONGEST:
            return Items([*one, *other], self.uncertain)
        times = right if one is not None else left
        listed = one if one is not None else other
        if sign == "*" and listed is not None and isinstance(times, int) and len(listed) * times <= LONGEST:
            return Items(listed * times, self.uncertain)
        return UNKNOWN

    def _compare(self, node: ast.Compare, scope: Scope) -> Any:
        left = self.value(node.left, scope)
        result: Any = True
        for op, each in zip(node.ops, node.comparators, strict=True):
            right = self.value(each, scope)
            one = self._compared(op, left, right)
            if one is not True:
                result = one if len(node.ops) == 1 or one is False else UNKNOWN
            left = right
        return result

    def _compared(self, op: ast.cmpop, left: Any, right: Any) -> Any:
        if isinstance(op, (ast.Is, ast.IsNot)):
            if UNKNOWN in (left, right) or isinstance(left, Name) or isinstance(right, Name):
                return UNKNOWN
            same = left is right or (
                isinstance(left, (int, str)) and left == right and type(left) is type(right)
            )
            return same == isinstance(op, ast.Is)
        if isinstance(op, (ast.In, ast.NotIn)):
            listed = items_of(right)
            if isinstance(left, str) and isinstance(right, str):
                return (left in right) == isinstance(op, ast.In)
            if listed is None or not isinstance(left, (int, str, float)) or UNKNOWN in listed:
                return UNKNOWN
            return (left in listed) == isinstance(op, ast.In)
        return self.combined(SIGNS[type(op)], left, right)

    def _subscript(self, node: ast.Subscript, scope: Scope) -> Any:
        owner = self.value(node.value, scope)
        return self.item(owner, self._index(node.slice, scope))

    def _index(self, node: ast.expr, scope: Scope) -> Any:
        if isinstance(node, ast.Tuple):
            return tuple(self._index(each, scope) for each in node.elts)
        if not isinstance(node, ast.Slice):
            found = self.value(node, scope)
            return None if isinstance(found, Name) and found.dotted.endswith(".newaxis") else found
        length = self._window(node, scope)
        if length is not None:
            return slice(arrays.Length(length), None, None)
        return slice(
            *(
                None if each is None else self.value(each, scope)
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
            or isinstance(self.value(lower, scope), int)
        ):
            return None
        step: Any = None
        added, times = _is(upper, ast.Add), _is(upper, ast.Mult)
        if added is not None and ast.dump(added.left) == ast.dump(lower):
            step = self.value(added.right, scope)
        elif times is not None and isinstance(lower, ast.BinOp):
            more = _is(times.left, ast.Add)
            same = ast.dump(times.right) == ast.dump(lower.right)
            if more is not None and same and ast.dump(more.left) == ast.dump(lower.left):
                step = self.value(lower.right, scope) if self.value(more.right, scope) == 1 else None
        return step if isinstance(step, int) and not isinstance(step, bool) and step > 0 else None

    def item(self, owner: Any, index: Any) -> Any:
        """An element or a slice."""
        if isinstance(owner, Node):
            return self.symbolic(Name("(operator).[]"), [owner, index], {})
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
                return Items(part, self.uncertain) if isinstance(owner, Items) else part
            if isinstance(index, int) and -len(owner) <= index < len(owner):
                return owner[index]
            alike = items_of(owner)
            if index is SOME_NUMBER and alike:
                found = alike[0]
                for each in alike[1:]:
                    found = joined(found, each)
                return found
        return UNKNOWN

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp, scope: Scope) -> Any:
        inner = Scope({}, scope, scope.file, scope.module, scope.package)
        found = Items(born=self.uncertain)
        if not self._each(node.generators, inner, lambda: found.append(self.value(node.elt, inner))):
            found.known = False
        return found

    def _dict_comprehension(self, node: ast.DictComp, scope: Scope) -> Any:
        inner = Scope({}, scope, scope.file, scope.module, scope.package)
        found = Table(born=self.uncertain)

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
        values, sample = self.turns(self.value(loop.iter, scope))
        complete = values is not None
        for value in [sample] if values is None else values:
            self.assign(loop.target, value, scope)
            tests = [truth(self.value(test, scope)) for test in loop.ifs]
            if False in tests:
                continue
            complete = self._each(rest, scope, then) and complete and None not in tests
        return complete

    def turns(self, value: Any) -> tuple[list[Any] | None, Any]:
        """The values of a loop's variable in order, or None and what each is like."""
        listed = items_of(value)
        if listed is not None:
            return listed, UNKNOWN
        if isinstance(value, range):
            return None, SOME_NUMBER
        if isinstance(value, Dataset):
            return None, value.element
        if isinstance(value, Array) and value.shape:
            return None, Array(value.dtype, value.shape[1:], value.numpy)
        if isinstance(value, Method) and value.name in ("items", "values", "keys"):
            return None, UNKNOWN
        return None, UNKNOWN

    def assign(self, target: ast.expr, value: Any, scope: Scope) -> None:
        """Bind a value to what stands on the left."""
        raise NotImplementedError

    def _walrus(self, node: ast.NamedExpr, scope: Scope) -> Any:
        found = self.value(node.value, scope)
        self.assign(node.target, found, scope)
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
        return self.call(node, scope)

    def _yield(self, node: ast.Yield, scope: Scope) -> Any:
        found = self.value(node.value, scope)
        if self.yielded:
            self.yielded[-1].append(found)
        return UNKNOWN

    _KINDS: Mapping[type[ast.AST], Callable[..., Any]] = {
        ast.Constant: _constant, ast.Name: _name, ast.Tuple: _tuple, ast.List: _list, ast.Set: _list, ast.Dict: _dict,
        ast.Attribute: _attribute, ast.Lambda: _lambda, ast.IfExp: _conditional, ast.BoolOp: _boolean,
        ast.UnaryOp: _unary, ast.BinOp: _binary, ast.Compare: _compare, ast.Subscript: _subscript,
        ast.ListComp: _comprehension, ast.GeneratorExp: _comprehension, ast.SetComp: _comprehension,
        ast.DictComp: _dict_comprehension, ast.NamedExpr: _walrus, ast.Starred: _starred, ast.JoinedStr: _joined_text,
        ast.Call: _call, ast.Yield: _yield,
    }  # fmt: skip


def _is(node: ast.expr, sign: type[ast.operator]) -> ast.BinOp | None:
    """An expression with this operator; None for any other."""
    return node if isinstance(node, ast.BinOp) and isinstance(node.op, sign) else None


def names_stored(node: ast.AST) -> Iterator[str]:
    """Names that a statement may bind."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id


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


def _small(value: Any) -> bool:
    return isinstance(value, (int, float)) and abs(value) <= 4096


def _long(value: Any) -> bool:
    if isinstance(value, (int, float)):
        return abs(value) > 1 << 62
    return isinstance(value, (tuple, str)) and len(value) > LONGEST


def _repeats_long(left: Any, right: Any) -> bool:
    for one, times in ((left, right), (right, left)):
        if isinstance(one, (tuple, str)) and isinstance(times, int) and len(one) * times > LONGEST:
            return True
    return False
