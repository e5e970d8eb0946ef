"""Expressions of the lowered program; each can say what its value may be.

`start` and `end` count from the first byte of the code (function, class, top-level statement) they stand in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from energy_code.attributes import attribute
from energy_code.calling import Arguments, call
from energy_code.iteration import index, iterate
from energy_code.values import (
    KERAS_TENSOR,
    NONE,
    STRING,
    TENSOR,
    TENSOR_VALUE,
    UNKNOWN,
    ApiInstance,
    ApiModule,
    Constant,
    Function,
    Mapping,
    OneOf,
    Sequence,
    Value,
    join,
    options_of,
)

if TYPE_CHECKING:
    from energy_code.codes import Code, FunctionCode
    from energy_code.frames import Frame

MAX_ITEMS = 64
"""Longer displays are summed up by what any element may be."""


class Expression:
    """Base of all; an expression the reader does not follow is unknown."""

    __slots__ = ("end", "start")

    start: int
    end: int

    def evaluate(self, frame: Frame) -> Value:
        """What the expression may be, where it stands in the flow of `frame`."""
        return UNKNOWN


class Literal(Expression):
    """A literal."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value

    def evaluate(self, frame: Frame) -> Value:
        """Itself."""
        return self.value


NOTHING = Literal(UNKNOWN)
TEXT = Literal(STRING)


class Name(Expression):
    """A variable."""

    __slots__ = ("id",)

    def __init__(self, start: int, end: int, id: str) -> None:
        self.start = start
        self.end = end
        self.id = id

    def evaluate(self, frame: Frame) -> Value:
        """The binding that reaches this place."""
        value = frame.names.get(self.id) or frame.globals.get(self.id)
        if value is None:
            value = frame.lookup(self.id)
        if value is not UNKNOWN:
            frame.values[self] = value
        return value


class Attribute(Expression):
    """`value.name`."""

    __slots__ = ("name", "value")

    def __init__(self, start: int, end: int, value: Expression, name: str) -> None:
        self.start = start
        self.end = end
        self.value = value
        self.name = name

    def evaluate(self, frame: Frame) -> Value:
        """The attribute, by what was last assigned to it here, else by what its owner has."""
        owner = self.value.evaluate(frame)
        if owner is UNKNOWN and not frame.slots:
            return UNKNOWN
        if frame.slots and type(self.value) is Name:
            known = frame.slots.get((self.value.id, self.name))
            if known is not None:
                frame.values[self] = known
                return known
        if type(owner) is ApiModule:
            value = frame.engine.module_member(owner.name, self.name)
        else:
            value = attribute(frame, owner, self.name)
        if value is not UNKNOWN:
            frame.values[self] = value
        return value


class CallExpression(Expression):
    """A call: the only thing that is ever reported."""

    __slots__ = ("function", "home", "keywords", "positional")

    def __init__(self, start: int, end: int, function: Expression, home: Code) -> None:
        self.start = start
        self.end = end
        self.function = function
        self.home = home
        self.positional: tuple[Expression, ...] = ()
        self.keywords: tuple[tuple[str, Expression], ...] = ()
        """Keyword (`**` for unpacked mappings) and value."""

    def name_range(self) -> tuple[int, int]:
        """Where the callee's last identifier stands."""
        function = self.function
        if type(function) is Attribute:
            return function.end - len(function.name.encode()), function.end
        if type(function) is Name:
            return function.start, function.end
        return self.start, self.end

    def evaluate(self, frame: Frame) -> Value:
        """What the call gives; reports it when it reaches an API."""
        callee = self.function.evaluate(frame)
        complete = True
        positional: list[Value] = []
        for expression in self.positional:
            value = expression.evaluate(frame)
            if type(expression) is not Starred:
                positional.append(value)
            elif type(value) is Sequence and value.items is not None and complete:
                positional.extend(value.items)
            else:
                complete = False
        keywords: dict[str, Value] = {}
        for keyword, expression in self.keywords:
            value = expression.evaluate(frame)
            if keyword != "**":
                keywords[keyword] = value
            elif type(value) is Mapping and value.items:
                for key, item in value.items:
                    if type(key) is Constant and type(key.value) is str:
                        keywords[key.value] = item
            else:
                complete = False
        if callee is UNKNOWN:
            return UNKNOWN
        value = call(frame, callee, Arguments(positional, keywords, complete), self)
        if value is not UNKNOWN:
            frame.values[self] = value
        return value


