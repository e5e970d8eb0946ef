"""What code writes to objects that are not its own, gathered over the program (`interpreter.operations.side_effects`)."""

from __future__ import annotations

from energy_code.incremental.dependencies import touch_members
from energy_code.interpreter.domain.definitions import Module, UserClass
from energy_code.interpreter.domain.values import UNKNOWN, Value
from energy_code.interpreter.operations.side_effects import grown
from energy_code.interpreter.revisions import Revisions
from energy_code.interpreter.summary import Writes


class ExternalWrites:
    """Answers what an attribute of a class's objects, or a module's global, is set to or filled with elsewhere."""

    def __init__(self, revisions: Revisions) -> None:
        self.revisions = revisions
        self.by_place: dict[tuple[UserClass | Module, str], dict[Module, Value]] = {}
        """By class and attribute or by module and global, and then by the module whose code writes."""
        self.asked: set[tuple[UserClass | Module, str]] = set()
        """What somebody has looked at: a write to it makes results stale."""

    def value(self, subject: UserClass | Module, name: str) -> Value:
        """What is written to one place, by whichever module."""
        key = (subject, name)
        self.asked.add(key)
        result: Value = UNKNOWN
        for value in self.by_place.get(key, {}).values():
            result = value if result is UNKNOWN else grown(result, value)
        return result

    def writers(self, module: Module) -> list[Module]:
        """The modules that write to globals or classes of a module."""
        return [
            other
            for (subject, _), known in self.by_place.items()
            if (subject.module if isinstance(subject, UserClass) else subject) is module
            for other in known
        ]

    def forget(self, module: Module) -> None:
        """Take nothing for written by a module's code any more."""
        for known in self.by_place.values():
            known.pop(module, None)

    def replace(self, module: Module, found: Writes) -> bool:
        """Take over what a module's code writes; False when somebody has looked at a place and saw otherwise."""
        same = True
        for key in list(self.by_place.keys() | found.keys()):
            known = self.by_place.setdefault(key, {})
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
                subject.final_globals.clear()
            else:
                touch_members(subject, [name], self.revisions.revision)
            same = same and key not in self.asked
        return same
