"""What an evaluation may ask of the program that it is part of; the engine (`incremental/`) answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from energy_code.interpreter.classes import Classes
from energy_code.interpreter.domain.definitions import ClassInfo, Function, Module, UserClass, UserInstance
from energy_code.interpreter.domain.values import Value
from energy_code.interpreter.evaluation_stack import EvaluationStack
from energy_code.interpreter.operations.imports import Imports
from energy_code.interpreter.summary import CallContext, Summary
from energy_code.ir.nodes import Expression
from energy_code.models.catalogue import PublicNames


class GlobalAnswers(Protocol):
    """About global names of modules."""

    def global_value(self, module: Module, name: str) -> Value:
        """A global name as code inside the module sees it."""

    def export(self, module: Module, name: str) -> Value:
        """A global name as other modules see it."""

    def bound_so_far(self, module: Module, name: str) -> Value | None:
        """What earlier statements of a module's top level have bound a name to; None where none has."""

    def rebound(self, module: Module, name: str, value: Value) -> None:
        """A global that functions have read changes while the top level runs."""

    def gather_writes(self, module: Module) -> None:
        """See what importing a module, or those that import it, writes to objects of others."""


class ObjectAnswers(Protocol):
    """About objects of the program."""

    def instance_attribute(self, instance: UserInstance, name: str) -> Value:
        """An attribute of an instance: what its methods set, then what its class has."""

    def with_growth(self, cls: UserClass, name: str, value: Value) -> Value:
        """An attribute with what is added to it from outside."""


class WriteAnswers(Protocol):
    """About what is written from outside."""

    def value(self, subject: UserClass | Module, name: str) -> Value:
        """What an attribute of a class's objects, or a module's global, is set to or filled with elsewhere."""


class CallAnswers(Protocol):
    """About calls of the program's functions."""

    def invocation(self, function: Function, asked: CallContext) -> tuple[CallContext, Summary]:
        """The evaluation of a call and its context."""

    def called(self, function: Function, asked: CallContext, given: CallContext) -> Value:
        """What a call gives that was evaluated in the context `given`."""


class ClassStatements(Protocol):
    """Who has to know that a class statement was run."""

    def class_declared(
        self, cls: UserClass, before: ClassInfo | None, setters: dict[str, list[Function]]
    ) -> None:
        """A class may hold something else than before, and methods that set an attribute may be gone, or written anew."""


class Program(Protocol):
    """All of it."""

    annotations_followed: list[Value]
    parse_annotation: Callable[[str], Expression]
    """The expression inside an annotation in quotes."""

    @property
    def public(self) -> PublicNames:
        """The public names of TensorFlow and Keras."""

    @property
    def imports(self) -> Imports:
        """What import statements find."""

    @property
    def classes(self) -> Classes:
        """What classes of the program hold."""

    @property
    def stack(self) -> EvaluationStack:
        """Which evaluations are under way."""

    @property
    def modules(self) -> GlobalAnswers:
        """Global names."""

    @property
    def objects(self) -> ObjectAnswers:
        """Objects of the program."""

    @property
    def writes(self) -> WriteAnswers:
        """What is written from outside."""

    @property
    def summaries(self) -> CallAnswers:
        """Calls of the program's functions."""

    @property
    def invalidation(self) -> ClassStatements:
        """What makes kept results stale."""