class Display(Expression):
    """`[a, b]`, `(a, b)`, `{a, b}`."""

    __slots__ = ("items", "kind")

    def __init__(self, kind: str, items: tuple[Expression, ...]) -> None:
        self.kind = kind
        self.items = items

    def evaluate(self, frame: Frame) -> Value:
        """A sequence of the items."""
        values: list[Value] = []
        exact = True
        for item in self.items:
            value = item.evaluate(frame)
            if type(item) is Starred:
                if type(value) is Sequence and value.items is not None:
                    values.extend(value.items)
                    continue
                exact = False
                value = iterate(frame, value)
            values.append(value)
        kind = self.kind
        if exact and len(values) <= MAX_ITEMS:
            return Sequence(kind, tuple(values))  # type: ignore[arg-type]
        element = values[0] if values else UNKNOWN
        for value in values[1:]:
            if value is not element:
                element = join(element, value)
                if element is UNKNOWN:
                    break
        return Sequence(kind, None, element)  # type: ignore[arg-type]


class DictDisplay(Expression):
    """`{a: b, **c}`; a None key stands for `**`."""

    __slots__ = ("items",)

    def __init__(self, items: tuple[tuple[Expression | None, Expression], ...]) -> None:
        self.items = items

    def evaluate(self, frame: Frame) -> Value:
        """A mapping of the items."""
        known: dict[Value, Value] = {}
        element: Value | None = None
        for key, expression in self.items:
            value = expression.evaluate(frame)
            if key is None:
                if type(value) is Mapping:
                    known.update(value.items)
                continue
            name = key.evaluate(frame)
            if type(name) is Constant and name is not STRING and len(known) < MAX_ITEMS:
                known[name] = value
            else:
                element = value if element is None else join(element, value)
        return Mapping(tuple(known.items()), UNKNOWN if element is None else element)


class Subscript(Expression):
    """`value[key]`."""

    __slots__ = ("key", "value")

    def __init__(self, start: int, end: int, value: Expression, key: Expression) -> None:
        self.start = start
        self.end = end
        self.value = value
        self.key = key

    def evaluate(self, frame: Frame) -> Value:
        """The element."""
        owner = self.value.evaluate(frame)
        key = self.key.evaluate(frame)
        if owner is UNKNOWN:
            return UNKNOWN
        value = index(frame, owner, key)
        if value is not UNKNOWN:
            frame.values[self] = value
        return value


class Slice(Expression):
    """`a:b:c` inside a subscript."""

    __slots__ = ("parts",)

    def __init__(self, parts: tuple[Expression, ...]) -> None:
        self.parts = parts

    def evaluate(self, frame: Frame) -> Value:
        """Nothing by itself; its parts may hold calls."""
        for part in self.parts:
            part.evaluate(frame)
        return SLICE


SLICE = Constant("slice:")


class Operator(Expression):
    """Arithmetic and comparisons: a tensor in, a tensor out."""

    __slots__ = ("comparison", "operands", "symbol")

    def __init__(self, start: int, end: int, operands: tuple[Expression, ...], symbol: str) -> None:
        self.start = start
        self.end = end
        self.operands = operands
        self.symbol = symbol

    def evaluate(self, frame: Frame) -> Value:
        """A tensor if any operand is one, a list for joined lists, a number for numbers."""
        result: Value = UNKNOWN
        values = [operand.evaluate(frame) for operand in self.operands]
        for value in values:
            if value is not UNKNOWN and is_tensor(value):
                if self.symbol not in IDENTITY_OPERATORS:
                    result = tensor_of(values)
                    frame.values[self] = result
                return result
        if len(values) == 2:
            result = fold(self.symbol, values[0], values[1])
        elif self.symbol == "not" and type(values[0]) is Constant and values[0] is not STRING:
            result = Constant(not values[0].value)
        elif self.symbol == "-" and type(values[0]) is Constant and type(values[0].value) is int:
            result = Constant(-values[0].value)
        return result


