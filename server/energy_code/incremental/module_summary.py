"""All evaluations that describe one module: who calls its functions and how, what each call site reached, in which mode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from energy_code.interpreter.domain.definitions import Function, UserClass, UserInstance
from energy_code.interpreter.domain.values import TENSOR_VALUE, UNKNOWN, Value
from energy_code.interpreter.limits import MAX_INSTANCES, MAX_ROUNDS
from energy_code.interpreter.operations.side_effects import note, note_behind
from energy_code.interpreter.summary import CallContext, ResolvedCall, Summary, Writes
from energy_code.ir.code import Code, FunctionCode
from energy_code.model import Mode
from energy_code.models.tensorflow.callbacks import TENSOR_METHODS

if TYPE_CHECKING:
    from energy_code.incremental.engine import Engine
    from energy_code.interpreter.domain.definitions import Module
    from energy_code.ir.code import CallSite

GRAPH_METHODS = frozenset(
    ["call", "train_step", "test_step", "predict_step", "compute_loss", "compute_metrics"]
)


class Knowledge(NamedTuple):
    """What an analysis knows of each code."""

    sites: Mapping[CallSite, ResolvedCall]
    summaries: Mapping[Code, list[Summary]]
    modes: Mapping[Code | None, Mode]
    called: set[FunctionCode]

    def changed_since(self, old: Knowledge) -> set[Code]:
        """The codes of which something else is known than before."""
        if old is self:
            return set()
        changed: set[Code] = set()
        if self.sites != old.sites:
            before = old.sites.get
            changed.update(
                e.enclosing_code
                for e, site in self.sites.items()
                if (known := before(e)) is not site and known != site
            )
            changed.update(e.enclosing_code for e in old.sites.keys() - self.sites.keys())
        changed.update(code for code, found in self.summaries.items() if old.summaries.get(code) != found)
        changed.update(old.summaries.keys() - self.summaries.keys())
        changed.update(code for code, _ in self.modes.items() ^ old.modes.items() if code is not None)
        return changed | (self.called ^ old.called)


class ModuleSummary:
    """The evaluations of a module's code, and what follows from them together."""

    def __init__(self, engine: Engine, module: Module, in_order: bool = False) -> None:
        self.engine = engine
        self.module = module
        self.in_order = in_order
        """True to stop where something was evaluated in another order than in a fresh reading: all is forgotten then."""
        self.summaries: dict[Code, list[Summary]] = {}
        self.seen: dict[int, Summary] = {}
        self.functions: dict[FunctionCode, Function] = {}
        self.pending: list[Function] = []
        self.instances: dict[UserClass, list[UserInstance]] = {}
        self.callers: dict[FunctionCode, set[Code | None]] = {}
        self.marks: dict[FunctionCode, Mode] = {}
        self.gathered: dict[int, Summary] = {}
        """Evaluations of other modules' code whose external writes were taken over."""
        self.outside: list[tuple[Function, CallContext, Code | None]] = []
        """Calls into other modules of the project."""
        self.marked_elsewhere: list[tuple[Function, Mode]] = []
        """Functions of other modules that code of this one has traced."""
        self.external_writes: Writes = {}
        self._sites: Mapping[CallSite, ResolvedCall] | None = None
        self._modes: Mapping[Code | None, Mode] | None = None
        self._knowledge: Knowledge | None = None
        self.take()

    def take(self) -> None:
        """Follow every call from the top level, then every function that nobody calls."""
        engine, module = self.engine, self.module
        engine.modules.execute(module)
        for _, statement, summary in module.summaries:
            self.add(statement, summary)
        if self.is_in_vain():
            return
        for importer in summarised_importers(engine, module):
            for function, given, mode in importer.calls_into(module):
                self.visit(function, given, OUTSIDE[mode])
            for function, mode in importer.marked_elsewhere:
                if function.module is module:
                    self.marks.setdefault(function.code, mode)
        while self.pending and not self.is_in_vain():
            function = self.pending.pop()
            if function.code not in self.callers and function.module is module:
                for given in self.uncalled(function):
                    self.visit(function, given, NOBODY)
        engine.contexts.prune()

    def is_in_vain(self) -> bool:
        """True when the module is to be read as if for the first time, whatever else is found."""
        return self.in_order and self.module in self.engine.contexts.disordered

    def add(self, code: Code, summary: Summary) -> None:
        """Take in one evaluation and everything it leads to."""
        stack: list[tuple[Code, Summary]] = []
        self.see(code, summary, stack)
        module, seen, revisions = self.module, self.seen, self.engine.revisions
        changes, revision, current_pass = revisions.changes, revisions.revision, revisions.passes
        while stack:
            caller, current = stack.pop()
            for enclosing_code in current.values:
                self.summaries.setdefault(enclosing_code, []).append(current)
            for function, mode in current.marks:
                self.marks.setdefault(function.code, mode)
                if function.module is not module:
                    self.marked_elsewhere.append((function, mode))
            if current.external_writes:
                note(self.external_writes, current.external_writes)
            for function in current.defined:
                self.pending.append(function)
                self.functions[function.code] = function
                if function.code.globals:
                    module.note_setter(function)
            for function, given, callee in current.invocations:
                if function.module is not module:
                    callee.summarised_at = revision
                    self.outside.append((function, given, caller))
                    self.gather(callee)
                    continue
                self.callers.setdefault(function.code, set()).add(caller)
                if function.code.name == "__init__":
                    self.note_instance(given)
                if callee.replaced or callee.verified_at != changes:
                    callee = self.engine.summaries.summary(function, given)
                    if self.is_in_vain():
                        return
                callee.last_pass, callee.summarised_at = current_pass, revision
                if id(callee) not in seen or callee.shown:
                    self.see(function.code, callee, stack)

    def see(self, code: Code, summary: Summary, waiting: list[tuple[Code, Summary]]) -> None:
        """Let an evaluation be looked at, or what was reported in its place before the edit while it stands."""
        for one in summary.shown or (summary,):
            if id(one) not in self.seen:
                self.seen[id(one)] = one
                waiting.append((code, one))

    def note_shown(self) -> None:
        """Remember what was looked at and made again afterwards: a fresh reading reports it, too."""
        seen = self.seen.values()
        again = {id(last) for one in seen if (last := newest_of(one)) is not one or one.shown}
        if not again:
            return
        versions: dict[int, list[Summary]] = {}
        newest: dict[int, Summary] = {}
        for summary in seen:
            last = newest_of(summary)
            if id(last) in again:
                newest[id(last)] = last
                versions.setdefault(id(last), []).append(summary)
        for key, found in versions.items():
            newest[key].shown = tuple(found) if found != [newest[key]] else ()

    def gather(self, summary: Summary) -> None:
        """Take over the external writes that a call into another module leaves behind."""
        note_behind(self.external_writes, [summary], self.gathered)

    def visit(self, function: Function, given: CallContext, caller: Code | None) -> None:
        """Evaluate a function in a context that no code of the module calls it in."""
        if function.code not in self.callers:
            self.callers[function.code] = set()
        if caller is not NOBODY:
            self.callers[function.code].add(caller)
        summary = self.engine.summaries.summary(function, given)
        self.engine.invalidation.met(function, summary)
        summary.summarised_at = self.engine.revisions.revision
        self.add(function.code, summary)

    def note_instance(self, given: CallContext) -> None:
        """Remember objects of the program that are really made."""
        if given and type(given[0][1]) is UserInstance and given[0][1].given is not None:
            known = self.instances.setdefault(given[0][1].cls, [])
            if given[0][1] not in known and len(known) < MAX_INSTANCES:
                known.append(given[0][1])

    def uncalled(self, function: Function) -> list[CallContext]:
        """Contexts for a function that only the framework, a reader or nobody calls."""
        parameters = function.code.parameters
        if function.owner is None or not parameters:
            return [()]
        receivers: list[Value] = list(self.instances.get(function.owner, [])) or [
            UserInstance(function.owner)
        ]
        tensors: CallContext = ()
        if function.code.name in TENSOR_METHODS and self.engine.classes.api_bases(function.owner):
            tensors = tuple(
                (p.name, TENSOR_VALUE)
                for p in parameters[1:]
                if p.kind == "plain" and p.default is None and p.annotation is None
            )
        return [((parameters[0].name, receiver), *tensors) for receiver in receivers]

    # what follows ---------------------------------------------------------------------------------------------

    def sites(self) -> Mapping[CallSite, ResolvedCall]:
        """What each call reached, over all contexts: agreed answers stay certain, others become less so."""
        if self._sites is None:
            self._sites = self._merged_sites()
        return self._sites

    def _merged_sites(self) -> dict[CallSite, ResolvedCall]:
        merged: dict[CallSite, ResolvedCall] = {}
        for summary in self.seen.values():
            if merged.keys().isdisjoint(summary.sites):
                merged.update(summary.sites)
                continue
            for expression, site in summary.sites.items():
                old = merged.get(expression)
                merged[expression] = site if old is None else agreed(old, site)
        return merged

    def modes(self) -> Mapping[Code | None, Mode]:
        """Graph or jit for functions that are traced, or only called from such ones."""
        if self._modes is None:
            self._modes = self._spread_modes()
        return self._modes

    def _spread_modes(self) -> dict[Code | None, Mode]:
        modes: dict[Code | None, Mode] = {OUTSIDE[mode]: mode for mode in OUTSIDE if mode != "eager"}
        modes.update(self.marks.items())
        for code, function in self.functions.items():
            if code not in modes and self.framework_traces(function):
                modes[code] = "graph"
        waiting = {code: callers - {code} for code, callers in self.callers.items() if code not in modes}
        waiting = {code: callers for code, callers in waiting.items() if callers}
        while called := [code for code, callers in waiting.items() if callers <= modes.keys()]:
            for code in called:
                found = {modes[caller] for caller in waiting.pop(code)}
                modes[code] = "jit" if found == {"jit"} else "graph"
        return modes

    def knowledge(self) -> Knowledge:
        """What all answers about expressions rest on."""
        if self._knowledge is None:
            called = {code for code, callers in self.callers.items() if callers}
            self._knowledge = Knowledge(self.sites(), self.summaries, self.modes(), called)
        return self._knowledge

    def calls_into(self, module: Module) -> list[tuple[Function, CallContext, Mode]]:
        """How this module calls functions of another one."""
        outside = [call for call in self.outside if call[0].module is module]
        return [(function, given, self.modes().get(caller, "eager")) for function, given, caller in outside]

    def framework_traces(self, function: Function) -> bool:
        """True for methods that Keras runs as a graph."""
        if function.owner is None or function.code.name not in GRAPH_METHODS or self.module.eager_models:
            return False
        bases = self.engine.classes.api_bases(function.owner)
        return any(self.engine.public.catalogue.is_subclass(base, "keras.Layer") for base in bases)

    def value_at(self, enclosing_code: Code, start: int, end: int) -> Value:
        """What an expression was in the first context that knows it."""
        for summary in self.summaries.get(enclosing_code, ()):
            value = positions_of(summary, enclosing_code).get((start, end))
            if value is not None:
                return value
        return UNKNOWN


