"""What import statements find: public modules, modules of the workspace, other libraries."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from energy_code.attributes import entry_value
from energy_code.modules import Module
from energy_code.public_names import PublicNames
from energy_code.values import UNKNOWN, ApiModule, External, ProjectModule, Value

if TYPE_CHECKING:
    from energy_code.frames import Frame
    from energy_data.catalogue import Catalogue

API_ROOTS = frozenset(["tensorflow", "keras", "tf_keras"])
Resolve = Callable[[str, Module | None], Module | None]


class Imports(PublicNames):
    """Imports of a program; `resolve` finds modules of the workspace."""

    def __init__(self, catalogue: Catalogue, resolve: Resolve) -> None:
        super().__init__(catalogue)
        self.resolve = resolve

    def export(self, module: Module, name: str) -> Value:
        """A global name as other modules see it."""
        raise NotImplementedError

    def import_module(self, module: Module, dotted: str) -> Value:
        """What `import dotted` finds."""
        if dotted.partition(".")[0] in API_ROOTS:
            entry = self.find(dotted)
            if entry is not None:
                return entry_value(entry)
        found = self.resolve(dotted, module)
        if found is not None:
            return ProjectModule(found)
        return UNKNOWN if dotted.partition(".")[0] in API_ROOTS else External(dotted)

    def import_relative(self, module: Module, dotted: str, level: int) -> Value:
        """The module named in a `from` import."""
        if level:
            package = module.package(level)
            dotted = f"{package}.{dotted}" if package and dotted else package or dotted
            found = self.resolve(dotted, None) if dotted else None
            return ProjectModule(found) if found is not None else UNKNOWN
        return self.import_module(module, dotted)

    def import_name(self, frame: Frame, source: Value, name: str) -> Value:
        """What `from source import name` binds."""
        if type(source) is ApiModule:
            return self.module_member(source.name, name)
        if type(source) is ProjectModule:
            return frame.ask(self.export, source.module, name)
        return External(f"{source.name}.{name}") if type(source) is External else UNKNOWN

    def import_star(self, frame: Frame, source: Value) -> None:
        """`from source import *`: asked name by name when one is looked up."""
        if source is not UNKNOWN and type(source) is not External:
            frame.module.stars.append(source)
            frame.module.settled.clear()
            frame.attributes[f"*{len(frame.attributes)}"] = source
