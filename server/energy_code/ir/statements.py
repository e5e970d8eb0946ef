"""Statements of the lowered program; executing one updates the variables of a frame.

`execute` says whether the flow goes on behind the statement.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from energy_code.interpreter.domain.annotations import annotated
from energy_code.interpreter.domain.definitions import ClassInfo
from energy_code.interpreter.domain.lattice import element_of, is_empty
from energy_code.interpreter.domain.values import UNKNOWN, Constant, Sequence, Value
from energy_code.interpreter.limits import STATEMENTS_AT_ONCE
from energy_code.interpreter.operations.side_effects import note_attribute
from energy_code.ir.expressions import Attribute, Name
from energy_code.ir.narrowing import narrowed, take_over, tells
from energy_code.ir.nodes import Expression, Statement
from energy_code.ir.operators import Operator
from energy_code.ir.targets import assign, target_names
from energy_code.process import budget

if TYPE_CHECKING:
    from energy_code.interpreter.frame import Frame


def run(frame: Frame, body: tuple[Statement, ...]) -> bool:
    """Run statements in order. What stands behind the end of the flow is read too: it is still in the file."""
    goes_on = True
    for statement in body if len(body) <= STATEMENTS_AT_ONCE else in_time(body):
        if not statement.execute(frame):
            goes_on = False
    return goes_on


def in_time(body: tuple[Statement, ...]) -> Iterator[Statement]:
    """The statements of a long body, as many as there is time for."""
    for start in range(0, len(body), STATEMENTS_AT_ONCE):
        if not budget.is_left():
            return
        yield from body[start : start + STATEMENTS_AT_ONCE]


class Block(Statement):
    """Statements one after the other."""

    __slots__ = ("body",)

    def __init__(self, body: tuple[Statement, ...]) -> None:
        self.body = body

    def execute(self, frame: Frame) -> bool:
        """Run them."""
        return run(frame, self.body)


class Evaluate(Statement):
    """An expression statement, `raise`."""

    __slots__ = ("ends", "values")

    def __init__(self, values: tuple[Expression, ...], ends: bool = False) -> None:
        self.values = values
        self.ends = ends

    def execute(self, frame: Frame) -> bool:
        """Evaluate for the calls inside."""
        for value in self.values:
            value.evaluate(frame)
        return not self.ends


class Assert(Evaluate):
    """`assert test, message`."""

    __slots__ = ()

    def execute(self, frame: Frame) -> bool:
        """What follows knows what the test says."""
        super().execute(frame)
        if self.values and tells(self.values[0]):
            take_over(frame, narrowed(frame, self.values[0], True))
        return True


class Jump(Statement):
    """`break`, `continue`: the flow goes on elsewhere."""

    __slots__ = ()

    def execute(self, frame: Frame) -> bool:
        """Ends the branch, but what it bound is seen behind the loop."""
        return True


class Assign(Statement):
    """`a = b = value`, with an annotation maybe; `value` is None for a bare annotation."""

    __slots__ = ("annotation", "targets", "value")

    def __init__(
        self, targets: tuple[Expression, ...], value: Expression | None, annotation: Expression | None
    ) -> None:
        self.targets = targets
        self.value = value
        self.annotation = annotation

    def execute(self, frame: Frame) -> bool:
        """Bind the targets to the value, or to what the annotation promises."""
        value: Value = self.value.evaluate(frame) if self.value is not None else UNKNOWN
        if self.annotation is not None:
            declared = annotated(frame, self.annotation)
            if value is UNKNOWN or (declared is not UNKNOWN and is_empty(value)):
                value = expected(value, declared)
                if self.value is None and frame.owner is None and value is UNKNOWN:
                    return True
        for target in self.targets:
            if type(self.value) is Operator and frame.code.name != "__init__" and counts(target, value):
                value = UNKNOWN
            assign(frame, target, value)
            if (
                type(target) is Attribute
                and type(target.value) is Name
                and target.value.id != frame.self_name
            ):
                note_attribute(frame, target.value.evaluate(frame), target.name, value)
        if self.annotation is not None and not frame.is_function and frame.owner is not None:
            add_fields(frame.module.classes[frame.owner.name], self.targets)
        return True


def add_fields(info: ClassInfo, targets: tuple[Expression, ...]) -> None:
    """Annotated names in a class body."""
    names = info.fields
    names.extend(name for target in targets for name in target_names(target) if name not in names)


def expected(value: Value, declared: Value) -> Value:
    """What an annotation says of an empty container: a list is known to be empty, and what it will hold is declared."""
    if type(value) is Sequence and type(declared) is Sequence:
        return Sequence(value.kind, (), element_of(declared))
    return declared


class AssignName(Statement):
    """`a = value`, as most assignments are."""

    __slots__ = ("target", "value")

    def __init__(self, target: Name, value: Expression) -> None:
        self.target = target
        self.value = value

    def execute(self, frame: Frame) -> bool:
        """Bind the name to the value."""
        frame.bind(self.target.id, self.value.evaluate(frame))
        return True


class Augment(Statement):
    """`a += value`."""

    __slots__ = ("operation", "target")

    def __init__(self, target: Expression, operation: Operator) -> None:
        self.target = target
        self.operation = operation

    def execute(self, frame: Frame) -> bool:
        """Bind the target to the result of the operator."""
        value = self.operation.evaluate(frame)
        assign(frame, self.target, UNKNOWN if counts(self.target, value) else value)
        return True


def counts(target: Expression, value: Value) -> bool:
    """True for an attribute that is set to a computed number: how far it has come by now is not known."""
    return type(target) is Attribute and type(value) is Constant


class Delete(Statement):
    """`del a`."""

    __slots__ = ("targets",)

    def __init__(self, targets: tuple[Expression, ...]) -> None:
        self.targets = targets

    def execute(self, frame: Frame) -> bool:
        """The names are unbound."""
        for target in self.targets:
            if type(target) is Name:
                frame.bind(target.id, UNKNOWN)
            else:
                target.evaluate(frame)
        return True


class Return(Statement):
    """`return value`."""

    __slots__ = ("value",)

    def __init__(self, value: Expression | None) -> None:
        self.value = value

    def execute(self, frame: Frame) -> bool:
        """Note what the function gives."""
        if self.value is not None:
            frame.returned.append(self.value.evaluate(frame))
        return False
