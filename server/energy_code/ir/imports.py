"""Import statements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from energy_code.interpreter.domain.definitions import ProjectModule
from energy_code.interpreter.domain.values import (
    UNKNOWN,
    ApiModule,
    External,
    Value,
)
from energy_code.ir.nodes import Statement

if TYPE_CHECKING:
    from energy_code.interpreter.frame import Frame


class Import(Statement):
    """`import a.b as c`: (dotted name, alias or None) each."""

    __slots__ = ("names",)

    def __init__(self, names: tuple[tuple[str, str | None], ...]) -> None:
        self.names = names

    def execute(self, frame: Frame) -> bool:
        """Bind the alias to the module, or the first part of the dotted name to its package."""
        for dotted, alias in self.names:
            if alias is not None:
                frame.bind(alias, frame.ask(frame.program.imports.import_module, frame.module, dotted))
            else:
                root = dotted.partition(".")[0]
                frame.bind(root, frame.ask(frame.program.imports.import_module, frame.module, root))
        return True


class ImportFrom(Statement):
    """`from module import a as b`; no names stands for `*`."""

    __slots__ = ("level", "module", "names")

    def __init__(self, module: str, level: int, names: tuple[tuple[str, str], ...]) -> None:
        self.module = module
        self.level = level
        self.names = names

    def execute(self, frame: Frame) -> bool:
        """Bind the names."""
        source = frame.ask(frame.program.imports.import_relative, frame.module, self.module, self.level)
        if not self.names:
            import_star(frame, source)
        for name, alias in self.names:
            frame.bind(alias, import_name(frame, source, name))
        return True


def import_name(frame: Frame, source: Value, name: str) -> Value:
    """What `from source import name` binds."""
    if type(source) is ApiModule:
        return frame.program.public.module_member(source.name, name)
    if type(source) is ProjectModule:
        return frame.ask(frame.program.modules.export, source.module, name)
    return External(f"{source.name}.{name}") if type(source) is External else UNKNOWN


def import_star(frame: Frame, source: Value) -> None:
    """`from source import *`: asked name by name when one is looked up."""
    if source is not UNKNOWN and type(source) is not External:
        frame.module.stars.append(source)
        frame.module.final_globals.clear()
        frame.attributes[f"*{len(frame.attributes)}"] = source
