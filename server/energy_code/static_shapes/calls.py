"""Calls of the program's own functions and classes: entered where they are called, with what they are given."""

from __future__ import annotations

import ast
from typing import Any

from energy_code.static_shapes.expressions import Expressions, items_of
from energy_code.static_shapes.values import (
    UNKNOWN,
    Bound,
    Class,
    Dataset,
    Function,
    Instance,
    Layer,
    Method,
    Model,
    Scope,
    Super,
    Table,
    joined,
)  # fmt: skip

DEEPEST = 24
"""Calls of the program's own functions within each other."""
KERAS_MODELS = ("keras.Model", "keras.Sequential", "keras.models.Model", "keras.models.Sequential")


class Calls(Expressions):
    """Enters functions and makes objects."""

    def __init__(self, steps: int) -> None:
        super().__init__(steps)
        self.depth = 0
        self.entered: set[int] = set()
        """Functions that were called, by their code."""
        self.returned: list[list[Any]] = []

    def run(self, statements: list[ast.stmt], scope: Scope) -> str:
        """Go through statements; how they end: `return`, `break`, … or nothing."""
        raise NotImplementedError

    def told(self, node: ast.AST, name: str, value: Any, annotation: ast.expr | None, scope: Scope) -> Any:
        """A value, or what the user wrote about it."""
        raise NotImplementedError

    def enter(
        self, function: Function, given: list[Any], named: dict[str, Any], *, unknown: bool = False
    ) -> Any:
        """Call a function of the program."""
        code = function.code
        if self.depth >= DEEPEST:
            return UNKNOWN
        self.step()
        scope = Scope({}, function.scope, function.scope.file, function.scope.module, function.scope.package)
        self._bind(function, given, named, scope, unknown)
        if not unknown:
            self.entered.add(id(code))
        if function.home is not None:
            scope.names.setdefault("__class__", function.home)
        self.depth += 1
        try:
            if isinstance(code, ast.Lambda):
                return self.value(code.body, scope)
            self.returned.append([])
            self.yielded.append([])
            uncertain = self.uncertain
            try:
                end = self.run(code.body, scope)
            finally:
                found, yielded = self.returned.pop(), self.yielded.pop()
                self.uncertain = uncertain
            if _yields(code):
                return Dataset(_all(yielded), None) if yielded else UNKNOWN
            if end == "":
                found.append(None)
            if not found:
                return UNKNOWN  # it never comes back
            return _all(found)
        finally:
            self.depth -= 1

    def _bind(
        self, function: Function, given: list[Any], named: dict[str, Any], scope: Scope, unknown: bool
    ) -> None:
        about = function.code.args
        places = [*about.posonlyargs, *about.args]
        every = [*places, *about.kwonlyargs]
        signature = list(function.signature)
        for place, each in enumerate(every):
            value = UNKNOWN if unknown else function.defaults.get(each.arg, UNKNOWN)
            if not unknown and place < len(places) and place < len(given):
                value = given[place]
            elif not unknown and each.arg in named:
                value = named[each.arg]
            elif unknown and place < len(given):
                value = given[place]
            shown = place - (1 if places and places[0].arg == "self" else 0)
            if value is UNKNOWN and 0 <= shown < len(signature):
                value = signature[shown]
            scope.names[each.arg] = self.told(function.code, each.arg, value, each.annotation, scope)
        if about.vararg is not None:
            scope.names[about.vararg.arg] = UNKNOWN if unknown else tuple(given[len(places) :])
        if about.kwarg is not None:
            known = {each.arg for each in every}
            rest = Table({name: value for name, value in named.items() if name not in known})
            scope.names[about.kwarg.arg] = UNKNOWN if unknown else rest

    def make(self, cls: Class, given: list[Any], named: dict[str, Any]) -> Any:
        """An object of a class of the program."""
        made = Instance(cls, {}, self.uncertain)
        library = cls.library
        if library in KERAS_MODELS:
            kind = "sequential" if library.endswith("Sequential") else "subclass"
            made.model = Model(kind, instance=made, born=self.uncertain)
        elif library.rpartition(".")[2] in ("Enum", "IntEnum", "StrEnum"):
            return UNKNOWN
        start = cls.find("__init__")
        if isinstance(start, Function):
            self.enter(start, [made, *given], named)
        elif cls.dataclass or "NamedTuple" in library:
            self._fields(made, given, named)
        elif made.model is not None and (given or named):
            self.start_library(made, given, named)
        name = named.get("name")
        made.name = name if isinstance(name, str) else made.name
        return made

    def start_library(self, owner: Instance, given: list[Any], named: dict[str, Any]) -> None:
        """`super().__init__(…)` of a class that comes from a library."""
        raise NotImplementedError

    def _fields(self, made: Instance, given: list[Any], named: dict[str, Any]) -> None:
        chain, cls = list[Class](), made.cls
        while isinstance(cls, Class):
            chain.insert(0, cls)
            cls = next((base for base in cls.bases if isinstance(base, Class)), None)  # type: ignore[assignment]
        fields = [
            statement.target.id
            for each in chain
            for statement in each.code.body
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
        ]
        names = list(dict.fromkeys(fields))
        made.attributes.update(zip(names, given, strict=False))
        made.attributes.update({name: value for name, value in named.items() if name in names})
        after = made.cls.find("__post_init__")
        if isinstance(after, Function):
            self.enter(after, [made], {})

    def member(self, owner: Instance, name: str) -> Any:
        """A member of an object of the program."""
        if name in owner.attributes:
            return owner.attributes[name]
        found = owner.cls.find(name)
        if isinstance(found, Function):
            if found.kind == "property":
                return self.enter(found, [owner], {})
            return found if found.kind == "staticmethod" else Bound(found, owner)
        if found is not None:
            return found
        if owner.model is not None or owner.cls.library:
            return Method(owner, name)
        return UNKNOWN

    def set_member(self, owner: Any, name: str, value: Any) -> None:
        """`owner.name = value`; what may or may not happen leaves what both ways agree on."""
        if isinstance(owner, Instance):
            if self.uncertain > owner.born and name in owner.attributes:
                value = joined(owner.attributes[name], value)
            owner.attributes[name] = value
            if name == "trainable" and owner.model is not None:
                owner.model.trainable = value is not False
        elif isinstance(owner, Class):
            owner.members[name] = UNKNOWN if self.uncertain else value
        elif isinstance(owner, Layer):
            owner.config[name] = value
        elif isinstance(owner, Model) and name == "trainable":
            owner.trainable = value is not False
        elif isinstance(owner, dict):
            owner[name] = value

    def inherited(self, owner: Super, name: str) -> Any:
        """A member of what a class inherits from."""
        for base in owner.cls.bases:
            found = base.find(name) if isinstance(base, Class) else None
            if isinstance(found, Function):
                return Bound(found, owner.owner)
            if found is not None:
                return found
        return Method(owner, name)

    def unpacked(self, node: ast.Call, scope: Scope) -> tuple[list[Any], dict[str, Any], bool]:
        """The arguments of a call, and whether all of them are known to be there."""
        given, named, complete = list[Any](), dict[str, Any](), True
        for each in node.args:
            value = self.value(each, scope)
            if isinstance(each, ast.Starred):
                more = items_of(value)
                complete = complete and more is not None
                given += more or []
            else:
                given.append(value)
        for keyword in node.keywords:
            value = self.value(keyword.value, scope)
            if keyword.arg is not None:
                named[keyword.arg] = value
            elif isinstance(value, dict) and getattr(value, "known", True):
                named.update({str(key): each for key, each in value.items()})
            else:
                complete = False
        return given, named, complete


def _all(values: list[Any]) -> Any:
    """What is known of a value that is one of these."""
    result = values[0]
    for each in values[1:]:
        result = joined(result, each)
    return result


def _yields(code: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in ast.walk(code))
