"""Whether what going through the program showed agrees with what was assumed on the way, and what is to be found anew.

Some answers are known only at the end: what is set on an object from outside, in which ways a method is called. Others
outlive an edit because they lean on themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from energy_code.execution import Execution
from energy_code.facts import Facts, grown, note_behind
from energy_code.modules import Module
from energy_code.values import UNKNOWN, Function, UserClass, UserInstance, Value

if TYPE_CHECKING:
    from energy_code.codes import Code
    from energy_code.frames import Given, Summary
    from energy_code.importing import Resolve
    from energy_code.survey import Survey
    from energy_data.catalogue import Catalogue

Importers = Callable[[Module], list[Module]]
MAX_CONTEXTS = 6
"""How many different ways of calling a function are told apart."""


class Settling(Execution):
    """Adds what the modules of one program have to agree on."""

    def __init__(self, catalogue: Catalogue, resolve: Resolve, importers: Importers) -> None:
        super().__init__(catalogue, resolve)
        self.importers = importers
        self.turn = 0
        """Counts how often the program was gone through from its top: after each edit, and when it is not settled."""
        self.contexts: dict[Function, dict[Given, Summary]] = {}
        """The evaluations of each function, by what it was given."""
        self.facts: dict[tuple[UserClass | Module, str], dict[Module, Value]] = {}
        """What code leaves behind on objects of others, by the module whose code does it."""
        self.facts_asked: set[tuple[UserClass | Module, str]] = set()
        self.predecessors: dict[Function, Function] = {}
        """Methods that an edit has written anew, with what they were before."""
        self.crowds: dict[Function, list[Given]] = {}
        """Functions that are called in as many ways as are told apart, or more, with those that are, as they were met."""
        self.contexts_asked: set[Function] = set()
        """Functions that set something, of which it was asked how they are called."""

    def fact(self, subject: UserClass | Module, name: str) -> Value:
        """What an attribute of a class's objects, or a module's global, is set to or filled with elsewhere."""
        key = (subject, name)
        self.facts_asked.add(key)
        result: Value = UNKNOWN
        for value in self.facts.get(key, {}).values():
            result = value if result is UNKNOWN else grown(result, value)
        return result

    def gather_facts(self, module: Module) -> None:
        """See what importing a module, or those that import it, leaves behind: registries are filled so."""
        if module.fillers_at == self.revision or module.running or module.current is not None:
            return
        module.fillers_at = self.revision
        settled = True
        seen: list[Module] = []
        before = [
            other
            for (subject, _), known in self.facts.items()
            if (subject.module if isinstance(subject, UserClass) else subject) is module
            for other in known
        ]
        users = self.importers(module)
        module.filled_elsewhere = module.filled_elsewhere or bool(users)
        for other in (module, *users, *before):
            if other.gathered_at == self.revision or other.running or other.current is not None:
                continue
            other.gathered_at = self.revision
            self.execute(other)
            found: Facts = {}
            note_behind(found, [summary for _, _, summary in other.summaries], {})
            settled = self.settle_facts(other, found) and settled
            seen.append(other)
        if not settled:
            self.clock += 1
            for other in seen:  # some of them may have looked before others were seen
                other.ask_again()

    def settle(self, module: Module, survey: Survey) -> bool:
        """Take over what going through a whole module showed; False when somebody was told otherwise on the way."""
        settled = self.settle_facts(module, survey.facts)
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

    def settle_facts(self, module: Module, found: Facts) -> bool:
        """Take over what a module's code leaves behind on objects of others."""
        settled = True
        for key in list(self.facts.keys() | found.keys()):
            known = self.facts.setdefault(key, {})
            old, new = known.get(module), found.get(key)
            if old == new:
                continue
            if new is None:
                del known[module]
            else:
                known[module] = new
            subject, name = key
            module.fills = True
            if isinstance(subject, Module):
                subject.filled.add(name)
                subject.settled.clear()
            else:
                self.classes_at = self.revision
            settled = settled and key not in self.facts_asked
        return settled

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
        if any(self.outlives(function, name) for name in names for function in self.contexts):
            self.outdate({(cls, name) for name in names})

    def unsettle_globals(self, module: Module, names: Collection[str]) -> None:
        """The same for globals that functions bind: `total = total + 1` vouches for itself too."""
        if names:
            self.outdate({(module, name) for name in names})

    def outdate(self, places: set[tuple[UserClass | Module, str]]) -> None:
        """Let everything be found anew that follows from attributes of classes or from globals of modules."""
        names = {name for _, name in places}
        calls: set[tuple[Function, Given]] = set()
        codes: set[Code] = set()
        found = True
        while found:
            found = False
            for function, known in self.contexts.items():
                for given, summary in known.items():
                    if (
                        summary.running
                        or summary.outdated
                        or not may_lean(summary, names, codes)
                        or not self.leans(function, summary, places, calls)
                    ):
                        continue
                    found = summary.outdated = True
                    summary.verified = -1
                    calls.add((function, given))
                    codes.add(function.code)
                    places.update((function.module, name) for name in summary.written)
                    names.update(summary.written)
                    if function.owner is not None:
                        places.update((function.owner, name) for name in summary.attributes)
                        names.update(summary.attributes)
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
        self,
        function: Function,
        summary: Summary,
        places: set[tuple[UserClass | Module, str]],
        calls: set[tuple[Function, Given]],
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
                type(cls) is UserClass and name == subject[1] and self.descends(asked.cls, cls)
                for cls, name in places
            ):
                return True
        return False


def may_lean(summary: Summary, names: set[str], codes: set[Code]) -> bool:
    """False, found out fast, for an evaluation that has asked for none of the names and called none of the codes."""
    if not names.isdisjoint(summary.globals):
        return True
    for _, subject, _ in summary.dependencies:
        asked = subject[0]
        if asked.code in codes if type(asked) is Function else subject[1] in names:
            return True
    return False
