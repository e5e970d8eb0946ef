"""Calls: of the program's own functions and classes, of libraries, and with tensors of a functional model."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

from energy_code.static_shapes.doors import Walk
from energy_code.static_shapes.library_calls.dispatch import OPTIMIZERS, Libraries
from energy_code.static_shapes.models.gradients import UPDATES, Gradients
from energy_code.static_shapes.models.trace import ModelTrace
from energy_code.static_shapes.values.kinds import (
    UNKNOWN,
    Array,
    Asked,
    Bound,
    Class,
    Dataset,
    Function,
    Instance,
    Items,
    Layer,
    Made,
    Method,
    Model,
    Name,
    Node,
    Scope,
    Super,
    Table,
)
from energy_code.static_shapes.values.structures import (
    arrays_of,
    is_symbolic,
    items_of,
    mapped,
)
from energy_code.static_shapes.walking.arguments import arguments, as_recorded, signature
from energy_code.static_shapes.walking.classes import ClassWalk
from energy_code.static_shapes.walking.compiled import CompiledSteps
from energy_code.static_shapes.walking.functions import FunctionWalk
from energy_code.static_shapes.walking.members import Members
from energy_code.static_shapes.walking.modules import full_name
from energy_code.static_shapes.walking.notes import Notes
from energy_data.catalogue.naming import canonical
from energy_data.prediction.specs import First

STARTERS = ("app.run", "fire.Fire", "typer.run")
"""What calls the program's main function for it."""


