"""Statements that hold others: `if`, loops, `with`, `try`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from energy_code.interpreter.domain.values import UNKNOWN, ExternalInstance, Value
from energy_code.ir.branches import merge, run_branches, run_dead, run_either, run_maybe
from energy_code.ir.expressions import truth
from energy_code.ir.narrowing import give_back, narrowed, take_over, tells
from energy_code.ir.nodes import Expression, Statement
from energy_code.ir.statements import run
from energy_code.ir.targets import assign
from energy_code.models.context_managers import entered

if TYPE_CHECKING:
    from energy_code.interpreter.frame import Frame


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
