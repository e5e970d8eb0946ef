"""What makes a kept result stale. All of it stands here; `docs/explanation/decisions/invalidation.md` explains it.

A result is kept with the questions that its evaluation asked and the answers it got. It is stale when

1. a question would be answered otherwise now (`holds`), which is found out by asking again unless the read set shows
   that nothing of it has changed (`stands`);
2. it is outdated: something that set an attribute or a global does so no longer, and the result follows from it. Asking
   again would not do, because it may be itself what answers (`outdate`);
3. the end of a pass does not agree with what was assumed on the way (`agrees`): what is written from outside, in which
   ways a function is called, and which of them are kept apart. Then the program is followed once more;
4. it depends on the order in which all was evaluated, as in a cycle (`incremental/order.py`). Then it is forgotten with all
   that rests on it, and the module followed from its top.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Protocol

from energy_code.incremental.contexts import Contexts
from energy_code.incremental.dependencies import (
    FOREIGN,
    OPEN,
    changed_members,
    find_read_set,
    touch_calls,
    touch_members,
)
from energy_code.incremental.external_writes import ExternalWrites
from energy_code.interpreter.classes import Classes
from energy_code.interpreter.domain.definitions import (
    ClassInfo,
    Function,
    Module,
    UserClass,
    UserInstance,
    class_info,
)
from energy_code.interpreter.domain.values import UNKNOWN, Value
from energy_code.interpreter.evaluation_stack import EvaluationStack
from energy_code.interpreter.limits import MAX_CONTEXTS, MAX_EFFORT, MAX_QUESTION_DEPTH
from energy_code.interpreter.revisions import Revisions
from energy_code.interpreter.summary import CallContext, ReadSet, Summary, Writes
from energy_code.ir.code import Code, FunctionCode

Place = tuple[UserClass | Module, str]
"""An attribute of a class's objects, or a global of a module."""
GlobalValue = Callable[[Module, str], Value]


class Pass(Protocol):
    """What following a whole module showed."""

    external_writes: Writes
    functions: dict[FunctionCode, Function]
    seen: dict[int, Summary]


