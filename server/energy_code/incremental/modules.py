"""What a program's modules bind: their top levels are run statement by statement, as far as something changed."""

from __future__ import annotations

from collections.abc import Callable

from energy_code.incremental.dependencies import bit_of
from energy_code.incremental.external_writes import ExternalWrites
from energy_code.incremental.invalidation import Invalidation
from energy_code.interpreter.classes import Classes
from energy_code.interpreter.domain.definitions import (
    Function,
    Module,
    ProjectModule,
    UserClass,
    globals_bound,
)
from energy_code.interpreter.domain.lattice import is_empty, join
from energy_code.interpreter.domain.values import (
    NONE,
    UNKNOWN,
    ApiModule,
    External,
    Mapping,
    Sequence,
    Value,
)
from energy_code.interpreter.limits import STATEMENTS_AT_ONCE
from energy_code.interpreter.operations.imports import Imports
from energy_code.interpreter.operations.side_effects import grown, note_behind
from energy_code.interpreter.revisions import Revisions
from energy_code.interpreter.summary import Summary, Writes
from energy_code.ir.code import TopLevelStatement
from energy_code.models.builtins import BUILTIN_NAMES
from energy_code.process import budget

RunStatement = Callable[[Module, TopLevelStatement], Summary]
WrittenBy = Callable[[Function, str], Value]


