"""What a program defines: its modules, functions and classes, and the values that stand for them.

They know each other (a function has its module, a module its functions), so they stand together. What is asked about
them, and what came of running them, stands above.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from energy_code.interpreter.domain.values import ApiInstance, Partial, Value, total
from energy_code.interpreter.limits import MAX_DECORATORS
from energy_code.ir.code import ClassCode, Code, FunctionCode, TopLevelStatement

SHADOWED = "#"
"""Between a class's name and the number of one that bore it before."""


class Scope(Protocol):
    """What functions see of the frame that they close over."""

    names: dict[str, Value]
    local_names: set[str] | None
    owner: UserClass | None
    receiver: Value

    @property
    def outer(self) -> Scope | None:
        """The function frame around it."""


@dataclass(slots=True, unsafe_hash=True)
class ProjectModule(Value):
    """A module of the workspace."""

    module: Module


@dataclass(slots=True, eq=False)
class Function(Value):
    """A function of the program. `outer` is the frame it closes over, `owner` the class it was defined in."""

    code: FunctionCode
    module: Module
    outer: Scope | None
    owner: UserClass | None
    defaults: tuple[tuple[str, Value], ...] = ()
    hashed: int = field(init=False, repr=False)
    """Kept, because what is known of functions is looked up by them all the time."""

    def __post_init__(self) -> None:
        self.hashed = hash((id(self.code), id(self.outer)))

    def __repr__(self) -> str:
        return f"Function({self.code.qualname!r})"

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is Function
            and other.code is self.code
            and other.outer is self.outer
            and other.owner == self.owner
            and other.defaults == self.defaults
        )

    def __hash__(self) -> int:
        return self.hashed


@dataclass(slots=True, unsafe_hash=True)
class Method(Value):
    """A function bound to its first argument."""

    function: Function
    receiver: Value

    @property
    def size(self) -> int:
        """How many values it is made of."""
        return 1 + self.receiver.size


@dataclass(slots=True, unsafe_hash=True)
class Descriptor(Value):
    """A function under `@staticmethod`, `@classmethod` or `@property`."""

    kind: Literal["staticmethod", "classmethod", "property"]
    function: Function


@dataclass(slots=True, unsafe_hash=True)
class UserClass(Value):
    """A class of the program, known by its place: what it holds is asked of the module each time."""

    module: Module
    name: str
    made: tuple[tuple[Value, ...], tuple[tuple[str, Value], ...]] | None = field(default=None, hash=False)
    """Bases and members of a class that a call of `type` has made: no statement declares it, so it is known by them."""

    def shadows(self, other: UserClass) -> bool:
        """True for the class that has taken another one's name."""
        return other.module is self.module and other.name.startswith(f"{self.name}{SHADOWED}")


@dataclass(slots=True)
class UserInstance(Value):
    """An instance of a user's class, told apart by what its constructor was given (None: not known)."""

    cls: UserClass
    given: tuple[tuple[str, Value], ...] | None = None
    hashed: int = field(init=False, repr=False, compare=False)
    """Kept: what methods do and attributes hold is looked up by their instance."""

    def __post_init__(self) -> None:
        self.hashed = hash((self.cls, self.given))

    @property
    def size(self) -> int:
        """How many values it is made of."""
        return 1 + total([value for _, value in self.given or ()])

    def __hash__(self) -> int:
        return self.hashed


@dataclass(slots=True, unsafe_hash=True)
class Super(Value):
    """`super()` inside a method of `cls`."""

    cls: UserClass
    receiver: Value


def plain_function(value: Value) -> Function | None:
    """The function behind partials, bindings, descriptors and graph wrappers."""
    for _ in range(MAX_DECORATORS):
        if type(value) is Partial:
            value = value.callee
        elif type(value) is Method or type(value) is Descriptor:
            value = value.function
        elif type(value) is ApiInstance and value.inner is not None:
            value = value.inner
        else:
            break
    return value if type(value) is Function else None


class ClassInfo(NamedTuple):
    """What the execution of a class statement left."""

    bases: tuple[Value, ...]
    names: dict[str, Value]
    fields: list[str]
    """Annotated names of its body, in order."""


def class_info(cls: UserClass) -> ClassInfo | None:
    """What is known of a class; None before its statement has run."""
    if cls.made is not None:
        bases, members = cls.made
        return ClassInfo(bases, dict(members), [])
    return cls.module.classes.get(cls.name)


