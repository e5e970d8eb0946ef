"""What an expression may be found to be. Numbers, texts, tuples and None are themselves; all else is `UNKNOWN`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from energy_data.prediction.specs import CallSpec, Job, ModelSpec, Tensor

Dims = tuple[int | None, ...]
"""A shape; None for a size that the source does not tell."""


class Unknown:
    """A value that the source does not tell."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = Unknown()


class SomeNumber:
    """A whole number that the source does not tell: the variable of a loop, the length of a file."""

    def __repr__(self) -> str:
        return "SOME_NUMBER"


SOME_NUMBER = SomeNumber()


@dataclass(frozen=True, slots=True)
class Name:
    """A dotted name of an imported library: `numpy.random`."""

    dotted: str


@dataclass(frozen=True, slots=True)
class Array:
    """A tensor or an array of NumPy: dtype and shape, sizes may be unknown."""

    dtype: str
    shape: Dims
    numpy: bool = False
    variable: bool = False
    written: bool = field(default=False, compare=False)
    """The user wrote its shape."""

    @property
    def tensor(self) -> Tensor | None:
        """The same with all sizes known; None where one is not."""
        sizes = [size for size in self.shape if size is not None]
        return Tensor(self.dtype, tuple(sizes)) if len(sizes) == len(self.shape) else None

    def __str__(self) -> str:
        return f"{self.dtype}[{','.join('?' if size is None else str(size) for size in self.shape)}]"


class Items(list[Any]):
    """A list of the program. `known` is False once something was done to it that may or may not happen."""

    def __init__(self, items: Iterable[Any] = (), born: int = 0) -> None:
        super().__init__(items)
        self.born, self.known = born, True


class Table(dict[Any, Any]):
    """A dictionary of the program."""

    def __init__(self, items: Any = (), born: int = 0) -> None:
        super().__init__(items)
        self.born, self.known = born, True


@dataclass(frozen=True, slots=True)
class Method:
    """A method of a value, before it is called."""

    owner: Any
    name: str


@dataclass(frozen=True, slots=True)
class Made:
    """An object of a library's class: a loss, an optimizer, a tape."""

    api: str


@dataclass(slots=True, eq=False)
class Scope:
    """Names of a module or a function, and where to look for others."""

    names: dict[str, Any]
    outer: Scope | None = None
    file: str = ""
    module: str = ""
    package: bool = False
    outside: set[str] = field(default_factory=set)
    """Names declared `global` or `nonlocal`."""

    def find(self, name: str) -> Any:
        """What a name stands for."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.outer
        return Name(name)


@dataclass(slots=True, eq=False)
class Function:
    """A function of the program."""

    code: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: Scope
    defaults: dict[str, Any] = field(default_factory=dict)
    signature: tuple[Any, ...] = ()
    """Tensors that `tf.function` was told."""
    kind: str = ""
    """`staticmethod`, `classmethod` or `property`."""
    home: Class | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Bound:
    """A method of the program's own class, with its object."""

    function: Function
    owner: Any


@dataclass(frozen=True, slots=True, eq=False)
class Super:
    """`super()` in a method."""

    cls: Class
    owner: Any


@dataclass(slots=True, eq=False)
class Class:
    """A class of the program."""

    name: str
    bases: tuple[Any, ...]
    members: dict[str, Any]
    code: ast.ClassDef
    scope: Scope
    dataclass: bool = False

    def find(self, name: str) -> Any:
        """A member, of its own or inherited; None where there is none."""
        if name in self.members:
            return self.members[name]
        for base in self.bases:
            if isinstance(base, Class) and (found := base.find(name)) is not None:
                return found
        return None

    @property
    def library(self) -> str:
        """The class of a library that it comes from in the end."""
        for base in self.bases:
            found = base.library if isinstance(base, Class) else base.dotted if isinstance(base, Name) else ""
            if found:
                return found
        return ""