IDENTITY_OPERATORS = frozenset(["is", "is not", "in", "not in", "not"])
TENSOR_CLASSES = frozenset([TENSOR, KERAS_TENSOR, "tensorflow.Variable", "keras.Variable"])


def is_tensor(value: Value) -> bool:
    """True when operators on the value give tensors."""
    if type(value) is ApiInstance:
        return value.cls in TENSOR_CLASSES
    return type(value) is OneOf and any(is_tensor(option) for option in value.options)


def tensor_of(values: list[Value]) -> Value:
    """The kind of tensor that an operation on these gives: symbolic ones stay symbolic."""
    for value in values:
        for option in options_of(value):
            if type(option) is ApiInstance and option.cls == KERAS_TENSOR:
                return ApiInstance(KERAS_TENSOR)
    return TENSOR_VALUE


def fold(symbol: str, left: Value, right: Value) -> Value:
    """Operators on constants (loop lengths) and on lists."""
    if type(left) is Constant and type(right) is Constant and left is not STRING and right is not STRING:
        return fold_constants(symbol, left, right)
    if type(left) is Sequence and symbol == "+" and type(right) is Sequence and left.kind == right.kind:
        if left.items is not None and right.items is not None:
            return Sequence(left.kind, (left.items + right.items)[:MAX_ITEMS])
        return Sequence(left.kind, None, join(iterate_plain(left), iterate_plain(right)))
    if type(left) is Sequence and symbol == "*":
        return Sequence(left.kind, None, iterate_plain(left))
    return UNKNOWN


def iterate_plain(value: Sequence) -> Value:
    """What any element may be."""
    from energy_code.values import element_of

    return element_of(value)


