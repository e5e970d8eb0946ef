"""The interpreter's memory: runs modules and functions, and keeps every result until something it looked at changes.

Each evaluation notes the questions it asked (a global, a class attribute, what a function returns) with the answers it
got. After an edit a kept result is asked its questions again; while the answers are the same, it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from energy_code.annotations import annotated
from energy_code.execution import Execution
from energy_code.frames import Frame, Given, Summary
from energy_code.importing import Resolve
from energy_code.modules import Module
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
    join,
)

if TYPE_CHECKING:
    from energy_code.codes import Unit
    from energy_code.effects import Effect
    from energy_code.survey import Survey
    from energy_data.catalogue import Catalogue

CHANGED = Unknown()
"""Answers a question that is to be asked in another way now."""
UNTAINTED = 1 << 30
MAX_DEPTH = 30
"""How deep calls of the program's own functions are followed."""
MAX_CONTEXTS = 6
"""How many different ways of calling a function are told apart."""
MAX_EFFORT = 8
"""How often one way of calling a function is verified or evaluated again for one state of the program."""
FEWEST_KEPT = 512
TURNS_KEPT = 4
MAX_RECURSIONS = 2
"""So many levels of a recursive function are told apart by their arguments."""


class Engine(Execution):
    """Everything the modules of one program share."""

    def __init__(
        self,
        catalogue: Catalogue,
        resolve: Resolve = lambda name, importer: None,
        importers: Callable[[Module], list[Module]] = lambda module: [],
    ) -> None:
        super().__init__(catalogue, resolve)
        self.importers = importers
        self.epoch = 0
        self.turn = 0
        """Counts how often the program was gone through from its top: after each edit, and when it is not settled."""
        self.depth = 0
        self.effort: dict[tuple[Function, Given], int] = {}
        self.effort_at = -1
        self.taint = UNTAINTED
        self.contexts: dict[Function, dict[Given, Summary]] = {}
        """The evaluations of each function, by what it was given."""
        self.most_kept = FEWEST_KEPT
        """From so many evaluations on, those that nobody used lately are dropped."""
        self.effects: dict[str, Effect | None] = {}
        self.answers: dict[tuple[UserInstance, str], Value] = {}
        self.answered_at = (-1, -1)
        self.compiled: dict[UserClass, dict[Module, Value]] = {}
        """Optimizers that models of the program are compiled with, by the module that does it."""
        self.predecessors: dict[Function, Function] = {}
        """Methods that an edit has written anew, with what they were before."""
        self.crowds: dict[Function, list[Given]] = {}
        """Functions that are called in as many ways as are told apart, or more, with those that are, as they were met."""
        self.optimizers_asked: set[UserClass] = set()
        self.contexts_asked: set[Function] = set()
        """Functions that set something, of which it was asked how they are called."""

    def edited(self) -> None:
        """The program is another one now."""
        self.revision += 1
        self.turn += 1
        self.predecessors.clear()

    def execute_unit(self, module: Module, unit: Unit) -> Summary:
        """Run one top-level statement."""
        frame = Frame(self, module, unit, None)
        outer, module.current = module.current, frame
        try:
            run(frame, unit.statements)
        except RecursionError:
            frame.returned.clear()
        finally:
            module.current = outer
        summary = Summary()
        summary.conclude(frame)
        summary.written = frame.names
        return summary

    def optimizer_of(self, cls: UserClass) -> Value:
        """What models of a class are compiled with."""
        self.optimizers_asked.add(cls)
        result: Value = UNKNOWN
        for optimizer in self.compiled.get(cls, {}).values():
            result = optimizer if result is UNKNOWN else join(result, optimizer)
        return result

    def settle(self, module: Module, survey: Survey) -> bool:
        """Take over what going through a whole module showed; False when somebody was told otherwise on the way."""
        settled = self.settle_optimizers(module, survey.compiled)
        settled = self.settle_contexts(module, survey) and settled
        settled = self.settle_crowds(module, survey) and settled
        if not settled:
            self.clock += 1
            self.turn += 1
            module.revision = -2
        return settled

    def settle_contexts(self, module: Module, survey: Survey) -> bool:
        """Forget the ways of calling functions that were in the program before the last edit only."""
        settled = True
        for function in [function for function in self.contexts_asked if function.module is module]:
            if (
                survey.functions.get(function.code) != function
            ):  # gone, or made anew with all that asks for it
                self.contexts_asked.discard(function)
                continue
            for summary in self.contexts.get(function, {}).values():
                if 0 <= summary.surveyed_at < self.revision:
                    settled, summary.surveyed_at = False, -1
                    if function.owner is not None:
                        self.unsettle(function.owner, summary.attributes.keys())
        return settled

    def settle_crowds(self, module: Module, survey: Survey) -> bool:
        """See which ways of calling are told apart: those that gave way to others may come back, and the reverse."""
        settled = True
        places: dict[int, int] = {}
        for function, known in self.contexts.items():
            if len(known) < MAX_CONTEXTS or function.module is not module:
                continue
            places = places or {key: place for place, key in enumerate(survey.seen)}
            met = {places[id(summary)]: given for given, summary in known.items() if id(summary) in places}
            now = [met[place] for place in sorted(met)]  # the first ones were told apart
            before = self.crowds.pop(function, [])
            if len(now) >= MAX_CONTEXTS:
                self.crowds[function] = now
            if now != before and max(len(now), len(before)) >= MAX_CONTEXTS:
                settled = settled and all(summary.made == self.turn for summary in known.values())
        return settled

    def settle_optimizers(self, module: Module, found: dict[UserClass, Value]) -> bool:
        """Take over how a module compiles models."""
        settled = True
        for cls in list(self.compiled.keys() | found.keys()):
            known = self.compiled.setdefault(cls, {})
            old, new = known.get(module), found.get(cls)
            if old == new:
                continue
            if new is None:
                del known[module]
            else:
                known[module] = new
            settled = settled and cls not in self.optimizers_asked
        return settled

    def written_by(self, function: Function, name: str) -> Value:
        """What a function binds a global to: by itself, else in the ways it is called."""
        value = self.global_in(self.summary(function, ()), name)
        if value is UNKNOWN:
            for given in self.live_contexts(function, None):
                found = self.global_in(self.summary(function, given), name)
                value = found if value is UNKNOWN else join(value, found)
        return value

    def global_in(self, summary: Summary, name: str) -> Value:
        """The global as one evaluation leaves it; while it runs, as bound so far."""
        names = summary.frame.names if summary.running and summary.frame is not None else summary.written
        return names.get(name, UNKNOWN)

    def instance_attribute(self, instance: UserInstance, name: str) -> Value:
        """An attribute of an instance: what its methods set, then what its class has."""
        now = (self.clock, self.epoch)
        if self.answered_at != now:
            self.answered_at = now
            self.answers.clear()
        key = (instance, name)
        value = self.answers.get(key)
        if value is None:
            value = self.assigned_attribute(instance, name) or self.class_attribute(instance.cls, name)
            if self.taint == UNTAINTED and self.answered_at == (self.clock, self.epoch):
                self.answers[key] = value
        return value

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
            return summary.frame.attributes.get(name)
        return summary.attributes.get(name)

    def setters_replaced(self, cls: UserClass, before: dict[str, list[Function]]) -> None:
        """A class statement was run again: methods that set an attribute may be gone, or written anew."""
        after = self.setters(cls)
        gone = set()
        for name, functions in before.items():
            now = after.get(name, ())
            for function in functions:
                if function in now:
                    continue
                newer = [other for other in now if other.code.qualname == function.code.qualname]
                if newer:
                    self.predecessors[newer[0]] = function
                else:
                    gone.add(name)
        self.unsettle(cls, gone)

    def lost(self, method: Function, given: Given, old: Summary | None, new: Summary) -> Collection[str]:
        """The attributes that a method evaluated again, or for the first time since it was edited, sets otherwise."""
        if old is None and (predecessor := self.predecessors.get(method)) is not None:
            old = self.contexts.get(predecessor, {}).get(given)
            if old is None:  # it was called in other ways
                return predecessor.code.attributes
        if old is None or old.attributes == new.attributes:
            return ()
        after = new.attributes
        return [
            name
            for name, value in old.attributes.items()
            if value is not UNKNOWN and after.get(name) != value
        ]

    def unsettle(self, cls: UserClass, names: Collection[str]) -> None:
        """Something that set attributes of a class does so no longer: all that follows from them is found anew.

        In `self.x = self.x + 1` the kept result answers its own question: asked again, it would hold for ever.
        """
        if not any(self.outlives(function, name) for name in names for function in self.contexts):
            return
        attributes = {(cls, name) for name in names}
        calls: set[tuple[Function, Given]] = set()
        found = True
        while found:
            found = False
            for function, known in self.contexts.items():
                for given, summary in known.items():
                    if summary.running or summary.outdated or not self.leans(summary, attributes, calls):
                        continue
                    found = summary.outdated = True
                    summary.verified = -1
                    calls.add((function, given))
                    if function.owner is not None:
                        attributes.update((function.owner, name) for name in summary.attributes)
        self.clock += 1

    def outlives(self, function: Function, name: str) -> bool:
        """True for a method with kept results that still sets the attribute, on objects made before."""
        return (
            name in function.code.attributes
            and function.owner is not None
            and function.code.name != "__init__"
            and function in self.setters(function.owner).get(name, ())
        )

    def leans(
        self, summary: Summary, attributes: set[tuple[UserClass, str]], calls: set[tuple[Function, Given]]
    ) -> bool:
        """True when an evaluation has looked at one of the attributes or at what one of the calls gave."""
        for _, subject, _ in summary.dependencies:
            asked = subject[0]
            if type(asked) is Function:
                if (asked, subject[-1]) in calls:
                    return True
            elif type(asked) is UserInstance and any(
                name == subject[1] and self.descends(asked.cls, cls) for cls, name in attributes
            ):
                return True
        return False

    # functions ------------------------------------------------------------------------------------------------

    def context(self, function: Function, given: Given) -> Given:
        """The context to evaluate a call in: itself, or the general one when there are too many."""
        known = self.contexts.get(function)
        if known is None:
            return given
        if given not in known:
            running = [other for other, summary in known.items() if summary.running]
            if len(running) >= MAX_RECURSIONS:
                # Recursion with ever new arguments: each level would run its loops again for every level below.
                return running[-1]
        return self.told_apart(function, known, given)

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
        return self.summary(function, given).returns

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
            self.most_kept = max(FEWEST_KEPT, 2 * sum(map(len, self.contexts.values())))

    def summary(self, function: Function, given: Given) -> Summary:
        """The evaluation of a function in a context, kept or made now."""
        known = self.contexts.get(function)
        summary = known.get(given) if known is not None else None
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
            if self.is_spent((function, given)) or self.verify(function, summary):
                return summary
        if self.depth >= MAX_DEPTH:
            return Summary()
        return self.evaluate(function, given, summary)

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
        summary.verifying, summary.leaned_on = True, False
        holds = self.holds(function.module, summary) and not summary.outdated
        summary.verifying = False
        if not holds and summary.leaned_on:  # what was found to hold by looking at it is to be asked again
            self.clock += 1
        return holds

    def evaluate(self, function: Function, given: Given, old: Summary | None) -> Summary:
        """Run a function's body."""
        summary = self.contexts.setdefault(function, {})[given] = Summary()
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
        try:
            if code.value is not None:
                frame.returned.append(code.value.evaluate(frame))
            else:
                run(frame, code.body)
        except RecursionError:
            pass
        summary.returns = self.returned(frame, function)
        summary.conclude(frame)
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
        if old is not None and not old.same_for_others(summary):
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
        names = frame.names
        known = dict(given)
        defaults = dict(function.defaults)
        for position, parameter in enumerate(code.parameters):
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
        return frame

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


def general(function: Function, given: Given) -> Given:
    """The context that stands for all others: only the receiver of a method is known."""
    return given[:1] if function.owner is not None else ()
