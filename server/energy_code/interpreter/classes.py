"""What classes of the program hold: their members along the bases, their methods, who sets which attribute."""

from __future__ import annotations

from collections import deque

from energy_code.interpreter.domain.definitions import (
    ClassInfo,
    Function,
    UserClass,
    class_info,
    plain_function,
)
from energy_code.interpreter.domain.values import (
    UNKNOWN,
    ApiClass,
    ApiMethod,
    Constant,
    Sequence,
    Value,
    options_of,
)
from energy_code.interpreter.limits import MAX_ANCESTORS
from energy_code.interpreter.questions import Basis, rests_on
from energy_code.models.catalogue import PublicNames


class Classes:
    """Answers about classes, from what their statements left in the modules."""

    def __init__(self, public: PublicNames) -> None:
        self.public = public
        self._setters: dict[UserClass, dict[str, list[Function]]] = {}
        self._lineages: dict[Value, list[Value]] = {}
        """Until some class inherits from something else."""

    @rests_on(Basis.CLASSES)
    def class_attribute(self, cls: UserClass, name: str) -> Value:
        """A member of a class, along its bases; members of public bases come as unbound `ApiMethod`s."""
        return self._search([cls], name)

    @rests_on(Basis.CLASSES)
    def inherited(self, cls: UserClass, name: str) -> Value:
        """What `super().name` finds."""
        return self._search(bases_of(cls)[::-1], name, cls)

    def _search(self, stack: list[Value], name: str, without: UserClass | None = None) -> Value:
        """Look in classes, the last one of a stack first, and in each one's bases before the next."""
        seen: set[Value] = {without} if without is not None else set()
        while stack and len(seen) < MAX_ANCESTORS:
            current = stack.pop()
            if type(current) is UserClass and current not in seen:
                seen.add(current)
                value = self.own_names(current).get(name)
                if value is None:
                    stack += bases_of(current)[::-1]
                elif value is not UNKNOWN:
                    return value
            elif type(current) is ApiClass:
                entry = self.public.member(current.name, name)
                if entry is not None:
                    return ApiMethod(entry.name, UNKNOWN)
        return UNKNOWN

    def lineage(self, cls: UserClass) -> list[Value]:
        """A class and all that it inherits from, nearest first along each base; not to be changed."""
        known = self._lineages.get(cls)
        if known is None:
            bases = bases_of(cls)
            inherited = self._lineages.get(bases[0]) if len(bases) == 1 else None  # of a chain
            if inherited is not None and cls not in inherited:
                known = [cls, *inherited[: MAX_ANCESTORS - 1]]
            else:
                known = find_lineage(cls)
            self._lineages[cls] = known
        return known

    @rests_on(Basis.CLASSES)
    def ancestry(self, cls: UserClass, name: str) -> Value:
        """The same as the answer to a question about what a class is (`name`)."""
        return Sequence("tuple", tuple(self.lineage(cls)))

    def api_bases(self, cls: UserClass) -> list[str]:
        """The public classes a user's class inherits from, nearest first."""
        return [one.name for one in self.lineage(cls) if type(one) is ApiClass]

    def setters(self, cls: UserClass) -> dict[str, list[Function]]:
        """Which methods set an attribute."""
        known = self._setters.get(cls)
        if known is None:
            known = self._setters[cls] = {}
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
        stack = deque([cls])
        seen: set[UserClass] = set()
        while stack and len(seen) < MAX_ANCESTORS:
            current = stack.popleft()
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

    @rests_on(Basis.CLASSES)
    def field_names(self, cls: UserClass, name: str) -> Value:
        """What the constructor (`name`) of a data class or named tuple takes, as the answer to a question."""
        return Sequence("tuple", tuple(Constant(field) for field in self.fields(cls)))

    def fields(self, cls: UserClass) -> list[str]:
        """Annotated names of a class body in order: the constructor's parameters of a data class."""
        found: list[str] = []
        seen: set[UserClass] = set()
        stack: list[UserClass | list[str]] = [cls]
        while stack and len(seen) < MAX_ANCESTORS:
            current = stack.pop()
            if isinstance(current, list):
                found += current
            elif current not in seen and (info := class_info(current)) is not None:
                seen.add(current)
                stack.append(info.fields)  # behind those of its bases
                stack += [base for base in info.bases[::-1] if type(base) is UserClass]
        return found

    def declare_class(self, cls: UserClass, info: ClassInfo) -> None:
        """The result of a class statement."""
        before = class_info(cls)
        if before is None or before.bases != info.bases:
            self._lineages.clear()
        cls.module.classes[cls.name] = info
        self._setters.clear()

    def begin_again(self) -> None:
        """What statements left of their classes may have been forgotten."""
        self._lineages.clear()
        self._setters.clear()


def find_lineage(cls: UserClass) -> list[Value]:
    """A class and all that it inherits from, by what statements have left so far."""
    seen: dict[Value, None] = {}
    stack: list[Value] = [cls]
    while stack and len(seen) < MAX_ANCESTORS:
        current = stack.pop()
        if current not in seen:
            seen[current] = None
            if type(current) is UserClass:
                stack += bases_of(current)[::-1]
    return list(seen)


def bases_of(cls: UserClass) -> list[Value]:
    """What a class inherits from, as far as it is known."""
    info = class_info(cls)
    return [option for base in info.bases for option in options_of(base)] if info is not None else []
