"""What shapes a program's source tells: goes through it in the order in which it runs, and notes what calls are given.

Nothing is run. Functions and classes of the program, also those of its other files, are entered where they are called.
`ProgramWalk` puts the parts together; each part says what it answers and what it keeps.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from energy_code.static_shapes.context import Context, OutOfBudgetError
from energy_code.static_shapes.limits import STEPS
from energy_code.static_shapes.models.trace import ModelTrace
from energy_code.static_shapes.values.kinds import UNKNOWN, Class, Function, Scope
from energy_code.static_shapes.walking.assignment import Assignment
from energy_code.static_shapes.walking.calls import CallWalk
from energy_code.static_shapes.walking.classes import ClassWalk
from energy_code.static_shapes.walking.definitions import Definitions
from energy_code.static_shapes.walking.expressions import Expressions
from energy_code.static_shapes.walking.functions import FunctionWalk
from energy_code.static_shapes.walking.indexing import Indexing
from energy_code.static_shapes.walking.loops import Loops
from energy_code.static_shapes.walking.members import Members
from energy_code.static_shapes.walking.modules import Find, ModuleWalk
from energy_code.static_shapes.walking.notes import Found, Notes
from energy_code.static_shapes.walking.operators import Operators
from energy_code.static_shapes.walking.statements import Statements


def shapes_in(
    source: str,
    file: str = "",
    find: Find | None = None,
    recorded: Mapping[tuple[int, int], tuple[str, ...]] | None = None,
) -> Found:
    """The calls of a file whose shapes the source tells, by place; empty where it is no Python."""
    return shapes_of_program(source, file, find, recorded).get(file, {})


def shapes_of_program(
    source: str,
    file: str = "",
    find: Find | None = None,
    recorded: Mapping[tuple[int, int], tuple[str, ...]] | None = None,
) -> dict[str, Found]:
    """The same for every file of the project that the program leads to.

    `recorded`: the shapes that a run saw at calls of the file, by line and column: they come before all others.
    """
    program = ProgramWalk(find)
    program.calls.recorded = {(file, *place): texts for place, texts in (recorded or {}).items()}
    with suppress(OutOfBudgetError, RecursionError):  # what was found until then holds
        program.main(source, file)
    return program.notes.found()


class ProgramWalk:
    """One walk through a program: its parts, and the doors through which they reach each other."""

    def __init__(self, find: Find | None) -> None:
        self.context, self.notes, self.trace = Context(STEPS), Notes(), ModelTrace()
        self.functions = FunctionWalk(self)
        self.classes = ClassWalk(self, self.functions)
        self.operators, self.indexing = Operators(self, self.trace), Indexing(self)
        self.expressions = Expressions(self, self.functions, self.operators, self.indexing)
        self.assignment = Assignment(self, self.classes, self.indexing)
        self.modules = ModuleWalk(self, find, self.functions, self.notes)
        self.members = Members(self.classes, self.modules)
        self.calls = CallWalk(self, self.trace, self.functions, self.classes, self.members, self.notes)
        loops, definitions = Loops(self, self.functions), Definitions(self, self.expressions)
        self.statements = Statements(
            self, self.functions, definitions, self.modules, loops, self.calls.gradients
        )
        # The doors: bound here once, so that a part that stands below reaches one above it without knowing it.
        self.value, self.run, self.assign = (
            self.expressions.value,
            self.statements.run,
            self.assignment.assign,
        )
        self.attribute, self.item, self.combined = (
            self.members.attribute,
            self.indexing.item,
            self.operators.combined,
        )
        self.call, self.invoke, self.symbolic = self.calls.call, self.calls.invoke, self.calls.symbolic
        self.enter, self.start = self.functions.enter, self.calls.libraries.start

    def main(self, source: str, file: str) -> None:
        """The program itself."""
        scope = self.modules.load(source, file, "__main__", False)
        if scope is not None:
            self._entered_nowhere(scope)

    def _entered_nowhere(self, scope: Scope) -> None:
        """Functions that nothing called: their parameters are unknown, what they make themselves is not."""
        self.context.uncertain += 1
        # Who calls others most often stands below them, and gives them more than is known without.
        for value in reversed(list(scope.names.values())):
            if (
                isinstance(value, Function)
                and value.scope is scope
                and id(value.code) not in self.functions.entered
            ):
                self._guarded(value, [])
            elif isinstance(value, Class) and value.scope is scope:
                for member in list(value.members.values()):
                    if isinstance(member, Function) and id(member.code) not in self.functions.entered:
                        self._guarded(member, [UNKNOWN])
        self.context.uncertain -= 1

    def _guarded(self, function: Function, given: list[Any]) -> None:
        steps = self.context.steps
        self.context.steps = min(steps, STEPS // 10)
        spent = self.context.steps
        try:
            self.functions.enter(function, given, {}, unknown=True)
        except OutOfBudgetError:
            self.functions.depth = 0
        self.context.steps = steps - max(0, spent - max(self.context.steps, 0))
        if self.context.steps <= 0:
            raise OutOfBudgetError
