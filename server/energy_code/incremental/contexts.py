"""The evaluations of each function, one for each of the ways in which it is called, up to a limit."""

from __future__ import annotations

from energy_code.interpreter.domain.definitions import Function, Module, UserClass, UserInstance
from energy_code.interpreter.limits import MAX_CONTEXTS, PASSES_KEPT, SPARE_EVALUATIONS
from energy_code.interpreter.revisions import Revisions
from energy_code.interpreter.summary import CallContext, Summary
from energy_code.ir.code import FunctionCode


class Contexts:
    """Answers which evaluations of a function are kept, and which one a call belongs to."""

    def __init__(self, revisions: Revisions) -> None:
        self.revisions = revisions
        self.evaluations: dict[Function, dict[CallContext, Summary]] = {}
        """By function and by what it was given."""
        self.at_limit: set[FunctionCode] = set()
        """Functions that were once called in as many ways as are kept apart: who calls them asks which context counts."""
        self.order: dict[Function, list[CallContext]] = {}
        """Of functions at the limit, the contexts in the order in which they were met at the last pass."""
        self.asked: dict[Function, dict[UserClass | None, list[CallContext]]] = {}
        """Functions that set something, of which it was asked how they are called, and what was first known of it: for
        objects of a class, or for any."""
        self.disordered: set[Module] = set()
        """Modules in which something was evaluated again that depends on the order in which all is evaluated."""
        self.unsettled: set[FunctionCode] = set()
        """Functions that were asked again so often that the last answer had to do: they rest on each other."""
        self._most_kept = SPARE_EVALUATIONS
        """From so many evaluations on, those that nobody used lately are dropped."""

    def of(self, function: Function) -> dict[CallContext, Summary]:
        """The evaluations of a function by what it was given; not to be changed."""
        return self.evaluations.get(function, {})

    def find(self, function: Function, given: CallContext) -> Summary | None:
        """The evaluation in one context, if there is one."""
        known = self.evaluations.get(function)
        return known.get(given) if known is not None else None

    def put(self, function: Function, given: CallContext, summary: Summary) -> None:
        """This is the evaluation in one context from now on."""
        known = self.evaluations.setdefault(function, {})
        known[given] = summary
        if len(known) >= MAX_CONTEXTS:
            self.at_limit.add(function.code)

    def limited(self, function: Function, asked: CallContext) -> CallContext:
        """The context of a call: what it was given while there are few, else the general one.

        Only what this pass has met counts, not what edits left behind.
        """
        known = self.evaluations[function]
        if len(known) < MAX_CONTEXTS:
            return asked
        current = self.revisions.passes
        if (mine := known.get(asked)) is not None and mine.last_pass == current:
            return asked
        met = sum([summary.last_pass == current for summary in known.values()])
        return asked if met < MAX_CONTEXTS else general(function, asked)

    def live(self, function: Function, cls: UserClass | None) -> list[CallContext]:
        """The ways a function, or a method on instances of a class, is called, as far as they are known by now."""
        found = [
            given
            for given, summary in self.evaluations.get(function, {}).items()
            if self.is_live(summary)
            and given
            and (cls is None or (type(given[0][1]) is UserInstance and given[0][1].cls == cls))
        ]
        self.asked.setdefault(function, {}).setdefault(cls, found)
        return found

    def is_live(self, summary: Summary) -> bool:
        """True for the evaluation of a call that is in the program now, or was before the last edit."""
        revision = self.revisions.revision
        return summary.summarised_at >= max(revision - 1, 0) or summary.invoked_at == revision

    def missed(self, function: Function) -> bool:
        """True when somebody asked how a function is called before all ways were known. From now on they are."""
        first = self.asked[function]
        self.asked[function] = {}
        return any(len(known) < len(self.live(function, cls)) for cls, known in first.items())

    def forget(self, gone: list[Function]) -> None:
        """Drop all evaluations of some functions."""
        for function in gone:
            del self.evaluations[function]
            self.order.pop(function, None)
        self.at_limit.difference_update([function.code for function in gone])
        for function in gone:
            self.asked.pop(function, None)

    def prune(self) -> None:
        """Drop evaluations that no recent pass has used."""
        if sum(map(len, self.evaluations.values())) > self._most_kept:
            oldest = self.revisions.passes - PASSES_KEPT
            kept = {
                function: {given: summary for given, summary in known.items() if summary.last_pass >= oldest}
                for function, known in self.evaluations.items()
            }
            self.evaluations = {function: known for function, known in kept.items() if known}
            self.order = {function: order for function, order in self.order.items() if kept.get(function)}
            self._most_kept = SPARE_EVALUATIONS + sum(map(len, self.evaluations.values()))


def general(function: Function, given: CallContext) -> CallContext:
    """The context that stands for all others: only the receiver of a method is known."""
    return given[:1] if function.owner is not None else ()