def newest_of(summary: Summary) -> Summary:
    """What was made last in the place of an evaluation."""
    while summary.newer is not None:
        summary = summary.newer
    return summary


def agreed(old: ResolvedCall, site: ResolvedCall) -> ResolvedCall:
    """One answer of two contexts: where they differ, the surer one with less confidence."""
    if old.api == site.api:
        return old
    return max(old, site, key=lambda found: found.confidence)._replace(
        confidence=min(old.confidence, site.confidence, 0.5)
    )


def positions_of(summary: Summary, enclosing_code: Code) -> dict[tuple[int, int], Value]:
    """The values of a code's expressions by their place; made when first asked for."""
    known = summary.positions.get(enclosing_code)
    if known is None:
        known = {(e.start, e.end): value for e, value in summary.values[enclosing_code].items()}
        summary.positions[enclosing_code] = known
    return known


OUTSIDE: dict[Mode, Code] = {"eager": Code("", "", 0), "graph": Code("", "", 0), "jit": Code("", "", 0)}
"""Stand for callers in other modules."""
NOBODY = Code("", "", 0)


def summary_of_module(engine: Engine, module: Module) -> ModuleSummary:
    """The summary of a module, kept while nothing in the program changes."""
    summary = module.summary
    if not isinstance(summary, ModuleSummary) or module.summarised_at != engine.revisions.revision:
        module.gathered_at = engine.revisions.revision
        engine.modules.execute(module)
        if engine.order.forget_touched_cycles(module):
            engine.invalidation.begin_again()
        summary = followed(engine, module, in_order=True)
        if not engine.order.is_as_fresh(module, summary.functions):
            engine.invalidation.begin_again()
            summary = followed(engine, module)
        engine.order.read(module, summary.functions)
        summary.note_shown()
        module.summarised_at = engine.revisions.revision
    return summary


