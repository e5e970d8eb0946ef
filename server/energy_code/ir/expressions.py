"""Expressions of the lowered program; each can say what its value may be.

`start` and `end` count from the first byte of the code (function, class, top-level statement) they stand in. Names,
attributes and calls, the most frequent ones, have no constructor: lowering sets what they hold, in half the time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from energy_code.interpreter.domain.arguments import Arguments
from energy_code.interpreter.domain.lattice import join
from energy_code.interpreter.domain.values import (
    NONE,
    SLICE,
    STRING,
    UNKNOWN,
    ApiModule,
    Constant,
    Mapping,
    Sequence,
    Value,
)
from energy_code.interpreter.limits import MAX_ITEMS
from energy_code.interpreter.operations.dispatch import CALLS
from energy_code.ir.code import CallSite
from energy_code.ir.nodes import Expression

if TYPE_CHECKING:
    from energy_code.interpreter.frame import Frame


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

    id: str

    def evaluate(self, frame: Frame) -> Value:
        """The binding that reaches this place."""
        name = self.id
        value = frame.names.get(name) or frame.globals.get(name)
        if value is None:
            value = frame.lookup(name)
        if value is not UNKNOWN:
            frame.values[self] = value
        return value


class Attribute(Expression):
    """`value.name`."""

    __slots__ = ("name", "value")

    value: Expression
    name: str

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
            value = frame.program.public.module_member(owner.name, self.name)
        else:
            value = frame.attribute(owner, self.name)
        if value is not UNKNOWN:
            frame.values[self] = value
        return value


def member(start: int, end: int, value: Expression, name: str) -> Attribute:
    """An attribute, made."""
    result = Attribute()
    result.start, result.end, result.value, result.name = start, end, value, name
    return result


class CallExpression(CallSite):
    """A call that can be evaluated."""

    __slots__ = ("loud", "unpacks")

    loud: tuple[Expression, ...] | None
    """Arguments that have to be evaluated even if nobody takes them; found out when that first happens."""
    unpacks: bool
    """True with an argument such as `*a` or `**a`."""

    def evaluate(self, frame: Frame) -> Value:
        """What the call gives; reports it when it reaches an API."""
        callee = self.function.evaluate(frame)
        if callee is UNKNOWN:
            for expression in self.loud if self.loud is not None else self.find_loud():
                expression.evaluate(frame)
            return UNKNOWN
        if self.unpacks:
            arguments = self.unpacked(frame)
        else:
            positional: list[Value] = []
            for expression in self.positional:
                positional.append(expression.evaluate(frame))
            keywords: dict[str, Value] = {}
            for keyword, expression in self.keywords:
                keywords[keyword] = expression.evaluate(frame)
            arguments = Arguments(positional, keywords, True)
        handler = CALLS.get(type(callee))
        if handler is None:
            return UNKNOWN
        value = handler(frame, callee, arguments, self)
        if value is not UNKNOWN:
            frame.values[self] = value
        return value

    def find_loud(self) -> tuple[Expression, ...]:
        """See which arguments have to be evaluated even if nobody takes them."""
        loud: list[Expression] = []
        for value in self.positional:
            if type(value) not in SILENT and not quiet(value):
                loud.append(value)
        for _, value in self.keywords:
            if type(value) not in SILENT and not quiet(value):
                loud.append(value)
        self.loud = tuple(loud)
        return self.loud

    def unpacked(self, frame: Frame) -> Arguments:
        """The arguments of a call some of which are unpacked; what is not known one by one hides others."""
        complete = True
        unpacked: Value = UNKNOWN
        positional: list[Value] = []
        for expression in self.positional:
            value = expression.evaluate(frame)
            if type(expression) is not Starred:
                positional.append(value)
            elif type(value) is Sequence and value.items is not None and complete:
                positional.extend(value.items)
            else:
                complete = False
                unpacked = value
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
        arguments = Arguments(positional, keywords, complete)
        if not complete:
            arguments.unpacked = unpacked
        return arguments


def name_range(call: CallSite) -> tuple[int, int]:
    """Where the callee's last identifier stands."""
    function = call.function
    if type(function) is Attribute:
        return function.end - len(function.name.encode()), function.end
    if type(function) is Name:
        return function.start, function.end
    return call.start, call.end


def owner_of(call: CallSite) -> Expression | None:
    """What stands before the dot of `a.b()`."""
    return call.function.value if type(call.function) is Attribute else None


def quiet(expression: Expression) -> bool:
    """True when evaluating an expression shows nothing but its value."""
    kind = type(expression)
    if kind in SILENT:
        return True
    if kind is Display:
        return all(map(quiet, expression.items))  # type: ignore[attr-defined]
    return kind is Group and all(map(quiet, expression.parts))  # type: ignore[attr-defined]


SILENT = frozenset([Name, Literal])


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
                value = frame.iterate(value)
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
        value = frame.index(owner, key)
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
            values = self.alternatives(frame)
            if decided is not None:
                return values[0] if decided else values[1]
        else:
            values = self.alternatives(frame)
        result = values[0]
        for value in values[1:]:
            result = join(result, value)
        return result

    def alternatives(self, frame: Frame) -> list[Value]:
        """The value of each option."""
        return [option.evaluate(frame) for option in self.options]


class Both(Choice):
    """`a and b`."""

    __slots__ = ()


def truth(value: Value) -> bool | None:
    """What `if value` decides, None where that is open."""
    if type(value) is Constant and value is not STRING and value is not SLICE:
        return bool(value.value)
    return None


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
        """The value itself: coroutines are not distinguished from their results."""
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
        frame.yielded.append(frame.iterate(value) if self.delegates else value)
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
