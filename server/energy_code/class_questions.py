"""What classes of the program hold: their members along the bases, their methods, who sets which attribute."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from energy_code.callbacks import plain_function
from energy_code.importing import Imports, Resolve
from energy_code.modules import class_info
from energy_code.values import (
    UNKNOWN,
    ApiClass,
    ApiMethod,
    Constant,
    Function,
    Sequence,
    UserClass,
    Value,
    options_of,
)

if TYPE_CHECKING:
    from energy_code.expressions import Expression
    from energy_code.frames import Frame
    from energy_code.modules import ClassInfo
    from energy_data.catalogue import Catalogue


class Classes(Imports):
    """Answers about classes, from what their statements left in the modules."""

    def __init__(self, catalogue: Catalogue, resolve: Resolve) -> None:
        super().__init__(catalogue, resolve)
        self.setters_by_class: dict[UserClass, dict[str, list[Function]]] = {}
        self.revision = 0
        """Counts the edits of the program."""
        self.classes_at = 0
        """The revision in which a class statement was last run, or something else set on objects of a class."""

    def class_attribute(self, cls: UserClass, name: str) -> Value:
        """A member of a class, along its bases; members of public bases come as unbound `ApiMethod`s."""
        return self.search(cls, name, set())

    def inherited(self, cls: UserClass, name: str) -> Value:
        """What `super().name` finds."""
        return self.search_bases(cls, name, {cls})

    def search(self, cls: UserClass, name: str, seen: set[UserClass]) -> Value:
        """Look in the class itself, then in its bases."""
        info = class_info(cls)
        if info is None or cls in seen:
            return UNKNOWN
        seen.add(cls)
        value = info.names.get(name)
        return value if value is not None else self.search_bases(cls, name, seen)

    def search_bases(self, cls: UserClass, name: str, seen: set[UserClass]) -> Value:
        """Look in the bases, in order."""
        info = class_info(cls)
        for base in info.bases if info is not None else ():
            for option in options_of(base):
                if type(option) is UserClass:
                    value = self.search(option, name, seen)
                    if value is not UNKNOWN:
                        return value
                elif type(option) is ApiClass:
                    entry = self.member(option.name, name)
                    if entry is not None:
                        return ApiMethod(entry.name, UNKNOWN)
        return UNKNOWN

    def lineage(self, cls: UserClass) -> Iterator[Value]:
        """A class and all that it inherits from, nearest first along each base."""
        seen: set[Value] = set()
        stack: list[Value] = [cls]
        while stack:
            current = stack.pop()
            if current in seen:
                continue
            seen.add(current)
            yield current
            info = class_info(current) if type(current) is UserClass else None
            if info is not None:
                stack += [option for base in info.bases for option in options_of(base)][::-1]

    def ancestry(self, cls: UserClass, name: str) -> Value:
        """The same as the answer to a question about what a class is (`name`)."""
        return Sequence("tuple", tuple(self.lineage(cls)))

    def api_bases(self, cls: UserClass) -> list[str]:
        """The public classes a user's class inherits from, nearest first."""
        return [one.name for one in self.lineage(cls) if type(one) is ApiClass]

    def setters(self, cls: UserClass) -> dict[str, list[Function]]:
        """Which methods set an attribute."""
        known = self.setters_by_class.get(cls)
        if known is None:
            known = self.setters_by_class[cls] = {}
            for function in self.methods(cls):
                if function.code.parameters:
                    for name in function.code.attributes:
                        known.setdefault(name, []).append(function)
        return known

    def descends(self, cls: UserClass, base: UserClass) -> bool:
        """True for a class itself and for those that inherit from it."""
        return base in self.lineage(cls)

    def own_names(self, cls: UserClass) -> dict[str, Value]:
        """The names of a class body."""
        info = class_info(cls)
        return info.names if info is not None else {}

    def methods(self, cls: UserClass) -> list[Function]:
        """The functions of a class and of its bases in the program, constructors first."""
        found: dict[str, Function] = {}
        stack, seen = [cls], set()
        while stack:
            current = stack.pop(0)
            info = class_info(current)
            if info is None or current in seen:
                continue
            seen.add(current)
            for name, value in info.names.items():
                function = plain_function(value)
                if function is not None:
                    found.setdefault(name if name != "__init__" else f"{name}{len(seen)}", function)
            stack.extend(base for base in info.bases if type(base) is UserClass)
        return list(found.values())

    def field_names(self, cls: UserClass, name: str) -> Value:
        """What the constructor (`name`) of a data class or named tuple takes, as the answer to a question."""
        return Sequence("tuple", tuple(Constant(field) for field in self.fields(cls)))

    def fields(self, cls: UserClass) -> list[str]:
        """Annotated names of a class body in order: the constructor's parameters of a data class."""
        info = class_info(cls)
        if info is None:
            return []
        inherited = [self.fields(base) for base in info.bases if type(base) is UserClass]
        return [name for names in inherited for name in names] + info.fields

    def add_field(self, frame: Frame, targets: tuple[Expression, ...]) -> None:
        """An annotated name in a class body."""
        from energy_code.bindings import target_names

        assert frame.owner is not None
        names = frame.module.classes[frame.owner.name].fields
        names.extend(name for target in targets for name in target_names(target) if name not in names)

    def declare_class(self, cls: UserClass, info: ClassInfo) -> None:
        """The result of a class statement."""
        cls.module.classes[cls.name] = info
        self.setters_by_class.clear()
        self.classes_at = self.revision
