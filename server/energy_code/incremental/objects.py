"""What attributes of the program's objects are, and what functions bind globals to: found in all ways they are called."""

from __future__ import annotations

from collections.abc import Callable

from energy_code.incremental.contexts import Contexts
from energy_code.incremental.external_writes import ExternalWrites
from energy_code.incremental.summaries import Summaries
from energy_code.interpreter.classes import Classes
from energy_code.interpreter.domain.definitions import Function, Module, UserClass, UserInstance
from energy_code.interpreter.domain.lattice import is_empty, join
from energy_code.interpreter.domain.values import (
    UNKNOWN,
    Mapping,
    Sequence,
    Value,
)
from energy_code.interpreter.evaluation_stack import EvaluationStack
from energy_code.interpreter.operations.side_effects import GROWTH, grown
from energy_code.interpreter.questions import Basis, rests_on
from energy_code.interpreter.revisions import Revisions
from energy_code.interpreter.summary import CallContext, Summary


class Objects:
    """Answers what objects of the program hold. An answer is kept until anything changes that evaluations look at."""

    def __init__(
        self,
        revisions: Revisions,
        classes: Classes,
        contexts: Contexts,
        writes: ExternalWrites,
        stack: EvaluationStack,
        summaries: Summaries,
        gather: Callable[[Module], None],
    ) -> None:
        self.revisions = revisions
        self.classes = classes
        self.contexts = contexts
        self.writes = writes
        self.stack = stack
        self.summaries = summaries
        self.gather = gather
        """Lets the modules be run that may fill a container."""
        self._answers: dict[tuple[UserInstance | Function, str], Value] = {}
        self._answered_at = (-1, -1)

    @rests_on(Basis.CONSTRUCTOR)
    def instance_attribute(self, instance: UserInstance, name: str) -> Value:
        """An attribute of an instance: what its methods set, then what its class has."""
        return self.answered((instance, name), lambda: self.find_attribute(instance, name))

    def written_by(self, function: Function, name: str) -> Value:
        """What a function binds a global to: by itself, else in the ways it is called."""
        return self.answered((function, name), lambda: self.find_written(function, name))

    def answered(self, key: tuple[UserInstance | Function, str], find: Callable[[], Value]) -> Value:
        """An answer that holds until something changes: kept, or found now."""
        now = (self.revisions.changes, self.revisions.cycles)
        if self._answered_at != now:
            self._answered_at = now
            self._answers.clear()
        asker = self.stack.asker
        personal = asker is not None and bool(asker.own_reads)
        value = self._answers.get(key) if not personal else None
        if value is None:
            value = find()
            now = (self.revisions.changes, self.revisions.cycles)
            if not self.stack.in_cycle and self._answered_at == now and not personal:
                self._answers[key] = value
        return value

    def find_written(self, function: Function, name: str) -> Value:
        """What a function binds a global to, asked now."""
        value = global_in(self.summaries.summary(function, ()), name)
        if value is UNKNOWN:
            for given in self.contexts.live(function, None):
                found = global_in(self.summaries.summary(function, given), name)
                value = found if value is UNKNOWN else join(value, found)
        return value

    def find_attribute(self, instance: UserInstance, name: str) -> Value:
        """An attribute of an instance, asked now; what is set from outside counts too."""
        value = self.assigned_attribute(instance, name)
        given = self.writes.value(instance.cls, name)
        if given is not UNKNOWN:
            value = grown(value, given) if value is not None else given
        return self.with_growth(instance.cls, name, value or self.classes.class_attribute(instance.cls, name))

    def with_growth(self, cls: UserClass, name: str, value: Value) -> Value:
        """An attribute with what is added to it from outside: registries are filled by who imports them."""
        if type(value) not in (Mapping, Sequence):
            return value
        if is_empty(value):
            self.gather(cls.module)
        added = self.writes.value(cls, GROWTH + name)
        return grown(value, added) if added is not UNKNOWN else value

    def assigned_attribute(self, instance: UserInstance, name: str) -> Value | None:
        """What any method of the class sets the attribute to; None when none does."""
        result: Value | None = None
        for function in self.classes.setters(instance.cls).get(name, ()):
            self_name = function.code.parameters[0].name
            given: CallContext = ((self_name, instance),)
            if function.code.name == "__init__":
                contexts = [given + (instance.given or ())]
            else:
                contexts = self.contexts.live(function, instance.cls) or [given]
            for context in contexts:
                value = self.attribute_in(function, context, name)
                if value is not None:
                    result = value if result is None else join(result, value)
        if result is None and instance.given and "__init__" not in self.classes.own_names(instance.cls):
            return dict(instance.given).get(name)
        return result

    def attribute_in(self, function: Function, given: CallContext, name: str) -> Value | None:
        """What a method sets an attribute to in one context; while it runs, what it has set so far."""
        summary = self.summaries.summary(function, given)
        asks_itself = summary is self.stack.asker
        if summary.running and summary.frame is not None:
            value = summary.frame.attributes.get(name)
            if asks_itself:
                summary.own_reads.append((name, value))
            return value
        return summary.own_attribute(name) if asks_itself else summary.attributes.get(name)


def global_in(summary: Summary, name: str) -> Value:
    """The global as one evaluation leaves it; while it runs, as bound so far."""
    names = summary.frame.names if summary.running and summary.frame is not None else summary.written
    return names.get(name, UNKNOWN)
