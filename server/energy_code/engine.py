"""The interpreter's memory: runs modules and functions, and keeps every result until something it looked at changes.

Each evaluation notes the questions it asked (a global, a class attribute, what a function returns) with the answers it
got. After an edit a kept result is asked its questions again; while the answers are the same, it stands.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from energy_code.annotations import annotated
from energy_code.facts import GROWTH, grown
from energy_code.frames import Frame, Given, Summary
from energy_code.importing import Resolve
from energy_code.modules import Module, classes_of
from energy_code.reach import CLASSES, OPEN, find_reach
from energy_code.settling import MAX_CONTEXTS, Importers, Settling
from energy_code.statements import run
from energy_code.values import (
    NONE,
    UNKNOWN,
    Constant,
    Function,
    Mapping,
    Sequence,
    Unknown,
    UserClass,
    UserInstance,
    Value,
    is_empty,
    join,
)

if TYPE_CHECKING:
    from energy_code.codes import FunctionCode, Unit
    from energy_data.catalogue import Catalogue

CHANGED = Unknown()
"""Answers a question that is to be asked in another way now."""
UNTAINTED = 1 << 30
MAX_DEPTH = 30
"""How deep calls of the program's own functions are followed."""
MAX_EFFORT = 8
"""How often one way of calling a function is verified or evaluated again for one state of the program."""
SPARE = 64
"""So many evaluations may pile up that nobody uses, with the functions as they once were."""
TURNS_KEPT = 4
MAX_RECURSIONS = 2
"""So many levels of a recursive function are told apart by their arguments."""