@dataclass(slots=True, eq=False)
class Instance:
    """An object of a class of the program."""

    cls: Class
    attributes: dict[str, Any]
    born: int = 0
    built: bool = False
    name: str = ""
    model: Model | None = None
    """What is known of it as a Keras model, for subclasses of one."""
    weights: list[Array] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Layer:
    """A layer as it was made."""

    kind: str
    config: dict[str, Any]
    file: str
    line: int
    name: str
    function: Any = None
    """What a `Lambda` calls."""


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A tensor of a functional model: what it looks like without a batch, and the call that gives it."""

    array: Array
    function: Any = None
    given: tuple[Any, ...] = ()
    named: tuple[tuple[str, Any], ...] = ()
    part: tuple[Any, ...] = ()
    """Which part of the call's result it is."""
    place: tuple[str, int] = ("", 0)


@dataclass(slots=True, eq=False)
class Model:
    """A Keras model: a list of layers, a graph from inputs to outputs, or an object of the program's own class."""

    kind: str
    layers: list[Any] = field(default_factory=list)
    """Of a Sequential model."""
    inputs: Any = None
    outputs: Any = None
    instance: Instance | None = None
    known: bool = True
    born: int = 0
    name: str = ""
    optimizer: str = "RMSprop"
    eager: bool = False
    trainable: bool = True
    traced: set[str] = field(default_factory=set)
    """Methods that were called before: the first call of each traces."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset: what one element looks like, how many there are (None: not known, -1: without end)."""

    element: Any
    count: int | None
    batch: int = 0
    """Elements of a batch, 0 before any was made."""
    rest: int = 0
    """Elements of the last batch where it is smaller."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A call and the shapes it is given: of an API, or a method of a model."""

    call: CallSpec | None = None
    model: ModelSpec | None = None
    job: Job | None = None
    shape: str = ""
    signature: tuple[str, ...] = ()
    """All its tensors as measurements note them, where all sizes are known."""
    arguments: tuple[tuple[str, str, bool], ...] = ()
    """Each tensor: the keyword or the place of its argument, its shape, and whether the user wrote that."""
    inside: bool = False
    """The call is a part of a method of a model, such as `fit`, whose figure holds it."""
    recorded: bool = False
    """A run saw the shape at this call; else the source tells it."""


def is_symbolic(value: Any) -> bool:
    """Whether a value holds a tensor of a functional model."""
    if isinstance(value, Node):
        return True
    if isinstance(value, (tuple, list)):
        return any(is_symbolic(each) for each in value)
    return isinstance(value, dict) and any(is_symbolic(each) for each in value.values())


def arrays_of(value: Any) -> list[Array] | None:
    """The arrays of a structure in order; None where there is something else in it."""
    if isinstance(value, Array):
        return [value]
    if isinstance(value, Node):
        return [value.array]
    if isinstance(value, dict):
        value = [value[key] for key in sorted(value, key=str)]
    if not isinstance(value, (tuple, list)) or not getattr(value, "known", True):
        return None
    found: list[Array] = []
    for each in value:
        inner = arrays_of(each)
        if inner is None:
            return None
        found += inner
    return found


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """A structure with each of its leaves changed."""
    if isinstance(value, tuple):
        return tuple(mapped(each, change) for each in value)
    if isinstance(value, list):
        return Items(mapped(each, change) for each in value)
    if isinstance(value, dict):
        return Table({key: mapped(each, change) for key, each in value.items()})
    return change(value)


def joined(one: Any, other: Any) -> Any:
    """What is known of a value that is one or the other."""
    if one is other:
        return one
    if isinstance(one, Array) and isinstance(other, Array):
        if one.dtype != other.dtype or len(one.shape) != len(other.shape):
            return UNKNOWN
        sizes = tuple(a if a == b else None for a, b in zip(one.shape, other.shape, strict=True))
        return Array(one.dtype, sizes, one.numpy and other.numpy, one.variable and other.variable)
    if isinstance(one, Dataset) and isinstance(other, Dataset):
        element = joined(one.element, other.element)
        same = one.count == other.count and one.batch == other.batch
        return (
            Dataset(element, one.count if same else None, one.batch) if one.batch == other.batch else UNKNOWN
        )
    if type(one) is not type(other):
        return UNKNOWN
    if isinstance(one, tuple) and len(one) == len(other):
        return tuple(joined(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, (int, float, str, bytes, Name)):
        return one if one == other else UNKNOWN
    if isinstance(one, Items):
        return one if one.known and other.known and list(one) == list(other) else UNKNOWN
    if isinstance(one, Method):
        return one if one.owner is other.owner and one.name == other.name else UNKNOWN
    return UNKNOWN
