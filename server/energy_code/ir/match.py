"""`match`: patterns say what the subject is where they fit, and bind names to it and to its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from energy_code.interpreter.domain.definitions import UserInstance
from energy_code.interpreter.domain.lattice import join_all
from energy_code.interpreter.domain.values import (
    UNKNOWN,
    Constant,
    Mapping,
    Sequence,
    Value,
)
from energy_code.ir.branches import run_branches, run_dead
from energy_code.ir.expressions import Name, truth
from energy_code.ir.narrowing import give_back, take_over, where_true
from energy_code.ir.nodes import Expression, Statement
from energy_code.ir.statements import run

if TYPE_CHECKING:
    from collections.abc import Callable

    from energy_code.interpreter.frame import Frame


class MatchPattern(Expression):
    """Base of all: `_`, or what the reader does not follow."""

    __slots__ = ()

    def take(self, frame: Frame, value: Value) -> Value:
        """What a value is that the pattern fits; binds the names of the pattern."""
        return value

    def decides(self, frame: Frame, value: Value) -> bool | None:
        """Whether the pattern fits, None where that is open."""
        return None


class Anything(MatchPattern):
    """`_`, `name` or `pattern as name`."""

    __slots__ = ("name", "pattern")

    def __init__(self, name: str | None, pattern: MatchPattern | None = None) -> None:
        self.name = name
        self.pattern = pattern

    def take(self, frame: Frame, value: Value) -> Value:
        """Bind the name."""
        if self.pattern is not None:
            value = self.pattern.take(frame, value)
        if self.name is not None:
            frame.bind(self.name, value)
        return value

    def decides(self, frame: Frame, value: Value) -> bool | None:
        """It always fits, unless it has a pattern."""
        return True if self.pattern is None else self.pattern.decides(frame, value)


class Equal(MatchPattern):
    """A literal, or a dotted name."""

    __slots__ = ("value",)

    def __init__(self, value: Expression) -> None:
        self.value = value

    def decides(self, frame: Frame, value: Value) -> bool | None:
        """Constants can be compared."""
        mine = self.value.evaluate(frame)
        if truth(mine) is None or truth(value) is None:
            return None
        return mine == value


class Either(MatchPattern):
    """`a | b`."""

    __slots__ = ("options",)

    def __init__(self, options: tuple[MatchPattern, ...]) -> None:
        self.options = options

    def take(self, frame: Frame, value: Value) -> Value:
        """What any of them says."""
        return join_all(tuple(option.take(frame, value) for option in self.options))

    def decides(self, frame: Frame, value: Value) -> bool | None:
        """It fits when one of them does."""
        found = {option.decides(frame, value) for option in self.options}
        return True if True in found else None if None in found else False


class OfClass(MatchPattern):
    """`Dense(units=n)`."""

    __slots__ = ("cls", "keywords", "positional")

    def __init__(
        self,
        cls: Expression,
        positional: tuple[MatchPattern, ...],
        keywords: tuple[tuple[str, MatchPattern], ...],
    ) -> None:
        self.cls = cls
        self.positional = positional
        self.keywords = keywords

    def take(self, frame: Frame, value: Value) -> Value:
        """An instance of the class; its attributes go to the patterns inside."""
        found = where_true(frame, value, [self.cls.evaluate(frame)])
        names = frame.fields(found.cls) if type(found) is UserInstance else []
        for place, pattern in enumerate(self.positional):
            pattern.take(frame, frame.attribute(found, names[place]) if place < len(names) else UNKNOWN)
        for name, pattern in self.keywords:
            pattern.take(frame, frame.attribute(found, name))
        return found


class SequencePattern(MatchPattern):
    """`[first, *rest]`, `(a, b)`."""

    __slots__ = ("items", "star")

    def __init__(self, items: tuple[MatchPattern, ...], star: int | None) -> None:
        self.items = items
        self.star = star
        """Which of them takes all that the others leave."""

    def take(self, frame: Frame, value: Value) -> Value:
        """Hand the items on to the patterns inside."""
        star = len(self.items) if self.star is None else self.star
        for place, pattern in enumerate(self.items):
            if place == star:
                pattern.take(frame, Sequence("list", None, frame.iterate(value)))
            else:
                key = place if place < star else place - len(self.items)
                pattern.take(frame, frame.index(value, Constant(key)))
        return value


class Entries(MatchPattern):
    """`{"key": pattern, **rest}`."""

    __slots__ = ("entries", "rest")

    def __init__(self, entries: tuple[tuple[Expression, MatchPattern], ...], rest: str | None) -> None:
        self.entries = entries
        self.rest = rest

    def take(self, frame: Frame, value: Value) -> Value:
        """Hand the values on to the patterns inside."""
        for key, pattern in self.entries:
            pattern.take(frame, frame.index(value, key.evaluate(frame)))
        if self.rest is not None:
            frame.bind(self.rest, value if type(value) is Mapping else UNKNOWN)
        return value


class MatchCase(Statement):
    """`case pattern if guard: ...`."""

    __slots__ = ("body", "guards", "pattern")

    def __init__(
        self, pattern: MatchPattern, guards: tuple[Expression, ...], body: tuple[Statement, ...]
    ) -> None:
        self.pattern = pattern
        self.guards = guards
        self.body = body

    def enter(self, frame: Frame, subject: Expression, value: Value) -> bool:
        """Run the body, where the subject is what the pattern says."""
        found = self.pattern.take(frame, value)
        known = {subject.id: found} if type(subject) is Name and found != value else {}
        before = take_over(frame, known)
        for guard in self.guards:
            guard.evaluate(frame)
        goes_on = run(frame, self.body)
        give_back(frame, known, before)
        return goes_on


class MatchStatement(Statement):
    """`match subject: case ...`."""

    __slots__ = ("cases", "subject")

    def __init__(self, subject: Expression, cases: tuple[MatchCase, ...]) -> None:
        self.subject = subject
        self.cases = cases

    def execute(self, frame: Frame) -> bool:
        """Each case that may fit, up to one that does for sure; the others are only read."""
        value = self.subject.evaluate(frame)
        branches: list[Callable[[], bool]] = []
        surely = False
        for case in self.cases:
            fits = False if surely else case.pattern.decides(frame, value)
            if fits is False:
                run_dead(frame, lambda case=case: case.enter(frame, self.subject, value))  # type: ignore[misc]
                continue
            branches.append(lambda case=case: case.enter(frame, self.subject, value))  # type: ignore[misc]
            surely = fits is True and not case.guards
        return run_branches(frame, branches if surely else [*branches, lambda: True])