class CallWalk:
    """Answers what a call gives, and notes what it was given. Its state: the shapes that a run saw, by file and place."""

    def __init__(
        self,
        walk: Walk,
        trace: ModelTrace,
        functions: FunctionWalk,
        classes: ClassWalk,
        members: Members,
        notes: Notes,
    ) -> None:
        self.walk, self.context, self.trace = walk, walk.context, trace
        self.functions, self.classes, self.members, self.notes = functions, classes, members, notes
        self.gradients = Gradients(walk)
        self.libraries = Libraries(walk, trace, self.gradients)
        self.steps = CompiledSteps(trace, functions)
        self.recorded: dict[tuple[str, int, int], tuple[str, ...]] = {}
        self.called: set[str] = set()
        """APIs that were called before."""
        self.started = False
        """Whether TensorFlow did something before."""

    def call(self, node: ast.Call, scope: Scope) -> Any:
        """A call as it stands in the source."""
        if isinstance(node.func, ast.Name) and node.func.id == "super" and "super" not in scope.names:
            return self._super(node, scope)
        function = self.walk.value(node.func, scope)
        given, named, complete = self.unpacked(node, scope)
        self.context.at = (scope.file, node.lineno)
        if not complete:
            return UNKNOWN
        shapes = self.recorded.get((scope.file, node.lineno, node.col_offset))
        if shapes:
            given, named = as_recorded(shapes, given, named)
        if isinstance(function, Name) and ".DEFINE_" in f".{function.dotted}" and given:
            self.members.flags[str(given[0])] = given[1] if len(given) > 1 else named.get("default")
            return Made("flag")
        noted = len(self.notes.journal)
        value, asked = self.answer(function, given, named)
        if not self.trace.active:
            asked = self._trained(function, node, scope) or asked
            self.gradients.saw_call(asked.call if asked is not None else None, self.context.at)
        own = isinstance(function, (Function, Bound, Class)) or function is UNKNOWN
        if (not own or asked is not None) and not self.context.silent:
            place = (node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)
            if asked is not None:
                asked = replace(
                    asked,
                    recorded=shapes is not None,
                    inside=self.context.inside > 0,
                    signature=signature(given, named),
                    arguments=arguments(given, named),
                    first=self._first(asked),
                    times=self.context.turns,
                )
            if asked is not None and asked.job is not None:
                self.notes.enclosed(noted)
            self.notes.note(scope.file, place, asked)
        if not own:
            self.started = self.started or self._starts(function, asked)
        return value

    def _trained(self, function: Any, node: ast.Call, scope: Scope) -> Asked | None:
        """What an optimizer updates that is given gradients outside of a graph."""
        if not isinstance(function, Method) or function.name not in UPDATES:
            return None
        owner = function.owner
        if not isinstance(owner, Made) or not owner.api.startswith(OPTIMIZERS):
            return None
        return self.gradients.update(owner.api.removeprefix(OPTIMIZERS), node, scope)

    def _first(self, asked: Asked) -> First:
        """Whether nothing loaded before what a call needs."""
        if asked.call is None or self.context.inside:
            return ""
        new = asked.call.api not in self.called
        self.called.add(asked.call.api)
        return "" if not new else "api" if self.started else "process"

    def _starts(self, function: Any, asked: Asked | None) -> bool:
        """Whether a call makes TensorFlow start: it has tensors, or makes weights."""
        if isinstance(function, Method):
            return isinstance(function.owner, (Model, Instance, Dataset))
        name = function.dotted if isinstance(function, Name) else ""
        return asked is not None or isinstance(function, (Model, Instance)) or ".data." in name

    def _super(self, node: ast.Call, scope: Scope) -> Any:
        home, owner = scope.find("__class__"), scope.find("self")
        if len(node.args) == 2:
            home, owner = self.walk.value(node.args[0], scope), self.walk.value(node.args[1], scope)
        return Super(home, owner) if isinstance(home, Class) else UNKNOWN

    def invoke(self, function: Any, given: list[Any], named: dict[str, Any]) -> Any:
        """The value of a call."""
        return self.answer(function, given, named)[0]

    def answer(self, function: Any, given: list[Any], named: dict[str, Any]) -> tuple[Any, Asked | None]:
        """The value of a call, and what it was given if that is worth keeping."""
        self.context.step()
        if isinstance(function, Function):
            return self._entered(function, given, named)
        if isinstance(function, Bound):
            return self._entered(function.function, [function.owner, *given], named)
        if isinstance(function, Class):
            return self.classes.make(function, given, named), None
        if isinstance(function, Table) and function.get("") == "partial":
            first, *more = function["given"]
            return self.answer(first, [*more, *given], {**function["named"], **named})
        if isinstance(function, Name) and function.dotted.endswith(STARTERS) and given:
            return self.invoke(given[0], [UNKNOWN], {}) if isinstance(given[0], Function) else UNKNOWN, None
        if self._builds(function) and (is_symbolic(given) or is_symbolic(named)):
            about = arrays_of(tuple(given[:1] if isinstance(function, (Layer, Model, Instance)) else given))
            return self.symbolic(function, given, named), Asked(
                shape=", ".join(map(str, about))
            ) if about else None
        try:
            return self.libraries.call(function, given, named, self.context.at[1], self.context.at[0])
        except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError):
            return UNKNOWN, None  # arguments that the library would not take either, or that no rule foresaw

    def _entered(
        self, function: Function, given: list[Any], named: dict[str, Any]
    ) -> tuple[Any, Asked | None]:
        """A function of the program; of one that is compiled also what its graph consists of."""
        if not function.compiled or self.trace.active or self.context.silent:
            return self.functions.enter(function, given, named), None
        return self.steps.step(function, given, named)

    def _builds(self, function: Any) -> bool:
        """Whether a call with a tensor of a functional model is a part of that model."""
        if isinstance(function, (Layer, Model, Made)):
            return True
        if isinstance(function, Instance):
            return True
        if not isinstance(function, Name):
            return False
        name = (
            canonical(full_name(function.dotted))
            if function.dotted.startswith(("tensorflow", "keras"))
            else function.dotted
        )
        if name.startswith("keras.applications."):
            return name.endswith(".preprocess_input")
        return name.startswith(("tensorflow.", "keras.ops.", "keras.activations.", "(operator)."))

    def symbolic(self, function: Any, given: list[Any], named: dict[str, Any]) -> Any:
        """A call with tensors of a functional model: what it would give, and how to ask again with a batch."""
        self.context.silent += 1
        try:
            with self.trace.paused():
                found = self.invoke(function, _plain(given), dict(_plain(named)))
        finally:
            self.context.silent -= 1
        kept, keywords = tuple(given), tuple(named.items())

        def wrapped(value: Any, part: tuple[Any, ...]) -> Any:
            if isinstance(value, Array):
                return Node(value, function, kept, keywords, part, self.context.at)
            if isinstance(value, tuple):
                return tuple(wrapped(each, (*part, at)) for at, each in enumerate(value))
            if isinstance(value, list):
                return Items(wrapped(each, (*part, at)) for at, each in enumerate(value))
            if isinstance(value, dict):
                return Table({key: wrapped(each, (*part, key)) for key, each in value.items()})
            return value

        return wrapped(found, ())

    def unpacked(self, node: ast.Call, scope: Scope) -> tuple[list[Any], dict[str, Any], bool]:
        """The arguments of a call, and whether all of them are known to be there."""
        given, named, complete = list[Any](), dict[str, Any](), True
        for each in node.args:
            value = self.walk.value(each, scope)
            if isinstance(each, ast.Starred):
                more = items_of(value)
                complete = complete and more is not None
                given += more or []
            else:
                given.append(value)
        for keyword in node.keywords:
            value = self.walk.value(keyword.value, scope)
            if keyword.arg is not None:
                named[keyword.arg] = value
            elif isinstance(value, dict) and getattr(value, "known", True):
                named.update({str(key): each for key, each in value.items()})
            else:
                complete = False
        return given, named, complete


def _plain(value: Any) -> Any:
    """The arrays that the tensors of a functional model stand for."""
    return mapped(value, lambda leaf: leaf.array if isinstance(leaf, Node) else leaf)
