"""What an expression may be found to be. Numbers, texts, tuples and None are themselves; all else is `UNKNOWN`."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from energy_data.prediction.specs import CallSpec, First, LayerSpec, ModelSpec, ModelUse, Tensor

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
class Tape:
    """A `GradientTape` of an eager loop: the layers that were applied while it looked."""

    layers: list[LayerSpec | None] = field(default_factory=list)
    """None in it for something that is not known."""


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
    """Tensors that `tf.function` was given."""
    kind: str = ""
    """`staticmethod`, `classmethod` or `property`."""
    compiled: bool = False
    """`tf.function` makes one graph of it."""
    traced: bool = False
    """It was called before: the first call traces."""
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
    name: str = ""
    """Of an `Input`: what a dictionary of inputs calls it."""


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
    applied: ModelSpec | None = None
    """Its layers with the shapes of the last eager call."""


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
    job: ModelUse | None = None
    shape: str = ""
    signature: tuple[str, ...] = ()
    """All its tensors as measurements note them, where all sizes are known."""
    arguments: tuple[tuple[str, str, bool], ...] = ()
    """Each tensor: the keyword or the place of its argument, its shape, and whether the user wrote that."""
    inside: bool = False
    """The call is a part of a method of a model, such as `fit`, whose figure holds it."""
    recorded: bool = False
    """A run saw the shape at this call; else the source tells it."""
    first: First = ""
    """Whether it is the first call of its API in the program, or of TensorFlow at all."""
    times: int = 1
    """How often the call is reached with it, as far as the source tells."""
    name: str = ""
    """Of a compiled function of the program: its name."""