def followed(engine: Engine, module: Module, in_order: bool = False) -> ModuleSummary:
    """A module followed from its top until its end agrees with what was assumed on the way."""
    summary = module.summary = ModuleSummary(engine, module, in_order)
    for _ in range(MAX_ROUNDS):
        if summary.is_in_vain() or engine.invalidation.agrees(module, summary):
            break
        for user in users_of(engine, module):  # followed on the way, with what was known by then
            user.ask_again()
            user.summarised_at = -1
        summary = module.summary = ModuleSummary(engine, module, in_order)
    return summary


def users_of(engine: Engine, module: Module) -> list[Module]:
    """The modules that use a module, or one that does, and are not being gone through."""
    found: list[Module] = []
    waiting = [module]
    while waiting:
        users = [user for user in engine.importers(waiting.pop()) if user is not module and user not in found]
        found += users
        waiting += users
    return [user for user in found if not user.being_summarised and not user.running]


def summarised_importers(engine: Engine, module: Module) -> list[ModuleSummary]:
    """The summaries of the other modules of the project that use this one."""
    if module.being_summarised:
        return []
    module.being_summarised = True
    try:
        return [
            summary_of_module(engine, one) for one in engine.importers(module) if not one.being_summarised
        ]
    finally:
        module.being_summarised = False
