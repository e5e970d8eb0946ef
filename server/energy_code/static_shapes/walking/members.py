"""Members: of libraries, of modules of the project, of arrays, models and objects."""

from __future__ import annotations

from typing import Any

from energy_code.static_shapes.operations.arrays import elements
from energy_code.static_shapes.values.kinds import (
    SOME_NUMBER,
    UNKNOWN,
    Array,
    Bound,
    Class,
    Dataset,
    Function,
    Instance,
    Items,
    Layer,
    Method,
    Model,
    Name,
    Node,
    Scope,
    Super,
    Table,
)
from energy_code.static_shapes.walking.classes import ClassWalk
from energy_code.static_shapes.walking.modules import ModuleWalk, full_name


class Members:
    """Answers what `owner.name` is. Its state: the flags that the program defined (`absl.flags`)."""

    def __init__(self, classes: ClassWalk, modules: ModuleWalk) -> None:
        self.classes, self.modules = classes, modules
        self.flags: dict[str, Any] = {}

    def attribute(self, owner: Any, name: str) -> Any:
        """A member of a library, of a module of the project, or of a value."""
        if isinstance(owner, Name):
            if owner.dotted.endswith("flags.FLAGS"):
                return self.flags.get(name, UNKNOWN)
            return Name(full_name(f"{owner.dotted}.{name}"))
        if isinstance(owner, Scope):
            if name in owner.names:
                return owner.names[name]
            below = self.modules.project_module(f"{owner.module}.{name}", 0, owner)
            return UNKNOWN if below is None else below
        if isinstance(owner, (Array, Node)):
            return self._of_array(owner, name)
        if isinstance(owner, Instance):
            return (
                self._of_model(owner.model, name, owner) if owner.model else self.classes.member(owner, name)
            )
        if isinstance(owner, Super):
            return self.classes.inherited(owner, name)
        if isinstance(owner, Class):
            found = owner.find(name)
            if isinstance(found, Function) and found.kind == "classmethod":
                return Bound(found, owner)
            if "Enum" in owner.library and found is not None:
                return Table({"value": found, "name": name})
            return UNKNOWN if found is None else found
        if isinstance(owner, Table) and name in owner:
            return owner[name] if owner.known else UNKNOWN
        if isinstance(owner, Model):
            return self._of_model(owner, name, None)
        if isinstance(owner, Dataset) and name == "element_spec":
            return owner.element
        if isinstance(owner, Layer) and name in owner.config:
            return owner.config[name]
        if isinstance(owner, Function) and name in ("python_function", "__wrapped__"):
            return owner
        if owner is UNKNOWN or owner is SOME_NUMBER or owner is None or isinstance(owner, (Function, Bound)):
            return UNKNOWN
        return Method(owner, name)

    def _of_array(self, owner: Array | Node, name: str) -> Any:
        array = owner.array if isinstance(owner, Node) else owner
        if name == "shape":
            unknown = None if isinstance(owner, Node) else SOME_NUMBER
            return tuple(unknown if size is None else size for size in array.shape)
        if name == "dtype":
            return array.dtype
        if name == "ndim":
            return len(array.shape)
        if name == "T" and isinstance(owner, Array):
            return Array(array.dtype, array.shape[::-1], array.numpy)
        if name == "size" and isinstance(owner, Array):
            total = elements(array.shape)
            return SOME_NUMBER if total is None else total
        return Method(owner, name) if isinstance(owner, Array) else UNKNOWN

    def _of_model(self, model: Model, name: str, instance: Instance | None) -> Any:
        if instance is not None:
            found = self.classes.member(instance, name)
            if not isinstance(found, Method):
                return found
        if name in ("output", "outputs", "input", "inputs") and model.kind == "functional":
            value = model.outputs if name.startswith("output") else model.inputs
            return value if not name.endswith("s") or isinstance(value, (tuple, list)) else Items([value])
        if name in ("output_shape", "input_shape") and model.kind == "functional":
            value = model.outputs if name.startswith("output") else model.inputs
            return value.array.shape if isinstance(value, Node) else UNKNOWN
        if name == "layers" and model.kind == "sequential":
            return (
                Items([each for each in model.layers if not isinstance(each, Node)])
                if model.known
                else UNKNOWN
            )
        if name in (
            "trainable_variables",
            "trainable_weights",
            "weights",
            "variables",
            "layers",
            "optimizer",
            "history",
        ):
            return UNKNOWN
        return Method(instance if instance is not None else model, name)