def fold_constants(symbol: str, left: Constant, right: Constant) -> Value:
    """The few operators that loop lengths and flags are made of."""
    a, b = left.value, right.value
    if symbol in ("is", "=="):
        return Constant(a == b)
    if symbol in ("is not", "!="):
        return Constant(a != b)
    if type(a) is not int or type(b) is not int or abs(a) > 10**9 or abs(b) > 10**9:
        return UNKNOWN
    if symbol == "+":
        return Constant(a + b)
    if symbol == "-":
        return Constant(a - b)
    if symbol == "*":
        return Constant(a * b)
    if symbol == "//" and b:
        return Constant(a // b)
    if symbol == "%" and b:
        return Constant(a % b)
    if symbol == "**" and 0 <= b <= 30 and abs(a) <= 1000:
        return Constant(a**b)
    return UNKNOWN


class Choice(Expression):
    """`a or b`, `a and b`, `a if test else b`: either value."""

    __slots__ = ("options", "test")

    def __init__(self, test: Expression | None, options: tuple[Expression, ...]) -> None:
        self.test = test
        self.options = options

    def evaluate(self, frame: Frame) -> Value:
        """The joined options, or the one that a constant test picks."""
        if self.test is not None:
            decided = truth(self.test.evaluate(frame))
            values = [option.evaluate(frame) for option in self.options]
            if decided is not None:
                return values[0] if decided else values[1]
        else:
            values = [option.evaluate(frame) for option in self.options]
        result = values[0]
        for value in values[1:]:
            result = join(result, value)
        return result


def truth(value: Value) -> bool | None:
    """What `if value` decides, None where that is open."""
    if type(value) is Constant and value is not STRING and value is not SLICE:
        return bool(value.value)
    return None


class Comprehension(Expression):
    """`[element for ... in ... if ...]` and its relatives; `key` is set for dictionaries."""

    __slots__ = ("clauses", "element", "key", "kind")

    def __init__(
        self,
        kind: str,
        element: Expression,
        key: Expression | None,
        clauses: tuple[tuple[Expression | None, Expression], ...],
    ) -> None:
        self.kind = kind
        self.element = element
        self.key = key
        self.clauses = clauses
        """(target, iterable) for `for`, (None, condition) for `if`."""

    def evaluate(self, frame: Frame) -> Value:
        """A container of whatever the element may be; its targets are gone afterwards."""
        saved: dict[str, Value | None] = {}
        times, unknown = frame.times, frame.in_unknown_loop
        length: int | None = 1
        for target, source in self.clauses:
            value = source.evaluate(frame)
            if target is None:
                length = None
                continue
            for name in target_names(target):
                saved.setdefault(name, frame.names.get(name))
            count = frame.enter_loop(value)
            length = length * count if length is not None and count is not None else None
            assign(frame, target, iterate(frame, value))
        key = self.key.evaluate(frame) if self.key is not None else UNKNOWN
        element = self.element.evaluate(frame)
        frame.times, frame.in_unknown_loop = times, unknown
        for name, old in saved.items():
            if old is None:
                frame.names.pop(name, None)
            else:
                frame.names[name] = old
        if self.kind == "dict":
            del key
            return Mapping((), element)
        if self.kind == "list" and length is not None and length <= 8 and len(self.clauses) == 1:
            return Sequence("list", (element,) * length)
        return Sequence(self.kind, None, element)  # type: ignore[arg-type]


class Lambda(Expression):
    """`lambda x: ...`."""

    __slots__ = ("code",)

    def __init__(self, start: int, end: int, code: FunctionCode) -> None:
        self.start = start
        self.end = end
        self.code = code

    def evaluate(self, frame: Frame) -> Value:
        """A function that closes over the frame."""
        return define(frame, self.code)


class Walrus(Expression):
    """`name := value`."""

    __slots__ = ("target", "value")

    def __init__(self, target: Expression, value: Expression) -> None:
        self.target = target
        self.value = value

    def evaluate(self, frame: Frame) -> Value:
        """The value, bound on the way."""
        value = self.value.evaluate(frame)
        assign(frame, self.target, value)
        return value


class Starred(Expression):
    """`*value` in a display or a target."""

    __slots__ = ("value",)

    def __init__(self, value: Expression) -> None:
        self.value = value

    def evaluate(self, frame: Frame) -> Value:
        """What is unpacked."""
        return self.value.evaluate(frame)


class Await(Expression):
    """`await value`: what the coroutine returns."""

    __slots__ = ("value",)

    def __init__(self, value: Expression) -> None:
        self.value = value

    def evaluate(self, frame: Frame) -> Value:
        """The value itself: coroutines are not told apart from their results."""
        return self.value.evaluate(frame)


class Yield(Expression):
    """`yield value`, `yield from value`."""

    __slots__ = ("delegates", "value")

    def __init__(self, value: Expression | None, delegates: bool) -> None:
        self.value = value
        self.delegates = delegates

    def evaluate(self, frame: Frame) -> Value:
        """Notes what the generator gives; what is sent in is unknown."""
        value = self.value.evaluate(frame) if self.value is not None else NONE
        frame.yielded.append(iterate(frame, value) if self.delegates else value)
        return UNKNOWN


class Group(Expression):
    """Several expressions of which only the calls inside matter: f-strings, broken code."""

    __slots__ = ("parts", "value")

    def __init__(self, parts: tuple[Expression, ...], value: Value = UNKNOWN) -> None:
        self.parts = parts
        self.value = value

    def evaluate(self, frame: Frame) -> Value:
        """Evaluates each part."""
        for part in self.parts:
            part.evaluate(frame)
        return self.value


def target_names(target: Expression) -> list[str]:
    """The names that an assignment to `target` binds."""
    if type(target) is Name:
        return [target.id]
    if type(target) is Display:
        return [name for item in target.items for name in target_names(item)]
    if type(target) is Starred:
        return target_names(target.value)
    return []


def assign(frame: Frame, target: Expression, value: Value) -> None:
    """Bind a target of any shape to a value."""
    kind = type(target)
    if kind is Name:
        frame.bind(target.id, value)  # type: ignore[attr-defined]
    elif kind is Attribute:
        assign_attribute(frame, target, value)  # type: ignore[arg-type]
    elif kind is Display:
        unpack(frame, target.items, value)  # type: ignore[attr-defined]
    elif kind is Starred:
        assign(frame, target.value, Sequence("list", None, iterate(frame, value)))  # type: ignore[attr-defined]
    elif kind is Subscript:
        assign_item(frame, target, value)  # type: ignore[arg-type]
    else:
        target.evaluate(frame)


def assign_attribute(frame: Frame, target: Attribute, value: Value) -> None:
    """`owner.name = value`: holds for the rest of this flow; on `self` it is also kept for the other methods."""
    target.value.evaluate(frame)
    if type(target.value) is Name:
        frame.slots[target.value.id, target.name] = value
        if target.value.id == frame.self_name:
            old = frame.attributes.get(target.name)
            frame.attributes[target.name] = value if old is None else join(old, value)


def assign_item(frame: Frame, target: Subscript, value: Value) -> None:
    """`owner[key] = value`: the container is widened by the value, wherever it is bound."""
    owner = target.value.evaluate(frame)
    key = target.key.evaluate(frame)
    if type(owner) is Mapping:
        known = dict(owner.items)
        if type(key) is Constant and key is not STRING and len(known) < MAX_ITEMS:
            known[key] = value
            assign(frame, target.value, Mapping(tuple(known.items()), owner.element))
        else:
            element = value if owner.element is UNKNOWN else join(owner.element, value)
            assign(frame, target.value, Mapping(owner.items, element))
    elif type(owner) is Sequence and owner.kind == "list":
        assign(frame, target.value, Sequence("list", None, join(iterate(frame, owner), value)))


def unpack(frame: Frame, targets: tuple[Expression, ...], value: Value) -> None:
    """`a, *b, c = value`."""
    items: list[Value] | None = None
    if type(value) is Sequence and value.items is not None:
        items = list(value.items)
    star = next((i for i, target in enumerate(targets) if type(target) is Starred), None)
    if items is not None and star is None and len(items) == len(targets):
        for target, item in zip(targets, items, strict=True):
            assign(frame, target, item)
    elif items is not None and star is not None and len(items) >= len(targets) - 1:
        tail = len(targets) - star - 1
        middle = items[star : len(items) - tail]
        for target, item in zip(targets[:star], items, strict=False):
            assign(frame, target, item)
        assign(frame, targets[star].value, Sequence("list", tuple(middle)))  # type: ignore[attr-defined]
        for target, item in zip(targets[star + 1 :], items[len(items) - tail :], strict=True):
            assign(frame, target, item)
    else:
        for position, target in enumerate(targets):
            plain = type(target) is not Starred
            assign(
                frame,
                target,
                index(frame, value, Constant(position))
                if plain and star is None
                else iterate(frame, value)
                if plain
                else value,
            )


def define(frame: Frame, code: FunctionCode, owner: Value | None = None) -> Function:
    """The function that a `def` or `lambda` makes here; defaults are evaluated where it stands."""
    outer_values = frame.values
    frame.values = frame.values_of(code)
    defaults = tuple(
        (parameter.name, parameter.default.evaluate(frame))
        for parameter in code.parameters
        if parameter.default is not None
    )
    frame.values = outer_values
    closure = frame if frame.is_function else frame.outer
    function = Function(code, frame.module, closure, owner, defaults)  # type: ignore[arg-type]
    frame.defined.append(function)
    for name in code.globals:
        frame.module.global_setters.setdefault(name, {})[code] = function
    return function