class Engine(Settling):
    """Everything the modules of one program share."""

    def __init__(
        self,
        catalogue: Catalogue,
        resolve: Resolve = lambda name, importer: None,
        importers: Importers = lambda module: [],
    ) -> None:
        super().__init__(catalogue, resolve, importers)
        self.epoch = 0
        self.depth = 0
        self.clock_before = 0
        """The clock as the last edit found it."""
        self.effort: dict[tuple[Function, Given], int] = {}
        self.effort_at = -1
        self.taint = UNTAINTED
        self.most_kept = SPARE
        """From so many evaluations on, those that nobody used lately are dropped."""
        self.answers: dict[tuple[UserInstance | Function, str], Value] = {}
        self.answered_at = (-1, -1)
        self.asker: Summary | None = None
        """The evaluation that runs, or whose questions are asked again."""
        self.crowded: set[FunctionCode] = set()
        """Functions that were once called in as many ways: who calls them asks each time which one counts."""

    def edited(self) -> None:
        """The program is another one now."""
        self.revision += 1
        self.turn += 1
        self.clock_before = self.clock
        self.predecessors.clear()

    def execute_unit(self, module: Module, unit: Unit) -> Summary:
        """Run one top-level statement."""
        frame = Frame(self, module, unit, None)
        outer, module.current = module.current, frame
        asker, self.asker = self.asker, None
        try:
            run(frame, unit.statements)
        except RecursionError:
            frame.returned.clear()
        finally:
            module.current = outer
            self.asker = asker
        summary = Summary()
        summary.conclude(frame)
        summary.written = frame.names
        summary.classes = classes_of(module, unit)
        return summary

    def written_by(self, function: Function, name: str) -> Value:
        """What a function binds a global to: by itself, else in the ways it is called."""
        return self.answered((function, name), lambda: self.find_written(function, name))

    def find_written(self, function: Function, name: str) -> Value:
        """What a function binds a global to, asked now."""
        value = self.global_in(self.summary(function, ()), name)
        if value is UNKNOWN:
            for given in self.live_contexts(function, None):
                found = self.global_in(self.summary(function, given), name)
                value = found if value is UNKNOWN else join(value, found)
        return value

    def answered(self, key: tuple[UserInstance | Function, str], find: Callable[[], Value]) -> Value:
        """An answer that holds until something changes: kept, or found now."""
        now = (self.clock, self.epoch)
        if self.answered_at != now:
            self.answered_at = now
            self.answers.clear()
        personal = self.asker is not None and bool(self.asker.own)
        value = self.answers.get(key) if not personal else None
        if value is None:
            value = find()
            if self.taint == UNTAINTED and self.answered_at == (self.clock, self.epoch) and not personal:
                self.answers[key] = value
        return value

    def global_in(self, summary: Summary, name: str) -> Value:
        """The global as one evaluation leaves it; while it runs, as bound so far."""
        names = summary.frame.names if summary.running and summary.frame is not None else summary.written
        return names.get(name, UNKNOWN)

    def instance_attribute(self, instance: UserInstance, name: str) -> Value:
        """An attribute of an instance: what its methods set, then what its class has."""
        return self.answered((instance, name), lambda: self.find_attribute(instance, name))

    def find_attribute(self, instance: UserInstance, name: str) -> Value:
        """An attribute of an instance, asked now; what is set from outside counts too."""
        value = self.assigned_attribute(instance, name)
        given = self.fact(instance.cls, name)
        if given is not UNKNOWN:
            value = grown(value, given) if value is not None else given
        return self.with_growth(instance.cls, name, value or self.class_attribute(instance.cls, name))

    def with_growth(self, cls: UserClass, name: str, value: Value) -> Value:
        """An attribute with what is added to it from outside: registries are filled by who imports them."""
        if type(value) not in (Mapping, Sequence):
            return value
        if is_empty(value):
            self.gather_facts(cls.module)
        added = self.fact(cls, GROWTH + name)
        return grown(value, added) if added is not UNKNOWN else value

    def assigned_attribute(self, instance: UserInstance, name: str) -> Value | None:
        """What any method of the class sets the attribute to; None when none does."""
        result: Value | None = None
        for function in self.setters(instance.cls).get(name, ()):
            self_name = function.code.parameters[0].name
            given: Given = ((self_name, instance),)
            if function.code.name == "__init__":
                contexts = [given + (instance.given or ())]
            else:
                contexts = self.live_contexts(function, instance.cls) or [given]
            for context in contexts:
                value = self.attribute_in(function, context, name)
                if value is not None:
                    result = value if result is None else join(result, value)
        if result is None and instance.given and "__init__" not in self.own_names(instance.cls):
            return dict(instance.given).get(name)
        return result

    def attribute_in(self, function: Function, given: Given, name: str) -> Value | None:
        """What a method sets an attribute to in one context; while it runs, what it has set so far."""
        summary = self.summary(function, given)
        if summary.running and summary.frame is not None:
            value = summary.frame.attributes.get(name)
            if summary is self.asker:
                summary.own.append((name, value))
            return value
        return summary.own_attribute(name) if summary is self.asker else summary.attributes.get(name)

    # functions ------------------------------------------------------------------------------------------------

    def invocation(self, function: Function, asked: Given) -> tuple[Given, Summary]:
        """The evaluation of a call and its context: what it was given, or the general one when there are too many."""
        known = self.contexts.get(function)
        if known is None:
            return asked, self.current(function, asked, None)
        summary = known.get(asked)
        if summary is None:
            running = [other for other, summary in known.items() if summary.running]
            if len(running) >= MAX_RECURSIONS:
                # Recursion with ever new arguments: each level would run its loops again for every level below.
                return running[-1], self.current(function, running[-1], known[running[-1]])
        if len(known) >= MAX_CONTEXTS and (given := self.told_apart(function, known, asked)) is not asked:
            return given, self.current(function, given, known.get(given))
        return asked, self.current(function, asked, summary)

    def told_apart(self, function: Function, known: dict[Given, Summary], given: Given) -> Given:
        """The context itself while there are few; only what this turn has met counts, not what edits left behind."""
        if len(known) < MAX_CONTEXTS:
            return given
        turn = self.turn
        if (mine := known.get(given)) is not None and mine.used == turn:
            return given
        met = sum([summary.used == turn for summary in known.values()])
        return given if met < MAX_CONTEXTS else general(function, given)

    def called(self, function: Function, asked: Given, given: Given) -> Value:
        """What a call gives that was evaluated in the context `given`; asks whether that still is its context."""
        known = self.contexts.get(function)
        if (
            known is not None
            and (given is asked or given == general(function, asked))
            and self.told_apart(function, known, asked) != given
        ):
            return CHANGED
        summary = self.summary(function, given)
        return summary.returns if summary is not self.asker else UNKNOWN  # it did not know while it ran

    def live_contexts(self, function: Function, cls: UserClass | None) -> list[Given]:
        """The ways a function, or a method on instances of a class, is called, as far as they are known by now."""
        self.contexts_asked.add(function)
        return [
            given
            for given, summary in self.contexts.get(function, {}).items()
            if (summary.surveyed_at >= self.revision - 1 or summary.invoked_at == self.revision)
            and given
            and (cls is None or (type(given[0][1]) is UserInstance and given[0][1].cls == cls))
        ]

    def prune(self) -> None:
        """Drop evaluations that no recent analysis has used."""
        if sum(map(len, self.contexts.values())) > self.most_kept:
            oldest = self.turn - TURNS_KEPT
            kept = {
                function: {given: summary for given, summary in known.items() if summary.used >= oldest}
                for function, known in self.contexts.items()
            }
            self.contexts = {function: known for function, known in kept.items() if known}
            self.crowds = {function: told for function, told in self.crowds.items() if kept.get(function)}
            self.most_kept = SPARE + sum(map(len, self.contexts.values()))

    def summary(self, function: Function, given: Given) -> Summary:
        """The evaluation of a function in a context, kept or made now."""
        known = self.contexts.get(function)
        return self.current(function, given, known.get(given) if known is not None else None)

    def current(self, function: Function, given: Given, summary: Summary | None) -> Summary:
        """An evaluation if it still stands, else one made now."""
        if summary is not None:
            summary.used = self.turn
            if summary.running:
                self.taint = min(self.taint, summary.provisional)
                return summary
            if summary.verifying and not summary.outdated:
                summary.leaned_on = True
                return summary
            if summary.verified == self.clock or summary.provisional == self.epoch:
                return summary
            if (
                self.stands(function.module, summary)
                or self.is_spent((function, given))
                or self.verify(function, summary)
            ):
                return summary
        if self.depth >= MAX_DEPTH:
            return Summary()
        return self.evaluate(function, given, summary)

    def stands(self, module: Module, summary: Summary) -> bool:
        """True when nothing has changed that an evaluation, or what it called, has looked at."""
        if module.revision != self.revision or module.running or module.current is not None:
            return False
        asked = self.classes_at == self.revision or module.filled_elsewhere
        changed = module.dirty | OPEN | (CLASSES if asked else 0)
        return self.untouched(module, summary, changed)

    def untouched(self, module: Module, summary: Summary, changed: int) -> bool:
        """True for an evaluation that held before the edit and has looked at nothing of what changed."""
        summary.used = self.turn
        if summary.verified == self.clock:
            return True
        if summary.verified < self.clock_before or summary.outdated or summary.replaced or summary.running:
            return False
        if summary.reach is None:
            summary.reach = find_reach(self, module, summary)
        bits, used = summary.reach
        if bits & changed:
            return False
        verified, summary.verified = summary.verified, -1  # what leads back to itself is asked
        for code, other in used:
            if (
                code in self.crowded
                or other.changed_at == self.revision
                or not self.untouched(module, other, changed)
            ):
                summary.verified = verified
                return False
        summary.verified = self.clock
        return True

    def is_spent(self, key: tuple[Function, Given]) -> bool:
        """True when one way of calling was asked again so often that its answer has to do.

        Answers of recursive functions lean on each other: without a limit they could be asked for ever.
        """
        if self.effort_at != self.revision:
            self.effort, self.effort_at = {}, self.revision
        times = self.effort[key] = self.effort.get(key, 0) + 1
        return times > MAX_EFFORT

    def verify(self, function: Function, summary: Summary) -> bool:
        """Ask a kept evaluation its questions again."""
        if summary.outdated:
            return False
        summary.verified = self.clock
        summary.verifying, summary.leaned_on, summary.own_next = True, False, 0
        asker, self.asker = self.asker, summary
        holds = self.holds(function.module, summary) and not summary.outdated
        self.asker = asker
        summary.verifying = False
        summary.reach = None  # what answers the same may come from elsewhere now
        if not holds and summary.leaned_on:  # what was found to hold by looking at it is to be asked again
            self.clock += 1
        return holds

    def evaluate(self, function: Function, given: Given, old: Summary | None) -> Summary:
        """Run a function's body."""
        known = self.contexts.setdefault(function, {})
        summary = known[given] = Summary()
        if len(known) >= MAX_CONTEXTS:
            self.crowded.add(function.code)
        if old is not None:
            old.replaced = True
            summary.invoked_at, summary.surveyed_at = old.invoked_at, old.surveyed_at
        summary.made = old.made if old is not None else self.turn
        summary.used = self.turn
        self.depth += 1
        summary.running, summary.provisional = True, self.depth
        frame = self.enter(function, given)
        summary.frame = frame
        code = function.code
        asker, self.asker = self.asker, summary
        try:
            if code.value is not None:
                frame.returned.append(code.value.evaluate(frame))
            else:
                run(frame, code.body)
        except RecursionError:
            pass
        self.asker = asker
        summary.returns = self.returned(frame, function)
        summary.conclude(frame)
        if code.globals:
            summary.written = {name: frame.names[name] for name in code.globals if name in frame.names}
        summary.running, summary.provisional = False, -1
        summary.verified = self.clock
        if self.taint < self.depth:
            summary.verified, summary.provisional = -1, self.epoch
        elif self.taint == self.depth:
            self.taint = UNTAINTED
            self.epoch += 1
        self.depth -= 1
        if function.owner is not None:
            self.unsettle(function.owner, self.lost(function, given, old, summary))
        if old is not None:
            written = summary.written
            self.unsettle_globals(
                function.module, [name for name, value in old.written.items() if written.get(name) != value]
            )
        if old is None or not old.same_for_others(summary):
            summary.changed_at = self.revision
            if old is not None:
                self.clock += 1
                summary.verified = self.clock
        return summary

    def enter(self, function: Function, given: Given) -> Frame:
        """A frame with the parameters bound: to what was given, else to defaults and annotations."""
        code = function.code
        frame = Frame(self, function.module, code, function.outer)
        frame.is_function = True
        frame.local_names = code.local_names
        frame.owner = function.owner
        if code.blank is not None:
            names = frame.names = code.blank.copy()
            names.update(function.defaults)
            names.update(given)
            if len(names) == len(
                code.blank
            ):  # an object may have been made by a constructor with other parameters
                if function.owner is not None and code.parameters:
                    receive(frame, function.owner, code.parameters[0].name, given)
                return frame
            frame.names = {}
        self.bind_parameters(frame, function, given)
        return frame

    def bind_parameters(self, frame: Frame, function: Function, given: Given) -> None:
        """Bind the parameters one by one, as some of them have annotations or take many arguments."""
        names = frame.names
        known = dict(given)
        defaults = dict(function.defaults)
        for position, parameter in enumerate(function.code.parameters):
            name = parameter.name
            value = known.get(name)
            if value is None:
                value = defaults.get(name, UNKNOWN)
                if value is UNKNOWN or type(value) is Constant:
                    promised = (
                        annotated(frame, parameter.annotation)
                        if parameter.annotation is not None
                        else UNKNOWN
                    )
                    value = promised if promised is not UNKNOWN else value
                if position == 0 and function.owner is not None and value is UNKNOWN:
                    value = UserInstance(function.owner)
                elif parameter.kind == "args":
                    value = Sequence("tuple", None, value)
                elif parameter.kind == "kwargs":
                    value = Mapping((), value)
            elif parameter.annotation is not None and (value is UNKNOWN or value is NONE):
                promised = annotated(frame, parameter.annotation)
                value = promised if promised is not UNKNOWN else value
            names[name] = value
            if position == 0 and function.owner is not None:
                frame.self_name, frame.receiver = name, value

    def returned(self, frame: Frame, function: Function) -> Value:
        """What the function gives: its own returns, else what its annotation promises."""
        if function.code.generator:
            element: Value = frame.yielded[0] if frame.yielded else UNKNOWN
            for value in frame.yielded[1:]:
                element = join(element, value)
            return Sequence("iterator", None, element)
        result: Value = frame.returned[0] if frame.returned else NONE
        for value in frame.returned[1:]:
            result = join(result, value)
        if (result is UNKNOWN or result is NONE) and function.code.returns is not None:
            return annotated(frame, function.code.returns)
        return result


def receive(frame: Frame, owner: UserClass, name: str, given: Given) -> None:
    """The first parameter of a method is an object of its class when nothing else was given for it."""
    names = frame.names
    if names[name] is UNKNOWN and not (given and given[0][0] == name):
        names[name] = UserInstance(owner)
    frame.self_name, frame.receiver = name, names[name]


def general(function: Function, given: Given) -> Given:
    """The context that stands for all others: only the receiver of a method is known."""
    return given[:1] if function.owner is not None else ()