class Module:
    """A file: dotted name, top-level statements, and the state of their execution."""

    def __init__(self, name: str, is_package: bool = False) -> None:
        self.name = name
        self.is_package = is_package
        self._statements: list[tuple[int, TopLevelStatement]] = []
        self.names: dict[str, Value] = {}
        self.stars: list[Value] = []
        self.classes: dict[str, ClassInfo] = {}
        self.shadowed: dict[ClassCode, str] = {}
        """Classes whose name a later one of the top level takes, with what tells them apart from it."""
        self.read: set[str] = set()
        """Globals that functions or other modules have ever asked for."""
        self.watched: set[str] = set()
        """Globals that functions have read while the top level was running."""
        self.rebound: set[str] = set()
        """Those of them that were bound to something else afterwards."""
        self.global_setters: dict[str, dict[Code, Function]] = {}
        """Functions that declare a name global."""
        self.filled: set[str] = set()
        """Globals that functions, here or elsewhere, have ever added something to."""
        self.filled_elsewhere = False
        """True when other modules may add to containers of its objects: what they hold is asked each time."""
        self.fills = False
        """True when its code has ever left something behind, as a registry's entries, that others may look at by no name."""
        self.final_globals: dict[str, Value] = {}
        """Globals as functions see them once the whole top level has run; filled as they are asked for."""
        self.current: Scope | None = None
        """The frame of the top-level statement that runs."""
        self.kept: dict[TopLevelStatement, Any] = {}
        """Results of the statements at the last execution: a `Summary` each, which names functions and modules."""
        self.summaries: list[tuple[int, TopLevelStatement, Any]] = []
        self.revision = -1
        """The engine's revision at the last execution."""
        self.running = False
        self.previous = -1
        """The revision before that."""
        self.changed: set[str] = set()
        """Globals that differ between the two."""
        self.bits: dict[str, int] = {}
        """The bits that stand for its globals, and for members of its classes, in what evaluations have looked at."""
        self.dirty = 0
        """The bits of those that an edit has changed."""
        self.dirty_at = -1
        """The revision of that edit."""
        self.demanded: dict[str, Value | None] = {}
        """Globals asked for by other modules while this one has not been run as a whole."""
        self.demanded_at = -1
        self._binders: dict[str, list[TopLevelStatement]] | None = None
        self.eager_models = False
        """True when the file asks Keras to run models eagerly."""
        self.gathered_at = -1
        """The revision in which it was last seen what it leaves behind on objects of others."""
        self.fillers_at = -1
        """The revision in which that was last seen of all that import it."""
        self.summary: object = None
        """What following the whole module showed (`incremental/module_summary.py`)."""
        self.summarised_at = -1
        self.being_summarised = False

    def __repr__(self) -> str:
        return f"Module({self.name!r})"

    @property
    def statements(self) -> list[tuple[int, TopLevelStatement]]:
        """The top-level statements and where they start."""
        return self._statements

    @statements.setter
    def statements(self, statements: list[tuple[int, TopLevelStatement]]) -> None:
        self._statements = statements
        self._binders = None
        if (shadowed := shadowed_classes(statements)) != self.shadowed:
            renamed = {code for code, _ in self.shadowed.items() ^ shadowed.items()}
            self.shadowed = shadowed
            for _, statement in statements:  # what it left goes by another name now
                if any(part in renamed for _, part in statement.parts):
                    self.kept.pop(statement, None)

    def name_of(self, code: ClassCode, owner: UserClass | None) -> str:
        """What a class is known by: its own name, in the class that it stands in."""
        return f"{owner.name}.{code.name}" if owner is not None else self.shadowed.get(code, code.qualname)

    def matters(
        self, old: list[tuple[int, TopLevelStatement]], new: list[tuple[int, TopLevelStatement]]
    ) -> bool:
        """True when an edit can change what functions, classes or other modules have seen of this one."""
        before, after = {statement for _, statement in old}, {statement for _, statement in new}
        for statement in before ^ after:
            if "*" in statement.binds or not statement.binds.isdisjoint(self.read):
                return True
            if any(isinstance(code, ClassCode) or globals_bound(code) for _, code in statement.parts):
                return True
        return False

    def ask_again(self) -> None:
        """Let what its statements gave be asked for again, though the program is the same."""
        self.revision = self.demanded_at = -2
        for summary in self.kept.values():
            summary.verified_at = -1

    def forget(self) -> None:
        """Let every statement be run again, as if none had been."""
        self.revision = self.demanded_at = -2
        self.summarised_at = -1
        self.kept, self.classes, self.names, self.stars = {}, {}, {}, []

    def mark_dirty(self, revision: int, bits: int) -> None:
        """Something is another one now than before the edit."""
        if self.dirty_at != revision:
            self.dirty, self.dirty_at = 0, revision
        self.dirty |= bits

    def note_setter(self, function: Function) -> None:
        """A function is defined: the names it declares global may be bound by it."""
        for name in function.code.globals:
            self.global_setters.setdefault(name, {})[function.code] = function

    def binders(self) -> dict[str, list[TopLevelStatement]]:
        """Which top-level statements bind a name."""
        if self._binders is None:
            self._binders = {}
            for _, statement in self._statements:
                for name in statement.binds:
                    self._binders.setdefault(name, []).append(statement)
        return self._binders

    def star_units(self) -> list[TopLevelStatement]:
        """Top-level statements with a star import."""
        return self.binders().get("*", [])

    def package(self, level: int) -> str:
        """The package that a relative import of this level starts from."""
        parts = self.name.split(".")
        drop = level if not self.is_package else level - 1
        return ".".join(parts[: len(parts) - drop]) if drop < len(parts) else ""


def globals_bound(code: Code) -> set[str]:
    """The names that functions in a code declare global."""
    names = set(code.globals) if isinstance(code, FunctionCode) else set()
    return names.union(*(globals_bound(part) for _, part in code.parts))


def classes_of(module: Module, code: Code, owner: UserClass | None = None) -> dict[str, ClassInfo]:
    """The classes that a code declares by itself, not by a function in it, as they are now."""
    found: dict[str, ClassInfo] = {}
    for _, part in code.parts:
        if type(part) is ClassCode:
            cls = UserClass(module, module.name_of(part, owner))
            if cls.name in module.classes:
                found[cls.name] = module.classes[cls.name]
            found.update(classes_of(module, part, cls))
    return found


def shadowed_classes(statements: list[tuple[int, TopLevelStatement]]) -> dict[ClassCode, str]:
    """Names for the classes that others of the same name follow: objects of both may be about."""
    places: dict[str, list[ClassCode]] = {}
    for _, statement in statements:
        for _, part in statement.parts:
            if type(part) is ClassCode:
                places.setdefault(part.name, []).append(part)
    return {
        code: f"{name}{SHADOWED}{number}"
        for name, codes in places.items()
        for number, code in enumerate(codes[:-1])
        if code is not codes[-1]
    }
