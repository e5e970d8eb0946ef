"""The evaluations of functions: kept, or made now. What makes one stale is `invalidation.py`'s to say."""

from __future__ import annotations

from collections.abc import Callable

from energy_code.incremental.contexts import Contexts, general
from energy_code.incremental.invalidation import Invalidation
from energy_code.incremental.order import Order
from energy_code.interpreter.domain.definitions import Function
from energy_code.interpreter.domain.values import UNKNOWN, Unknown, Value
from energy_code.interpreter.evaluation_stack import NO_CYCLE, EvaluationStack
from energy_code.interpreter.limits import MAX_CALL_DEPTH, MAX_CONTEXTS, MAX_RECURSIONS
from energy_code.interpreter.questions import Basis, rests_on
from energy_code.interpreter.revisions import Revisions
from energy_code.interpreter.summary import CallContext, Summary
from energy_code.process import budget

CHANGED = Unknown()
"""Answers a question that is to be asked in another way now."""
RunFunction = Callable[[Function, CallContext, Summary], None]


class Summaries:
    """Answers what a call of a function of the program gives and does."""

    def __init__(
        self,
        revisions: Revisions,
        contexts: Contexts,
        stack: EvaluationStack,
        invalidation: Invalidation,
        order: Order,
        run: RunFunction,
    ) -> None:
        self.revisions = revisions
        self.contexts = contexts
        self.stack = stack
        self.invalidation = invalidation
        self.order = order
        self.run = run
        """Runs the body of a function and puts what was found into a summary."""

    def invocation(self, function: Function, asked: CallContext) -> tuple[CallContext, Summary]:
        """The evaluation of a call and its context: what it was given, or the general one when there are too many."""
        given, summary = self.chosen(function, asked)
        self.invalidation.met(function, summary)
        summary.invoked_at = self.revisions.revision
        return given, summary

    def chosen(self, function: Function, asked: CallContext) -> tuple[CallContext, Summary]:
        """The context that a call is evaluated in, and the evaluation."""
        known = self.contexts.evaluations.get(function)
        if known is None:
            return asked, self.current(function, asked, None)
        summary = known.get(asked)
        if summary is None:
            running = [other for other, summary in known.items() if summary.running]
            if len(running) >= MAX_RECURSIONS:
                return running[-1], self.current(function, running[-1], known[running[-1]])
        if len(known) >= MAX_CONTEXTS and (given := self.contexts.limited(function, asked)) is not asked:
            return given, self.current(function, given, known.get(given))
        return asked, self.current(function, asked, summary)

    @rests_on(Basis.CALL)
    def called(self, function: Function, asked: CallContext, given: CallContext) -> Value:
        """What a call gives that was evaluated in the context `given`; asks whether that still is its context."""
        if (
            function in self.contexts.evaluations
            and (given is asked or given == general(function, asked))
            and self.contexts.limited(function, asked) != given
        ):
            return CHANGED
        summary = self.summary(function, given)
        return summary.returns if summary is not self.stack.asker else UNKNOWN  # it did not know while it ran

    def summary(self, function: Function, given: CallContext) -> Summary:
        """The evaluation of a function in a context, kept or made now."""
        known = self.contexts.evaluations.get(function)
        return self.current(function, given, known.get(given) if known is not None else None)

    def current(self, function: Function, given: CallContext, summary: Summary | None) -> Summary:
        """An evaluation if it still stands, else one made now."""
        if summary is not None:
            self.order.used_again(function, given, summary)
            summary.last_pass = self.revisions.passes
            if summary.running:
                self.stack.use_unfinished(summary)
                return summary
            if summary.verifying and not summary.outdated:
                summary.depended_on = True
                return summary
            if self.invalidation.is_current(function, given, summary):
                return summary
        if self.stack.depth >= MAX_CALL_DEPTH or not budget.is_left():
            return Summary()
        return self.evaluate(function, given, summary)

    def evaluate(self, function: Function, given: CallContext, old: Summary | None) -> Summary:
        """Run a function's body."""
        stack, revisions = self.stack, self.revisions
        summary = Summary()
        summary.made_at = revisions.revision
        self.contexts.put(function, given, summary)
        if old is not None:
            old.replaced, old.newer = True, summary
            summary.invoked_at, summary.summarised_at = old.invoked_at, old.summarised_at
        summary.first_pass = old.first_pass if old is not None else revisions.passes
        summary.last_pass = revisions.passes
        stack.depth += 1
        summary.running, summary.provisional = True, stack.depth
        self.run(function, given, summary)
        summary.running, summary.provisional = False, -1
        summary.verified_at = revisions.changes
        if stack.cycle_head < stack.depth:  # it rests on one that still runs
            summary.verified_at, summary.provisional = -1, revisions.cycles
            summary.in_cycle = True
        elif stack.cycle_head == stack.depth:  # the cycle ends here
            stack.cycle_head = NO_CYCLE
            revisions.cycles += 1
            summary.in_cycle = True
        elif old is not None and old.in_cycle:  # made again when the cycle had been closed
            summary.in_cycle = True
        stack.depth -= 1
        self.order.made(function, given, old, summary)
        self.invalidation.replaced(function, given, old, summary)
        return summary