class Invalidation:
    """Answers whether a kept result still stands."""

    def __init__(
        self,
        revisions: Revisions,
        contexts: Contexts,
        classes: Classes,
        writes: ExternalWrites,
        stack: EvaluationStack,
        global_value: GlobalValue,
    ) -> None:
        self.revisions = revisions
        self.contexts = contexts
        self.classes = classes
        self.writes = writes
        self.stack = stack
        self.global_value = global_value
        self._predecessors: dict[Function, Function] = {}
        """Methods that an edit has written anew, with what they were before."""
        self._redeclared: set[Module] = set()
        """Modules of which a class statement was run since the edit."""
        self._effort: dict[tuple[Function, CallContext], int] = {}
        self._effort_at = -1

    def edited(self) -> None:
        """The text of the program is another one now."""
        self._predecessors.clear()
        self._redeclared.clear()

    def begin_again(self) -> None:
        """The program is followed from its top once more, with what depends on the order forgotten."""
        self._predecessors.clear()
        self._effort_at = -1
        self.classes.begin_again()

    # 1. Would the questions be answered as before? --------------------------------------------------------------

    def is_current(self, function: Function, given: CallContext, summary: Summary) -> bool:
        """True for a finished evaluation that may be used as it is."""
        if summary.verified_at == self.revisions.changes or summary.provisional == self.revisions.cycles:
            return True
        return (
            self.stands(function.module, summary)
            or self.is_spent((function, given))
            or self.verify(function, summary)
        )

    def stands(self, module: Module, summary: Summary) -> bool:
        """True when nothing has changed that an evaluation, or what it called, has looked at."""
        revision = self.revisions.revision
        if module.revision != revision or module.running or module.current is not None:
            return False
        seen: dict[int, Summary] = {}
        if not self.untouched(module, summary, self.changed(module), seen):
            return False
        for one in seen.values():
            one.verified_at = self.revisions.changes
        return True

    def changed(self, module: Module) -> int:
        """What is another one now than before the edit, as bits, for evaluations of a module's code."""
        is_foreign = module.filled_elsewhere or not self._redeclared <= {module}
        dirty = module.dirty if module.dirty_at == self.revisions.revision else 0
        return OPEN | (FOREIGN if is_foreign else 0) | dirty

    def untouched(self, module: Module, summary: Summary, changed: int, seen: dict[int, Summary]) -> bool:
        """True for an evaluation that held before the edit and has looked at nothing of what changed.

        Evaluations that rest on each other stand together: `seen` are those that stand if all of them do.
        """
        revisions = self.revisions
        summary.last_pass = revisions.passes
        if summary.verified_at == revisions.changes or id(summary) in seen:
            return True
        if (
            summary.touched_at == revisions.changes
            or not self.was_read(summary)
            or summary.outdated
            or summary.replaced
            or summary.running
        ):
            return False
        summary.touched_at = revisions.changes
        bits, used = self.read_set(module, summary)
        if bits & changed:
            return False
        seen[id(summary)] = summary
        for code, other in used:
            if (
                code in self.contexts.at_limit
                or other.changed_at == revisions.revision
                or not self.untouched(module, other, changed, seen)
            ):
                return False
        summary.touched_at = -1
        return True

    def was_read(self, summary: Summary) -> bool:
        """True for an evaluation that is part of what was known before the edit.

        One that was made since is asked, as at a first reading, when the end of a pass did not agree with its beginning.
        """
        revision, changes = self.revisions.last_read
        return summary.made_at < self.revisions.revision and (
            summary.made_at == revision or summary.verified_at >= changes
        )

    def read_set(self, module: Module, summary: Summary) -> ReadSet:
        """What an evaluation has looked at."""
        if summary.read_set is None:
            summary.read_set = find_read_set(self.contexts, self.classes, module, summary)
        return summary.read_set

    def is_spent(self, key: tuple[Function, CallContext]) -> bool:
        """True when one way of calling was asked again so often that its answer has to do."""
        if self._effort_at != self.revisions.revision:
            self._effort, self._effort_at = {}, self.revisions.revision
        times = self._effort[key] = self._effort.get(key, 0) + 1
        if times > MAX_EFFORT:
            self.contexts.unsettled.add(key[0].code)
        return times > MAX_EFFORT

    def verify(self, function: Function, summary: Summary) -> bool:
        """Ask a kept evaluation its questions again."""
        if summary.outdated:
            return False
        if self.stack.asked >= MAX_QUESTION_DEPTH:  # Python's stack has to hold them
            if function.module.summarised_at >= 0:
                self.contexts.disordered.add(function.module)
            return True
        summary.verified_at = self.revisions.changes
        summary.verifying, summary.depended_on, summary.next_own_read = True, False, 0
        asker, self.stack.asker = self.stack.asker, summary
        self.stack.asked += 1
        holds = self.holds(function.module, summary) and not summary.outdated
        self.stack.asked -= 1
        self.stack.asker = asker
        summary.verifying = False
        summary.read_set = None  # what answers the same may come from elsewhere now
        if not holds and summary.depended_on:  # what was found to hold by looking at it is to be asked again
            self.revisions.changes += 1
        return holds

    def holds(self, module: Module, summary: Summary) -> bool:
        """True when every question would be answered as before."""
        if not self.globals_hold(module, summary):
            return False
        for question, subject, answer in summary.dependencies:
            found = question(*subject)
            if found is not answer and found != answer:
                return False
        return True

    def globals_hold(self, module: Module, summary: Summary) -> bool:
        """True when the module's globals that were read are what they were."""
        read = summary.globals
        revision = self.revisions.revision
        has_run = module.revision == revision and module.current is None and not module.running
        if has_run and summary.globals_checked_at == module.previous and module.changed.isdisjoint(read):
            summary.globals_checked_at = revision
            return True
        for name, answer in read.items():
            found = self.global_value(module, name)
            if found is not answer and found != answer:
                return False
        if has_run:
            summary.globals_checked_at = revision
        return True

    # 2. Does it follow from something that is gone? -------------------------------------------------------------

    def replaced(self, function: Function, given: CallContext, old: Summary | None, new: Summary) -> None:
        """An evaluation was made: what followed from the one before, where this one differs, is stale."""
        if function.owner is not None:
            self.attributes_lost(function.owner, self.lost(function, given, old, new))
        if old is not None:
            written = new.written
            self.globals_lost(
                function.module, [name for name, value in old.written.items() if written.get(name) != value]
            )
        if old is None or not old.same_for_others(new):
            new.changed_at = self.revisions.revision
            if old is not None:
                self.revisions.changes += 1
                new.verified_at = self.revisions.changes

    def met(self, function: Function, summary: Summary) -> None:
        """A function is called so: if it was not before, what it sets is asked again."""
        if function in self.contexts.asked and not self.contexts.is_live(summary):
            touch_calls(function, self.revisions.revision)

    def class_declared(
        self, cls: UserClass, before: ClassInfo | None, setters: dict[str, list[Function]]
    ) -> None:
        """A class may hold something else than before, and methods that set an attribute may be gone, or written anew."""
        self._redeclared.add(cls.module)
        after = class_info(cls)
        if after is not None and after is not before:
            touch_members(cls, changed_members(before, after), self.revisions.revision)
        if setters:
            self.setters_replaced(cls, setters)

    def setters_replaced(self, cls: UserClass, before: dict[str, list[Function]]) -> None:
        """A class statement was run again: methods that set an attribute may be gone, or written anew."""
        after = self.classes.setters(cls)
        gone = set()
        for name, functions in before.items():
            now = after.get(name, ())
            for function in functions:
                if function in now:
                    continue
                newer = [other for other in now if other.code.qualname == function.code.qualname]
                if newer:
                    self._predecessors[newer[0]] = function
                else:
                    gone.add(name)
        self.attributes_lost(cls, gone)

    def lost(
        self, method: Function, given: CallContext, old: Summary | None, new: Summary
    ) -> Collection[str]:
        """The attributes that a method evaluated again, or for the first time since it was edited, sets otherwise."""
        if old is None and (predecessor := self._predecessors.get(method)) is not None:
            old = self.contexts.find(predecessor, given)
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

    def attributes_lost(self, cls: UserClass, names: Collection[str]) -> None:
        """Something that set attributes of a class does so no longer: all that follows from them is found anew.

        In `self.x = self.x + 1` the kept result answers its own question: asked again, it would hold for ever.
        """
        if any(self.outlives(function, name) for name in names for function in self.contexts.evaluations):
            self.outdate({(cls, name) for name in names})

    def globals_lost(self, module: Module, names: Collection[str]) -> None:
        """The same for globals that functions bind: `total = total + 1` answers its own question too."""
        if names:
            self.outdate({(module, name) for name in names})

    def outdate(self, places: set[Place]) -> None:
        """Let everything be found anew that follows from attributes of classes or from globals of modules."""
        names = {name for _, name in places}
        calls: set[tuple[Function, CallContext]] = set()
        codes: set[Code] = set()
        found = True
        while found:
            found = False
            for function, known in self.contexts.evaluations.items():
                for given, summary in known.items():
                    if (
                        summary.running
                        or summary.outdated
                        or not may_depend(summary, names, codes)
                        or not self.depends(function, summary, places, calls)
                    ):
                        continue
                    found = summary.outdated = True
                    summary.verified_at = -1
                    calls.add((function, given))
                    codes.add(function.code)
                    places.update((function.module, name) for name in summary.written)
                    names.update(summary.written)
                    if function.owner is not None:
                        places.update((function.owner, name) for name in summary.attributes)
                        names.update(summary.attributes)
        self.revisions.changes += 1

    def outlives(self, function: Function, name: str) -> bool:
        """True for a method with kept results that still sets the attribute, on objects made before."""
        return (
            name in function.code.attributes
            and function.owner is not None
            and function.code.name != "__init__"
            and function in self.classes.setters(function.owner).get(name, ())
        )

    def depends(
        self,
        function: Function,
        summary: Summary,
        places: set[Place],
        calls: set[tuple[Function, CallContext]],
    ) -> bool:
        """True when an evaluation has looked at one of the places or at what one of the calls gave."""
        if any(subject is function.module and name in summary.globals for subject, name in places):
            return True
        for _, subject, _ in summary.dependencies:
            asked = subject[0]
            if type(asked) is Function:
                if (asked, subject[-1]) in calls:
                    return True
            elif type(asked) is UserInstance and any(
                type(cls) is UserClass and name == subject[1] and self.classes.descends(asked.cls, cls)
                for cls, name in places
            ):
                return True
        return False

    # 3. Does the end of a pass agree with what was assumed on the way? -------------------------------------------

    def agrees(self, module: Module, found: Pass) -> bool:
        """Take over what following a whole module showed; False when somebody was told otherwise on the way."""
        agrees = self.writes.replace(module, found.external_writes)
        agrees = self.contexts_agree(module, found) and agrees
        agrees = self.limits_agree(module, found) and agrees
        if not agrees:
            self.revisions.changes += 1
            self.revisions.passes += 1
            module.revision = -2
        return agrees

    def contexts_agree(self, module: Module, found: Pass) -> bool:
        """Forget the ways of calling functions that were in the program before the last edit only."""
        agrees = True
        for function in [function for function in self.contexts.asked if function.module is module]:
            if found.functions.get(function.code) != function:  # gone, or made anew with all that asks for it
                del self.contexts.asked[function]
                continue
            agrees = not self.contexts.missed(function) and agrees
            for summary in self.contexts.of(function).values():
                if 0 <= summary.summarised_at < self.revisions.revision:
                    agrees, summary.summarised_at = False, -1
                    touch_calls(function, self.revisions.revision)
                    if function.owner is not None:
                        self.attributes_lost(function.owner, summary.attributes.keys())
        return agrees

    def limits_agree(self, module: Module, found: Pass) -> bool:
        """See which contexts are kept apart: those that gave way to others may come back, and the reverse."""
        agrees = True
        positions: dict[int, int] = {}
        for function, known in self.contexts.evaluations.items():
            if len(known) < MAX_CONTEXTS or function.module is not module:
                continue
            positions = positions or {key: position for position, key in enumerate(found.seen)}
            met = {positions[id(one)]: given for given, one in known.items() if id(one) in positions}
            now = [met[position] for position in sorted(met)]  # the first ones were kept apart
            before = self.contexts.order.pop(function, [])
            if len(now) >= MAX_CONTEXTS:
                self.contexts.order[function] = now
            if now != before and max(len(now), len(before)) >= MAX_CONTEXTS:
                current = self.revisions.passes
                agrees = agrees and all(summary.first_pass == current for summary in known.values())
        return agrees


def may_depend(summary: Summary, names: set[str], codes: set[Code]) -> bool:
    """False, found out fast, for an evaluation that has asked for none of the names and called none of the codes."""
    if not names.isdisjoint(summary.globals):
        return True
    for _, subject, _ in summary.dependencies:
        asked = subject[0]
        if asked.code in codes if type(asked) is Function else subject[1] in names:
            return True
    return False
