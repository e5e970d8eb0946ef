"""Objects of the program's own classes: made, and their members."""

from __future__ import annotations

import ast
from typing import Any

from energy_code.static_shapes.doors import Walk
from energy_code.static_shapes.values.kinds import (
    UNKNOWN,
    Bound,
    Class,
    Function,
    Instance,
    Layer,
    Method,
    Model,
    Super,
)
from energy_code.static_shapes.values.structures import (
    joined,
)
from energy_code.static_shapes.walking.functions import FunctionWalk

KERAS_MODELS = ("keras.Model", "keras.Sequential", "keras.models.Model", "keras.models.Sequential")


class ClassWalk:
    """Answers what an object of the program's own class is and holds. Its state stands in the objects."""

    def __init__(self, walk: Walk, functions: FunctionWalk) -> None:
        self.walk, self.context, self.functions = walk, walk.context, functions

    def make(self, cls: Class, given: list[Any], named: dict[str, Any]) -> Any:
        """An object of a class of the program."""
        made = Instance(cls, {}, self.context.uncertain)
        library = cls.library
        if library in KERAS_MODELS:
            kind = "sequential" if library.endswith("Sequential") else "subclass"
            made.model = Model(kind, instance=made, born=self.context.uncertain)
        elif library.rpartition(".")[2] in ("Enum", "IntEnum", "StrEnum"):
            return UNKNOWN
        start = cls.find("__init__")
        if isinstance(start, Function):
            self.functions.enter(start, [made, *given], named)
        elif cls.dataclass or "NamedTuple" in library:
            self._fields(made, given, named)
        elif made.model is not None and (given or named):
            self.walk.start(made, given, named)
        name = named.get("name")
        made.name = name if isinstance(name, str) else made.name
        return made

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
            self.functions.enter(after, [made], {})

    def member(self, owner: Instance, name: str) -> Any:
        """A member of an object of the program."""
        if name in owner.attributes:
            return owner.attributes[name]
        found = owner.cls.find(name)
        if isinstance(found, Function):
            if found.kind == "property":
                return self.functions.enter(found, [owner], {})
            return found if found.kind == "staticmethod" else Bound(found, owner)
        if found is not None:
            return found
        if owner.model is not None or owner.cls.library:
            return Method(owner, name)
        return UNKNOWN

    def set_member(self, owner: Any, name: str, value: Any) -> None:
        """`owner.name = value`; what may or may not happen leaves what both ways agree on."""
        if isinstance(owner, Instance):
            if self.context.uncertain > owner.born and name in owner.attributes:
                value = joined(owner.attributes[name], value)
            owner.attributes[name] = value
            if name == "trainable" and owner.model is not None:
                owner.model.trainable = value is not False
        elif isinstance(owner, Class):
            owner.members[name] = UNKNOWN if self.context.uncertain else value
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
