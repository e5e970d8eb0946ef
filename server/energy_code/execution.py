"""What a program's modules bind: their top levels are run statement by statement, as far as something changed."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from energy_code.class_questions import Classes
from energy_code.facts import grown
from energy_code.frames import Summary
from energy_code.libraries import BUILTIN_NAMES
from energy_code.modules import Module, globals_bound
from energy_code.reach import bit_of
from energy_code.values import (
    NONE,
    UNKNOWN,
    ApiModule,
    External,
    Function,
    Mapping,
    ProjectModule,
    Sequence,
    UserClass,
    Value,
    is_empty,
    join,
)

if TYPE_CHECKING:
    from energy_code.codes import Unit
    from energy_code.importing import Resolve
    from energy_data.catalogue import Catalogue


class Execution(Classes):
    """Runs modules and answers what their global names are."""

    def __init__(self, catalogue: Catalogue, resolve: Resolve) -> None:
        super().__init__(catalogue, resolve)
        self.clock = 0
        """Counts on whenever something changes that evaluations may have looked at."""
        self.annotations_followed: list[Value] = []
        """Names of annotations, in quotes or as aliases, that are being looked up."""

    def execute_unit(self, module: Module, unit: Unit) -> Summary:
        """Run one top-level statement."""
        raise NotImplementedError

    def written_by(self, function: Function, name: str) -> Value:
        """What a function binds a global to."""
        raise NotImplementedError

    def unsettle_globals(self, module: Module, names: Collection[str]) -> None:
        """Something that bound globals does so no longer."""
        raise NotImplementedError

    def fact(self, subject: UserClass | Module, name: str) -> Value:
        """What a global is filled with elsewhere."""
        raise NotImplementedError

    def gather_facts(self, module: Module) -> None:
        """See what is left behind by modules that nobody has gone through as a whole."""
        raise NotImplementedError

    def filled(self, module: Module, name: str, value: Value) -> Value:
        """A container with what functions add to it."""
        if type(value) not in (Mapping, Sequence):
            return value
        if is_empty(value):
            self.gather_facts(module)
        added = self.fact(module, name)
        return grown(value, added) if added is not UNKNOWN else value

    def execute(self, module: Module) -> None:
        """Run a module's top level, statement by statement; unchanged ones whose answers hold are not run again."""
        if module.revision == self.revision or module.running:
            return
        module.previous, module.revision = module.revision, self.revision
        module.running = True
        before, stars = module.names, module.stars
        kept, module.kept = module.kept, {}
        gone = kept.keys() - {unit for _, unit in module.units}
        self.unsettle_globals(module, set().union(*map(globals_bound, gone)))
        module.names, module.stars, module.summaries = {}, [], []
        if module.rebound:  # what functions gave was last looked at when all was bound
            self.clock += 1
        module.watched.clear()
        module.rebound.clear()
        module.settled.clear()
        setters, module.global_setters = module.global_setters, {}
        for start, unit in module.units:
            summary = kept.get(unit)
            if summary is None or not self.holds(module, summary):
                summary = self.execute_unit(module, unit)
            else:
                for function in summary.defined:
                    module.note_setter(function)
                self.declare_again(module, summary)
            module.kept[unit] = summary
            module.summaries.append((start, unit, summary))
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
        module.dirty = sum([bit_of(module, name) for name in module.changed])

    def declare_again(self, module: Module, summary: Summary) -> None:
        """A statement is not run again: of classes that others of the same name stood for, its own count from here."""
        for name, info in summary.classes.items():
            if module.classes.get(name) is not info:
                self.declare_class(UserClass(module, name), info)

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
        settled = module.revision == self.revision and module.current is None and not module.running
        if settled and summary.checked == module.previous and module.changed.isdisjoint(read):
            summary.checked = self.revision
            return True
        for name, answer in read.items():
            found = self.global_value(module, name)
            if found is not answer and found != answer:
                return False
        if settled:
            summary.checked = self.revision
        return True

    def rebound(self, module: Module, name: str, value: Value) -> None:
        """A global that functions have read changes while the top level runs."""
        if self.peek(module, name) != value:
            self.clock += 1
            module.watched.discard(name)
            module.rebound.add(name)

    def peek(self, module: Module, name: str) -> Value | None:
        """A global as bound so far; of a module that was only imported, the statements that bind it are run."""
        if module.current is not None and (value := module.current.names.get(name)) is not None:
            return value
        if module.revision == self.revision:
            return module.names.get(name)
        return self.demand(module, name)

    def bound_so_far(self, module: Module, name: str) -> Value | None:
        """What earlier statements of a module's top level have bound a name to; None where none has."""
        return module.names.get(name)

    def demand(self, module: Module, name: str) -> Value | None:
        """One global of a module whose top level has not been run as a whole."""
        if module.demanded_at != self.revision:
            module.demanded, module.demanded_at = {}, self.revision
            module.stars = []
            for unit in module.star_units():
                self.unit_summary(module, unit)
        if name in module.demanded:
            return module.demanded[name]
        value = module.demanded[name] = None
        for unit in module.binders().get(name, ()):
            value = self.unit_summary(module, unit).written.get(name, value)
            module.demanded[name] = value
        return value

    def unit_summary(self, module: Module, unit: Unit) -> Summary:
        """The execution of one top-level statement by itself, kept or made now."""
        summary = module.kept.get(unit)
        if summary is None or (summary.verified != self.revision and not self.holds(module, summary)):
            summary = module.kept[unit] = self.execute_unit(module, unit)
        else:
            self.declare_again(module, summary)
        summary.verified = self.revision
        module.stars.extend(star for star in summary.attributes.values() if star not in module.stars)
        return summary

    # global names -------------------------------------------------------------------------------------------

    def global_value(self, module: Module, name: str) -> Value:
        """A global name as code inside the module sees it."""
        if module.revision != self.revision or module.running or module.current is not None:
            return self.find_global(module, name)
        value = module.settled.get(name)
        if value is None:
            value = self.find_global(module, name)
            if name not in module.global_setters:  # what functions bind is asked each time
                module.settled[name] = value
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
        members = (self.star_member(star, name) for star in module.stars)
        return next((member for member in members if member is not UNKNOWN), UNKNOWN)

    def star_member(self, star: Value, name: str) -> Value:
        """A name that a star import may have brought."""
        if name.startswith("_"):
            return UNKNOWN
        if type(star) is ApiModule:
            return self.module_member(star.name, name)
        return self.export(star.module, name) if type(star) is ProjectModule else UNKNOWN

    def export(self, module: Module, name: str) -> Value:
        """A global name as other modules see it; submodules of a package count."""
        module.read.add(name)
        value = self.peek(module, name)
        if value is None:
            value = self.starred(module, name)
            if value is not UNKNOWN:
                return value
            child = self.resolve(f"{module.name}.{name}", None) if module.is_package else None
            return ProjectModule(child) if child is not None else UNKNOWN
        return self.filled(module, name, value)
