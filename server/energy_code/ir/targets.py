"""Targets of assignments, and the expressions that bind names: comprehensions, walrus, lambda."""

from __future__ import annotations

from typing import TYPE_CHECKING

from energy_code.interpreter.domain.definitions import Function, UserClass, UserInstance
from energy_code.interpreter.domain.lattice import element_of, join, join_all, named
from energy_code.interpreter.domain.values import (
    STRING,
    UNKNOWN,
    ApiClass,
    ApiFunction,
    ApiInstance,
    Constant,
    Mapping,
    Partial,
    Sequence,
    Value,
)
from energy_code.interpreter.limits import MAX_ITEMS, MAX_REPEATS, MAX_VARIANTS
from energy_code.interpreter.operations.side_effects import note_added
from energy_code.ir.expressions import (
    NOTHING,
    Attribute,
    Display,
    Name,
    Starred,
    Subscript,
)
from energy_code.ir.narrowing import narrowed, take_over, tells
from energy_code.ir.nodes import Expression
from energy_code.models.dict_subclasses import fill

if TYPE_CHECKING:
    from energy_code.interpreter.frame import Frame
    from energy_code.ir.code import FunctionCode


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
        target, source = self.clauses[0] if self.clauses else (None, NOTHING)
        first = source.evaluate(frame) if target is not None else UNKNOWN
        if target is None or len(self.clauses) > 1 or not tells_apart(first):
            return self.in_general(frame, first)
        items = first.items  # type: ignore[attr-defined]
        times, frame.times = frame.times, frame.times * len(items)
        found = [self.in_general(frame, Sequence("tuple", (item,))) for item in items]
        frame.times = times
        if self.kind == "dict":
            entries = [entry for each in found if type(each) is Mapping for entry in each.items]
            elements = [each.element for each in found if type(each) is Mapping and not each.items]
            return Mapping(tuple(dict(entries).items()), join_all(tuple(elements)))
        return Sequence(self.kind, tuple(element_of(each) for each in found if type(each) is Sequence))  # type: ignore[arg-type]

    def in_general(self, frame: Frame, first: Value) -> Value:
        """One pass with all that the targets may be; `first` is what the first clause goes through."""
        saved: dict[str, Value | None] = {}
        times, unknown = frame.times, frame.in_unknown_loop
        length: int | None = 1
        for number, (target, source) in enumerate(self.clauses):
            value = first if number == 0 and target is not None else source.evaluate(frame)
            if target is None:
                length = None
                if tells(source):
                    found = narrowed(frame, source, True)
                    saved = take_over(frame, found) | saved
                continue
            for name in target_names(target):
                saved.setdefault(name, frame.names.get(name))
            count = frame.enter_loop(value)
            length = length * count if length is not None and count is not None else None
            assign(frame, target, frame.iterate(value))
        key = self.key.evaluate(frame) if self.key is not None else UNKNOWN
        element = self.element.evaluate(frame)
        frame.times, frame.in_unknown_loop = times, unknown
        for name, old in saved.items():
            if old is None:
                frame.names.pop(name, None)
            else:
                frame.names[name] = old
        if self.kind == "dict":
            known = length == 1 and type(key) is Constant and key is not STRING
            return Mapping(((key, element),)) if known else Mapping((), element)
        if self.kind == "list" and length is not None and length <= MAX_REPEATS and len(self.clauses) == 1:
            return Sequence("list", (element,) * length)
        return Sequence(self.kind, None, element)  # type: ignore[arg-type]


def tells_apart(source: Value) -> bool:
    """True for a few names, functions, classes or tuples: what is made of each of them is worth knowing."""
    if type(source) is not Sequence or source.items is None or not 1 < len(source.items) <= MAX_VARIANTS:
        return False
    return all(
        type(item) in WORTH_KNOWING or (type(item) is Constant and named(item)) for item in source.items
    )


WORTH_KNOWING = frozenset([ApiClass, ApiFunction, Function, Partial, UserClass])


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
        assign(frame, target.value, Sequence("list", None, frame.iterate(value)))  # type: ignore[attr-defined]
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
        exact = type(key) is Constant and key is not STRING and len(known) < MAX_ITEMS
        if value is not UNKNOWN:
            note_added(frame, target.value, Mapping(((key, value),)) if exact else Mapping((), value))
        if exact:
            known[key] = value
            assign(frame, target.value, Mapping(tuple(known.items()), owner.element))
        else:
            element = value if owner.element is UNKNOWN else join(owner.element, value)
            assign(frame, target.value, Mapping(owner.items, element))
    elif type(owner) is UserInstance:
        fill(frame, owner, Mapping(((key, value),)) if type(key) is Constant else Mapping((), value))
    elif type(owner) is Sequence and owner.kind == "list":
        if value is not UNKNOWN:
            note_added(frame, target.value, Sequence("list", None, value))
        assign(frame, target.value, Sequence("list", None, join(frame.iterate(owner), value)))


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
                item_at(frame, value, position)
                if plain and star is None
                else frame.iterate(value)
                if plain
                else value,
            )


ITERABLES = frozenset([ApiInstance, UserInstance])


def item_at(frame: Frame, value: Value, position: int) -> Value:
    """One of the items that unpacking gives: by its place, else any, as of a dataset that is only iterated."""
    found = frame.index(value, Constant(position))
    return frame.iterate(value) if found is UNKNOWN and type(value) in ITERABLES else found


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
    frame.module.note_setter(function)
    return function