class Modules:
    """Answers what the global names of modules are, and runs their top levels for it."""

    def __init__(
        self,
        revisions: Revisions,
        imports: Imports,
        classes: Classes,
        writes: ExternalWrites,
        invalidation: Invalidation,
        importers: Callable[[Module], list[Module]],
        run_statement: RunStatement,
        written_by: WrittenBy,
    ) -> None:
        self.revisions = revisions
        self.imports = imports
        self.classes = classes
        self.writes = writes
        self.invalidation = invalidation
        self.importers = importers
        self.run_statement = run_statement
        self._starring: set[tuple[Module, str]] = set()
        """Names that are being looked for in star imports, each in the module that has them."""
        """Runs one top-level statement."""
        self.written_by = written_by
        """What a function binds a global to."""

    def filled(self, module: Module, name: str, value: Value) -> Value:
        """A container with what functions add to it."""
        if type(value) not in (Mapping, Sequence):
            return value
        if is_empty(value):
            self.gather_writes(module)
        added = self.writes.value(module, name)
        return grown(value, added) if added is not UNKNOWN else value

    def gather_writes(self, module: Module) -> None:
        """See what importing a module, or those that import it, writes to objects of others: registries are filled so."""
        revision = self.revisions.revision
        if module.fillers_at == revision or module.running or module.current is not None:
            return
        module.fillers_at = revision
        same = True
        seen: list[Module] = []
        before = self.writes.writers(module)
        users = self.importers(module)
        module.filled_elsewhere = module.filled_elsewhere or bool(users)
        for other in (module, *users, *before):
            if other.gathered_at == revision or other.running or other.current is not None:
                continue
            other.gathered_at = revision
            self.execute(other)
            found: Writes = {}
            note_behind(found, [summary for _, _, summary in other.summaries], {})
            same = self.writes.replace(other, found) and same
            seen.append(other)
        if not same:
            self.revisions.changes += 1
            for other in seen:  # some of them may have looked before others were seen
                other.ask_again()

    def execute(self, module: Module) -> None:
        """Run a module's top level, statement by statement; unchanged ones whose answers hold are not run again."""
        if module.revision == self.revisions.revision or module.running:
            return
        module.previous, module.revision = module.revision, self.revisions.revision
        module.running = True
        before, stars = module.names, module.stars
        kept, module.kept = module.kept, {}
        gone = kept.keys() - {statement for _, statement in module.statements}
        self.invalidation.globals_lost(module, set().union(*map(globals_bound, gone)))
        module.names, module.stars, module.summaries = {}, [], []
        if module.rebound:  # what functions gave was last looked at when all was bound
            self.revisions.changes += 1
        module.watched.clear()
        module.rebound.clear()
        module.final_globals.clear()
        setters, module.global_setters = module.global_setters, {}
        for number, (start, statement) in enumerate(module.statements, 1):
            if not number % STATEMENTS_AT_ONCE and not budget.is_left():
                break
            summary = kept.get(statement)
            if summary is None or not self.invalidation.holds(module, summary):
                summary = self.run_statement(module, statement)
            else:
                for function in summary.defined:
                    module.note_setter(function)
                self.declare_again(module, summary)
            module.kept[statement] = summary
            module.summaries.append((start, statement, summary))
            for name, value in summary.written.items():
                if name in module.watched:
                    self.rebound(module, name, value)
                module.names[name] = value
            module.stars.extend(summary.attributes.values())
        module.running = False
        after = module.names
        module.changed = {
            name
            for name in before.keys() | after.keys()
            if (old := before.get(name)) is not (new := after.get(name)) and old != new
        }
        module.changed |= module.rebound  # not what evaluations in between have seen
        if module.stars != stars:  # any name may have come from one
            module.changed.update(module.read)
        # What functions bind them to, or fill them with, is asked each time.
        module.changed.update(setters, module.global_setters, module.filled)
        module.mark_dirty(module.revision, sum([bit_of(module, name) for name in module.changed]))

    def declare_again(self, module: Module, summary: Summary) -> None:
        """A statement is not run again: of classes that others of the same name stood for, its own count from here."""
        for name, info in summary.classes.items():
            if (before := module.classes.get(name)) is not info:
                cls = UserClass(module, name)
                self.classes.declare_class(cls, info)
                self.invalidation.class_declared(cls, before, {})

    def rebound(self, module: Module, name: str, value: Value) -> None:
        """A global that functions have read changes while the top level runs."""
        if self.peek(module, name) != value:
            self.revisions.changes += 1
            module.watched.discard(name)
            module.rebound.add(name)

    def peek(self, module: Module, name: str) -> Value | None:
        """A global as bound so far; of a module that was only imported, the statements that bind it are run."""
        if module.current is not None and (value := module.current.names.get(name)) is not None:
            return value
        if module.revision == self.revisions.revision:
            return module.names.get(name)
        return self.demand(module, name)

    def bound_so_far(self, module: Module, name: str) -> Value | None:
        """What earlier statements of a module's top level have bound a name to; None where none has."""
        return module.names.get(name)

    def demand(self, module: Module, name: str) -> Value | None:
        """One global of a module whose top level has not been run as a whole."""
        if module.demanded_at != self.revisions.revision:
            module.demanded, module.demanded_at = {}, self.revisions.revision
            module.stars = []
            for statement in module.star_units():
                self.statement_summary(module, statement)
        if name in module.demanded:
            return module.demanded[name]
        value = module.demanded[name] = None
        for statement in module.binders().get(name, ()):
            value = self.statement_summary(module, statement).written.get(name, value)
            module.demanded[name] = value
        return value

    def statement_summary(self, module: Module, statement: TopLevelStatement) -> Summary:
        """The execution of one top-level statement by itself, kept or made now."""
        revision = self.revisions.revision
        summary = module.kept.get(statement)
        if summary is None or (
            summary.verified_at != revision and not self.invalidation.holds(module, summary)
        ):
            summary = module.kept[statement] = self.run_statement(module, statement)
        else:
            self.declare_again(module, summary)
        summary.verified_at = revision
        module.stars.extend(star for star in summary.attributes.values() if star not in module.stars)
        return summary

    # global names -------------------------------------------------------------------------------------------

    def global_value(self, module: Module, name: str) -> Value:
        """A global name as code inside the module sees it."""
        if module.revision != self.revisions.revision or module.running or module.current is not None:
            return self.find_global(module, name)
        value = module.final_globals.get(name)
        if value is None:
            value = self.find_global(module, name)
            if name not in module.global_setters:  # what functions bind is asked each time
                module.final_globals[name] = value
        return value

    def find_global(self, module: Module, name: str) -> Value:
        """A global name, looked for in the module, in star imports and among the built-ins."""
        module.watched.add(name)
        module.read.add(name)
        value = self.peek(module, name)
        if value is None:
            value = self.starred(module, name)
            if value is not UNKNOWN:
                return value
            if name in BUILTIN_NAMES:
                return External(f"builtins.{name}")
        if (value is UNKNOWN or value is NONE) and name in module.global_setters:
            for function in list(module.global_setters[name].values()):
                written = self.written_by(function, name)
                value = join(value, written) if value is not UNKNOWN else written
        return self.filled(module, name, value)

    def starred(self, module: Module, name: str) -> Value:
        """A name that one of a module's star imports brought; unknown when none did."""
        if (module, name) in self._starring:  # modules that star-import each other in a circle
            return UNKNOWN
        self._starring.add((module, name))
        try:
            members = (self.star_member(star, name) for star in module.stars)
            return next((member for member in members if member is not UNKNOWN), UNKNOWN)
        finally:
            self._starring.discard((module, name))

    def star_member(self, star: Value, name: str) -> Value:
        """A name that a star import may have brought."""
        if name.startswith("_"):
            return UNKNOWN
        if type(star) is ApiModule:
            return self.imports.public.module_member(star.name, name)
        return self.export(star.module, name) if type(star) is ProjectModule else UNKNOWN

    def export(self, module: Module, name: str) -> Value:
        """A global name as other modules see it; submodules of a package count."""
        module.read.add(name)
        value = self.peek(module, name)
        if value is None:
            value = self.starred(module, name)
            if value is not UNKNOWN:
                return value
            child = self.imports.resolve(f"{module.name}.{name}", None) if module.is_package else None
            return ProjectModule(child) if child is not None else UNKNOWN
        return self.filled(module, name, value)
