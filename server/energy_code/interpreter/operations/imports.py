"""What import statements find: public modules, modules of the workspace, other libraries."""

from __future__ import annotations

from collections.abc import Callable

from energy_code.interpreter.domain.definitions import Module, ProjectModule
from energy_code.interpreter.domain.values import UNKNOWN, External, Value
from energy_code.interpreter.questions import Basis, rests_on
from energy_code.models.catalogue import PublicNames, entry_value

API_ROOTS = frozenset(["tensorflow", "keras", "tf_keras"])
Resolve = Callable[[str, Module | None], Module | None]


class Imports:
    """Answers what a dotted name stands for; `resolve` finds modules of the workspace."""

    def __init__(self, public: PublicNames, resolve: Resolve) -> None:
        self.public = public
        self.resolve = resolve

    @rests_on(Basis.IMPORT)
    def import_module(self, module: Module, dotted: str) -> Value:
        """What `import dotted` finds."""
        if dotted.partition(".")[0] in API_ROOTS:
            entry = self.public.find(dotted)
            if entry is not None:
                return entry_value(entry)
        found = self.resolve(dotted, module)
        if found is not None:
            return ProjectModule(found)
        return UNKNOWN if dotted.partition(".")[0] in API_ROOTS else External(dotted)

    @rests_on(Basis.IMPORT)
    def import_relative(self, module: Module, dotted: str, level: int) -> Value:
        """The module named in a `from` import."""
        if level:
            package = module.package(level)
            dotted = f"{package}.{dotted}" if package and dotted else package or dotted
            found = self.resolve(dotted, None) if dotted else None
            return ProjectModule(found) if found is not None else UNKNOWN
        return self.import_module(module, dotted)
