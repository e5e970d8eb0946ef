"""One module of the program as the interpreter knows it: its statements and what they bind."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from energy_code.values import Function, Value

if TYPE_CHECKING:
    from energy_code.calls import Mode
    from energy_code.codes import Code, Unit
    from energy_code.frames import Frame, Given, Summary


class ClassInfo(NamedTuple):
    """What the execution of a class statement left."""

    bases: tuple[Value, ...]
    names: dict[str, Value]


class Module:
    """A file: dotted name, top-level statements, and the state of their execution."""

    def __init__(self, name: str, is_package: bool = False) -> None:
        self.name = name
        self.is_package = is_package
        self.units: list[tuple[int, Unit]] = []
        self.names: dict[str, Value] = {}
        self.stars: list[Value] = []
        self.classes: dict[str, ClassInfo] = {}
        self.fields: dict[str, list[str]] = {}
        self.watched: set[str] = set()
        """Globals that functions have read while the top level was running."""
        self.global_writes: dict[str, dict[Code, Value]] = {}
        self.current: Frame | None = None
        self.kept: dict[Unit, Summary] = {}
        """Results of the statements at the last execution."""
        self.summaries: list[tuple[int, Unit, Summary]] = []
        self.revision = -1
        """The engine's revision at the last execution."""
        self.changed = True
        self.callers: list[tuple[Function, Given, Mode]] = []
        """How other modules of the project call into this one."""

    def package(self, level: int) -> str:
        """The package that a relative import of this level starts from."""
        parts = self.name.split(".")
        drop = level if not self.is_package else level - 1
        return ".".join(parts[: len(parts) - drop]) if drop < len(parts) else ""
