"""What depends on the order in which all is evaluated. A fresh reading begins at the top; after an edit evaluating begins at
what was touched, and what stands is not evaluated at all.

1. A cycle: what its evaluations find depends on which of them was entered first. When something that leads into one was
   made, changed or taken away, the functions of the cycle and all that rest on them are forgotten and evaluated again, the
   module being followed from its top. What does not lead to them stands: it cannot have been the first to enter.
2. A function that is called in more ways than are kept apart (which ways came first), and one whose inner functions fill its
   variables (when they were called): then all evaluations of the module are forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from energy_code.incremental.contexts import Contexts
from energy_code.incremental.external_writes import ExternalWrites
from energy_code.interpreter.domain.definitions import Function, Module, UserInstance
from energy_code.interpreter.operations.side_effects import GROWTH
from energy_code.interpreter.revisions import Revisions
from energy_code.interpreter.summary import CallContext, ReadSet, Summary
from energy_code.ir.code import Code, FunctionCode

Used = tuple[Code, Summary]
"""An evaluation and the code that it is of."""


class Order:
    """Answers whether an edit can have changed the order in which evaluations were begun, and forgets what depends on it."""

    def __init__(
        self,
        revisions: Revisions,
        contexts: Contexts,
        writes: ExternalWrites,
        read_set: Callable[[Module, Summary], ReadSet],
        changed: Callable[[Module], int],
    ) -> None:
        self.revisions = revisions
        self.contexts = contexts
        self.writes = writes
        self.read_set = read_set
        """What an evaluation has looked at."""
        self.changed = changed
        """What an edit has changed of a module."""
        self._forgotten: set[Code] = set()
        """Codes whose evaluations were dropped since the edit: they are evaluated as if for the first time."""
        self._remade: dict[Module, list[tuple[Function, CallContext, Summary | None, Summary]]] = {}
        """What was evaluated since the edit, with what it was before: None where it was not called so."""
        self._codes: dict[Module, set[FunctionCode]] = {}
        """The functions that modules held before the edit."""

    def edited(self) -> None:
        """The text of the program is another one now."""
        self._remade.clear()
        self._forgotten.clear()
        self.contexts.unsettled.clear()

    def made(self, function: Function, given: CallContext, old: Summary | None, new: Summary) -> None:
        """A function was evaluated."""
        module, revision = function.module, self.revisions.revision
        if module not in self._codes:  # its first reading
            return
        self._remade.setdefault(module, []).append((function, given, old, new))
        if (old is not None and old.made_at < revision and (old.writes_outside or new.writes_outside)) or (
            function.code in self.contexts.at_limit
            and any(summary.made_at < revision for summary in self.contexts.of(function).values())
        ):
            self.contexts.disordered.add(module)

    def used_again(self, function: Function, given: CallContext, summary: Summary) -> None:
        """A kept evaluation is asked for: one that nobody used before the edit, as when one is taken back, is like new."""
        if summary.last_pass < self.revisions.passes_before and function.module in self._codes:
            self._remade.setdefault(function.module, []).append((function, given, None, summary))

    def forget_touched_cycles(self, module: Module) -> bool:
        """True when an edit has changed something that a cycle has looked at: it is forgotten before somebody asks half."""
        cycles = self.cycles(module) if module in self._codes else set()
        if not cycles:
            return False
        changed = self.changed(module)
        touched = {
            code
            for code, _, one in self.evaluations(module)
            if code in cycles
            and any(
                self.read_set(module, used).bits & changed for _, used in self.reached(module, [(code, one)])
            )
        }
        codes = self.resting_on(module, touched)
        if codes:
            self.forget(module, codes)
        return bool(codes)

    def is_as_fresh(self, module: Module, functions: dict[FunctionCode, Function]) -> bool:
        """True when a fresh reading would have begun evaluations in the same order; else what depends on it is forgotten.

        `functions` are those that are in the module now.
        """
        before = self._codes.get(module)
        if before is None:  # its first reading
            return True
        if module in self.contexts.disordered:
            self.forget_all(module)
            return False
        cycles = self.cycles(module)
        entered = cycles & self.entered(module, functions, cycles)
        if cycles and self.contexts.unsettled:
            entered |= closure(cycles, self.users()) & self.contexts.unsettled
        entered &= (before & functions.keys()) - self._forgotten
        # Of what does not come to rest, one question more would be one too many: all of it is evaluated anew, once.
        codes = self.resting_on(module, entered | (self._forgotten & functions.keys()) if entered else set())
        self.contexts.forget([one for one in self.of_module(module) if one.code not in functions])
        if codes is None:
            self.forget_all(module)
        elif codes:
            self.forget(module, codes)
        return codes is not None and not codes

    def read(self, module: Module, functions: dict[FunctionCode, Function]) -> None:
        """These are the functions that a module holds from now on."""
        self._codes[module] = set(functions)

    def cycles(self, module: Module) -> set[Code]:
        """The functions of a module that rest on each other, and those on the way from one such cycle to another."""
        used: dict[Code, set[Code]] = {}
        for code, _, summary in self.evaluations(module):
            if summary.in_cycle:
                used.setdefault(code, set()).update([one for one, _ in self.read_set(module, summary).used])
        users: dict[Code, list[Code]] = {}
        for code, others in used.items():
            others &= used.keys()
            for other in others:
                users.setdefault(other, []).append(code)
        waiting = [code for code, others in used.items() if not others]
        while waiting:  # called from a cycle, but not part of one
            code = waiting.pop()
            del used[code]
            for user in users.get(code, ()):
                used[user].discard(code)
                if not used[user]:
                    waiting.append(user)
        return set(used)

    def entered(
        self, module: Module, functions: dict[FunctionCode, Function], cycles: set[Code]
    ) -> set[Code]:
        """The functions to which something leads that was evaluated otherwise before the edit, or not at all.

        Of what is used only that counts which leads into cycles.
        """
        if not cycles:
            return set()
        leading: dict[int, bool] = {}
        former = [
            one
            for one in self.of_module(module)
            if (held := functions.get(one.code)) is not one and held != one and not self.is_in_use(one)
        ]
        twins = {one.code.qualname: one for one in former}
        same: dict[int, int] = {}
        """Evaluations that lead into cycles as those did which they stand for."""
        waiting: list[Used] = []

        def leads(used: Used) -> bool:
            if id(used[1]) not in leading:
                leading[id(used[1])] = any(code in cycles for code, _ in self.reached(module, [used]))
            return leading[id(used[1])]

        def entries(summary: Summary | None) -> list[Used]:
            used = self.read_set(module, summary).used if summary is not None else ()
            return [one for one in used if leads(one)]

        for function, given, old, new in self._remade.get(module, ()):
            if old is None and (twin := twins.get(function.code.qualname)) is not None:  # written anew
                old = self.contexts.find(twin, given)
            before, now = entries(old), entries(new)
            ways = [[same.get(id(one), id(one)) for _, one in used] for used in (before, now)]
            if ways[0] == ways[1]:
                same[id(new)] = id(old)
                same[id(old)] = id(old)
            else:
                waiting += [*before, *now]
            if new.in_cycle:
                waiting.append((function.code, new))
        for function in former:
            for old in self.contexts.of(function).values():
                if id(old) not in same:
                    waiting += entries(old)
        return {code for code, _ in self.reached(module, waiting)}

    def is_in_use(self, function: Function) -> bool:
        """True when an evaluation of a function was used since the edit. One that stands in a function is another each time
        that this is evaluated, and several of them can be in use."""
        before = self.revisions.passes_before
        return any(summary.last_pass > before for summary in self.contexts.of(function).values())

    def reached(self, module: Module, new: list[Used]) -> Iterable[Used]:
        """Some evaluations and all that they used, each once."""
        seen: dict[int, Used] = {}
        waiting = list(new)
        while waiting:
            code, summary = waiting.pop()
            if id(summary) not in seen:
                seen[id(summary)] = (code, summary)
                waiting += self.read_set(module, summary).used
        return seen.values()

    def resting_on(self, module: Module, codes: set[Code]) -> set[Code] | None:
        """What has to be forgotten with some functions: all that use them, directly or not, and the methods that set what
        these look at, since a fresh reading does not know from the beginning how they are called.

        None when it is the whole module: others use it, functions are called in more ways than are kept apart, or something
        is looked at that is known only at the end of a pass.
        """
        if not codes:
            return codes
        near = self.users()
        setters = {function.code for function in self.contexts.asked}
        for code, users in list(near.items()):
            if code in setters:
                for user in users:
                    near.setdefault(user, set()).add(code)
        found = closure(codes, near)
        for code, owner, summary in self.evaluations():
            if code in found and (
                owner is not module
                or code in self.contexts.at_limit
                or any(map(self.is_written, summary.dependencies))
            ):
                return None
        return found

    def users(self) -> dict[Code, set[Code]]:
        """By function, those with evaluations that used one of its evaluations."""
        users: dict[Code, set[Code]] = {}
        for code, owner, summary in self.evaluations():
            for used, _ in self.read_set(owner, summary).used:
                users.setdefault(used, set()).add(code)
        return users

    def is_written(self, dependency: tuple[object, tuple[object, ...], object]) -> bool:
        """True for a question about an attribute that is also set, or filled, from outside."""
        _, subject, _ = dependency
        asked = subject[0]
        if type(asked) is not UserInstance:
            return False
        places = self.writes.by_place
        return bool(
            places.get((asked.cls, str(subject[1]))) or places.get((asked.cls, f"{GROWTH}{subject[1]}"))
        )

    def of_module(self, module: Module) -> list[Function]:
        """The functions of a module that have evaluations."""
        return [function for function in self.contexts.evaluations if function.module is module]

    def evaluations(self, module: Module | None = None) -> Iterator[tuple[Code, Module, Summary]]:
        """All evaluations of functions, or those of a module's."""
        for function, known in self.contexts.evaluations.items():
            if module is None or function.module is module:
                for summary in known.values():
                    yield function.code, function.module, summary

    def forget(self, module: Module, codes: set[Code]) -> None:
        """Drop the evaluations of some functions of a module, and let it be followed again."""
        self._forgotten |= codes
        self.contexts.forget([function for function in self.contexts.evaluations if function.code in codes])
        for statement, summary in list(module.kept.items()):
            if any(code in codes for code, _ in self.read_set(module, summary).used):
                del module.kept[statement]
        module.revision = module.demanded_at = -2
        self.revisions.changes += 1
        self.revisions.passes += 1

    def forget_all(self, module: Module) -> None:
        """Drop all evaluations of a module, so that it is read as if for the first time."""
        self.contexts.forget(self.of_module(module))
        self.contexts.disordered.discard(module)
        self.writes.forget(module)
        module.forget()
        self.revisions.changes += 1
        self.revisions.passes += 1


def closure(codes: Iterable[Code], near: dict[Code, set[Code]]) -> set[Code]:
    """These codes, and all to which something leads from them."""
    found: set[Code] = set()
    waiting = list(codes)
    while waiting:
        code = waiting.pop()
        if code not in found:
            found.add(code)
            waiting += near.get(code, ())
    return found
