"""What an expression may be, as far as the source tells: the domain of the abstract interpreter.

Values are immutable and compared by content, so that results computed with them can be kept and reused. They hold no
behaviour: `lattice` joins them, and attribute access, calls and iteration live in `attributes`, `calls` and `iteration`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from energy_code.interpreter.limits import MAX_VALUES

TENSOR = "tensorflow.Tensor"
KERAS_TENSOR = "keras.KerasTensor"
GRAPH_FUNCTION = "tensorflow.types.experimental.PolymorphicFunction"

PROMISED = 0.8
"""How sure the reader is of what is only declared: an annotation names a class, what arrives may be a subclass of it."""


class Value:
    """Anything the interpreter can know about an object."""

    __slots__ = ()

    @property
    def size(self) -> int:
        """How many values it is made of: itself and those that it holds."""
        return 1


class Unknown(Value):
    """Nothing is known: the value of foreign code, of unbound names, of what the reader does not follow."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = Unknown()


class Constant(Value):
    """A literal whose value matters: loop lengths, keys, flags, None."""

    __slots__ = ("value",)

    def __init__(self, value: int | float | str | bool | None) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return type(other) is Constant and type(other.value) is type(self.value) and other.value == self.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return f"Constant({self.value!r})"


NONE = Constant(None)
STRING = Constant("")
SLICE = Constant("slice:")
"""The key of `x[a:b]`."""


@dataclass(slots=True, unsafe_hash=True)
class ApiModule(Value):
    """A public module of TensorFlow or Keras."""

    name: str


@dataclass(slots=True, unsafe_hash=True)
class ApiFunction(Value):
    """A public function."""

    name: str


@dataclass(slots=True, unsafe_hash=True)
class ApiClass(Value):
    """A public class itself, not an instance."""

    name: str


@dataclass(slots=True, unsafe_hash=True)
class ApiInstance(Value):
    """An instance of a public class. `arguments` keeps what later calls need, such as the function behind a wrapper."""

    cls: str
    confidence: float = 1.0
    inner: Value | None = None
    """What a container-like instance holds: elements of a dataset, the function a `tf.function` wraps."""

    @property
    def size(self) -> int:
        """How many values it is made of."""
        return 1 + self.inner.size if self.inner is not None else 1


@dataclass(slots=True, unsafe_hash=True)
class ApiMethod(Value):
    """A method of a public class bound to its receiver (a public instance, or an instance of a user's subclass)."""

    name: str
    receiver: Value

    @property
    def size(self) -> int:
        """How many values it is made of."""
        return 1 + self.receiver.size


@dataclass(slots=True, unsafe_hash=True)
class External(Value):
    """A name of a library that is neither TensorFlow nor part of the project, such as `functools.partial`."""

    name: str


@dataclass(slots=True, unsafe_hash=True)
class ExternalInstance(Value):
    """A built-in object with behaviour worth knowing, such as the result of `x.items`."""

    name: str
    receiver: Value

    @property
    def size(self) -> int:
        """How many values it is made of."""
        return 1 + self.receiver.size


@dataclass(slots=True)
class Sequence(Value):
    """A list, tuple, set or iterator: its items where they are known one by one, else what any element may be."""

    kind: Literal["list", "tuple", "set", "iterator"]
    items: tuple[Value, ...] | None
    element: Value = UNKNOWN
    size: int = field(init=False, repr=False, compare=False)
    hashed: int = field(init=False, repr=False, compare=False, default=0)

    def __post_init__(self) -> None:
        self.size = 1 + self.element.size + total(self.items or ())
        if self.size > MAX_VALUES:
            self.items = self.items and tuple(map(alone, self.items))
            self.element = alone(self.element)
            self.size = 2 + len(self.items or ())

    def __hash__(self) -> int:
        if not self.hashed:
            self.hashed = hash((self.kind, self.items, self.element))
        return self.hashed


@dataclass(slots=True)
class Mapping(Value):
    """A dictionary: values by constant key where known, else what any value may be."""

    items: tuple[tuple[Value, Value], ...]
    element: Value = UNKNOWN
    size: int = field(init=False, repr=False, compare=False)
    hashed: int = field(init=False, repr=False, compare=False, default=0)

    def __post_init__(self) -> None:
        self.size = 1 + self.element.size + total([value for _, value in self.items])
        if self.size > MAX_VALUES:
            self.items = tuple((key, alone(value)) for key, value in self.items)
            self.element = alone(self.element)
            self.size = 2 + len(self.items)

    def __hash__(self) -> int:
        if not self.hashed:
            self.hashed = hash((self.items, self.element))
        return self.hashed


@dataclass(slots=True)
class Partial(Value):
    """`functools.partial(callee, ...)`."""

    callee: Value
    positional: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]
    size: int = field(init=False, repr=False, compare=False)
    hashed: int = field(init=False, repr=False, compare=False, default=0)

    def __post_init__(self) -> None:
        self.size = 1 + self.callee.size + total(self.positional) + total([one for _, one in self.keywords])
        if self.size > MAX_VALUES:
            self.callee = alone(self.callee)
            self.positional = tuple(map(alone, self.positional))
            self.keywords = tuple((name, alone(value)) for name, value in self.keywords)
            self.size = 2 + len(self.positional) + len(self.keywords)

    def __hash__(self) -> int:
        if not self.hashed:
            self.hashed = hash((self.callee, self.positional, self.keywords))
        return self.hashed


@dataclass(slots=True)
class Union(Value):
    """One of several values, by the branch that ran; the first is the likeliest."""

    options: tuple[Value, ...]
    size: int = field(init=False, repr=False, compare=False)
    hashed: int = field(init=False, repr=False, compare=False, default=0)

    def __post_init__(self) -> None:
        self.size = 1 + total(self.options)

    def __hash__(self) -> int:
        if not self.hashed:
            self.hashed = hash(self.options)
        return self.hashed


def total(values: Iterable[Value]) -> int:
    """How many values some are made of."""
    return sum([value.size for value in values])


def alone(value: Value) -> Value:
    """A value that holds no others; unknown in the place of one that does."""
    return value if value.size == 1 else UNKNOWN


def options_of(value: Value) -> tuple[Value, ...]:
    """The alternatives of a value."""
    return value.options if isinstance(value, Union) else (value,)


TENSOR_VALUE = ApiInstance(TENSOR)
