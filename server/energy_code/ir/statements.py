"""Statements of the lowered program; executing one updates the variables of a frame.

`execute` says whether the flow goes on behind the statement.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from energy_code.interpreter.annotations import annotated
from energy_code.interpreter.lattice import element_of, is_empty, join
from energy_code.interpreter.modules import ClassInfo
from energy_code.interpreter.side_effects import note_attribute
from energy_code.interpreter.values import (
    UNKNOWN,
    ApiModule,
    Constant,
    External,
    ExternalInstance,
    ProjectModule,
    Sequence,
    Value,
)
from energy_code.ir.expressions import Attribute, Expression, Name, truth
from energy_code.ir.narrowing import give_back, narrowed, take_over, tells
from energy_code.ir.operators import Operator
from energy_code.ir.targets import assign, target_names
from energy_code.models.context_managers import entered

if TYPE_CHECKING:
    from energy_code.interpreter.frame import Frame

Names = dict[str, Value]
Slots = dict[tuple[str, str], Value]


class Statement:
    """Base of all; a statement without effect on what is known."""

    __slots__ = ()

    def execute(self, frame: Frame) -> bool:
        """Run it; True when the flow goes on."""
        return True


def run(frame: Frame, body: tuple[Statement, ...]) -> bool:
    """Run statements in order. What stands behind the end of the flow is read too: it is still in the file."""
    goes_on = True
    for statement in body:
        if not statement.execute(frame):
            goes_on = False
    return goes_on


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
            promised = annotated(frame, self.annotation)
            if value is UNKNOWN or (promised is not UNKNOWN and is_empty(value)):
                value = expected(value, promised)
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


def expected(value: Value, promised: Value) -> Value:
    """What an annotation says of an empty container: a list is known to be empty, and what it will hold is promised."""
    if type(value) is Sequence and type(promised) is Sequence:
        return Sequence(value.kind, (), element_of(promised))
    return promised


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


def run_branches(frame: Frame, branches: list[Callable[[], bool]]) -> bool:
    """Run alternatives from the same state and join what they leave."""
    names, slots = frame.names, frame.slots
    ends: list[tuple[Names, Slots]] = []
    for branch in branches:
        frame.names, frame.slots = names.copy(), slots.copy()
        if branch():
            ends.append((frame.names, frame.slots))
    if not ends:
        frame.names, frame.slots = names, slots
        return False
    frame.names, frame.slots = ends[0]
    for other_names, other_slots in ends[1:]:
        merge(frame, names, other_names)
        merge_slots(frame, other_slots)
    return True


def run_either(frame: Frame, first: tuple[Statement, ...], second: tuple[Statement, ...]) -> bool:
    """Run one or the other: two branches, as most alternatives are."""
    names, slots = frame.names, frame.slots
    frame.names, frame.slots = names.copy(), slots.copy()
    goes_on = run(frame, first)
    end_names, end_slots = frame.names, frame.slots
    frame.names, frame.slots = names.copy(), slots.copy()
    if not run(frame, second):
        frame.names, frame.slots = (end_names, end_slots) if goes_on else (names, slots)
        return goes_on
    if goes_on:
        other_names, other_slots = frame.names, frame.slots
        frame.names, frame.slots = end_names, end_slots
        merge(frame, names, other_names)
        merge_slots(frame, other_slots)
    return True


def run_dead(frame: Frame, branch: Callable[[], bool]) -> None:
    """Run what the flow never comes to, for the calls in it."""
    state = frame.names, frame.slots, dict(frame.attributes), list(frame.returned)
    frame.names, frame.slots = dict(frame.names), dict(frame.slots)
    branch()
    frame.names, frame.slots, frame.attributes, frame.returned = state


def run_maybe(frame: Frame, body: tuple[Statement, ...]) -> None:
    """Run statements that the flow may also pass by."""
    names, slots = frame.names, frame.slots
    frame.names, frame.slots = names.copy(), slots.copy()
    if run(frame, body):
        if frame.names != names:
            merge(frame, names, names)
        merge_slots(frame, slots)
    else:
        frame.names, frame.slots = names, slots


def merge(frame: Frame, before: Names, other: Names) -> None:
    """Join the variables of another branch into the frame; `before` is the state both started from."""
    names = frame.names
    for name, value in other.items():
        mine = names.get(name)
        if mine is None:
            mine = before_branch(frame, before, name)
            names[name] = value if mine is None else join(mine, value)
        elif mine is not value:
            names[name] = join(mine, value)
    if len(names) != len(other):  # it has all of the other's by now
        for name in names.keys() - other.keys():
            old = before_branch(frame, before, name)
            if old is not None:
                names[name] = join(names[name], old)


def before_branch(frame: Frame, before: Names, name: str) -> Value | None:
    """What a name was before the branches, also when an earlier top-level statement bound it."""
    old = before.get(name)
    if old is None and frame.local_names is None and frame.owner is None:
        old = frame.ask(frame.program.modules.bound_so_far, frame.module, name)
    return old


def merge_slots(frame: Frame, other: Slots) -> None:
    """Attributes that only one branch assigned are no longer certain: their owner is asked again."""
    mine = frame.slots
    for key in list(mine):
        if key not in other:
            del mine[key]
        elif mine[key] is not other[key]:
            mine[key] = join(mine[key], other[key])


class If(Statement):
    """`if test: ... else: ...`; an `elif` is an If inside the else."""

    __slots__ = ("body", "orelse", "telling", "test")

    def __init__(self, test: Expression, body: tuple[Statement, ...], orelse: tuple[Statement, ...]) -> None:
        self.test = test
        self.body = body
        self.orelse = orelse
        self.telling = tells(test)

    def execute(self, frame: Frame) -> bool:
        """Both branches are read; where the test is constant only one of them counts."""
        decided = truth(self.test.evaluate(frame))
        if decided is None:
            if self.telling:
                return self.execute_narrowed(frame)
            if not self.orelse:
                run_maybe(frame, self.body)
                return True
            return run_either(frame, self.body, self.orelse)
        live, dead = (self.body, self.orelse) if decided else (self.orelse, self.body)
        if dead:
            run_dead(frame, lambda: run(frame, dead))
        return run(frame, live)

    def execute_narrowed(self, frame: Frame) -> bool:
        """Each branch knows what the test says; what follows knows it when the other branch has left."""
        found = [narrowed(frame, self.test, holds) for holds in (True, False)]
        goes_on = [True, True]

        def branch(place: int, body: tuple[Statement, ...]) -> bool:
            before = take_over(frame, found[place])
            goes_on[place] = run(frame, body)
            if goes_on[0]:
                give_back(frame, found[place], before)
            return goes_on[place]

        return run_branches(frame, [lambda: branch(0, self.body), lambda: branch(1, self.orelse)])


class Loop(Statement):
    """`for` and `while`; `target` is None for `while`, whose test is `source`."""

    __slots__ = ("body", "orelse", "source", "target")

    def __init__(
        self,
        target: Expression | None,
        source: Expression,
        body: tuple[Statement, ...],
        orelse: tuple[Statement, ...],
    ) -> None:
        self.target = target
        self.source = source
        self.body = body
        self.orelse = orelse

    def execute(self, frame: Frame) -> bool:
        """The body once, and once more when it changed what it started from."""
        times, unknown = frame.times, frame.in_unknown_loop
        value = self.source.evaluate(frame)
        element: Value = UNKNOWN
        if self.target is not None:
            frame.enter_loop(value)
            element = frame.iterate(value)
        else:
            frame.in_unknown_loop = True
        before = dict(frame.names)
        self.once(frame, element)
        if any(
            old is not frame.names.get(name) and old != frame.names.get(name) for name, old in before.items()
        ):
            merge(frame, before, before)
            self.once(frame, element)
        frame.times, frame.in_unknown_loop = times, unknown
        run(frame, self.orelse)
        return True

    def once(self, frame: Frame, element: Value) -> None:
        """One pass; the loop may also not run at all."""

        def body() -> bool:
            if self.target is not None:
                assign(frame, self.target, element)
            run(frame, self.body)
            return True

        run_branches(frame, [body, lambda: True])


class With(Statement):
    """`with value as target: ...`."""

    __slots__ = ("body", "items")

    def __init__(
        self, items: tuple[tuple[Expression, Expression | None], ...], body: tuple[Statement, ...]
    ) -> None:
        self.items = items
        self.body = body

    def execute(self, frame: Frame) -> bool:
        """Bind what is entered, run the body."""
        for value, target in self.items:
            context = value.evaluate(frame)
            if target is not None:
                assign(frame, target, entered(frame, context))
            elif type(context) is ExternalInstance:
                entered(frame, context)
        return run(frame, self.body)


class Try(Statement):
    """`try: ... except: ... else: ... finally: ...`."""

    __slots__ = ("body", "final", "handlers", "orelse")

    def __init__(
        self,
        body: tuple[Statement, ...],
        handlers: tuple[tuple[Expression | None, Expression | None, tuple[Statement, ...]], ...],
        orelse: tuple[Statement, ...],
        final: tuple[Statement, ...],
    ) -> None:
        self.body = body
        self.handlers = handlers
        self.orelse = orelse
        self.final = final

    def execute(self, frame: Frame) -> bool:
        """The body, or any handler after part of the body: the body comes first."""

        def main() -> bool:
            return run(frame, self.body) and run(frame, self.orelse)

        def handler(test: Expression | None, target: Expression | None, body: tuple[Statement, ...]) -> bool:
            if test is not None:
                test.evaluate(frame)
            if target is not None:
                assign(frame, target, UNKNOWN)
            return run(frame, body)

        branches: list[Callable[[], bool]] = [main]
        for parts in self.handlers:
            branches.append(lambda parts=parts: handler(*parts))  # type: ignore[misc]
        goes_on = run_branches(frame, branches)
        return run(frame, self.final) and goes_on


class Import(Statement):
    """`import a.b as c`: (dotted name, alias or None) each."""

    __slots__ = ("names",)

    def __init__(self, names: tuple[tuple[str, str | None], ...]) -> None:
        self.names = names

    def execute(self, frame: Frame) -> bool:
        """Bind the alias to the module, or the first part of the dotted name to its package."""
        for dotted, alias in self.names:
            if alias is not None:
                frame.bind(alias, frame.ask(frame.program.imports.import_module, frame.module, dotted))
            else:
                root = dotted.partition(".")[0]
                frame.bind(root, frame.ask(frame.program.imports.import_module, frame.module, root))
        return True


class ImportFrom(Statement):
    """`from module import a as b`; no names stands for `*`."""

    __slots__ = ("level", "module", "names")

    def __init__(self, module: str, level: int, names: tuple[tuple[str, str], ...]) -> None:
        self.module = module
        self.level = level
        self.names = names

    def execute(self, frame: Frame) -> bool:
        """Bind the names."""
        source = frame.ask(frame.program.imports.import_relative, frame.module, self.module, self.level)
        if not self.names:
            import_star(frame, source)
        for name, alias in self.names:
            frame.bind(alias, import_name(frame, source, name))
        return True


def import_name(frame: Frame, source: Value, name: str) -> Value:
    """What `from source import name` binds."""
    if type(source) is ApiModule:
        return frame.program.public.module_member(source.name, name)
    if type(source) is ProjectModule:
        return frame.ask(frame.program.modules.export, source.module, name)
    return External(f"{source.name}.{name}") if type(source) is External else UNKNOWN


def import_star(frame: Frame, source: Value) -> None:
    """`from source import *`: asked name by name when one is looked up."""
    if source is not UNKNOWN and type(source) is not External:
        frame.module.stars.append(source)
        frame.module.final_globals.clear()
        frame.attributes[f"*{len(frame.attributes)}"] = source
