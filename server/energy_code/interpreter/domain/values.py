"""What an expression may be, as far as the source tells: the domain of the abstract interpreter.

Values are immutable and compared by content, so that results computed with them can be kept and reused. They hold no
behaviour: `lattice` joins them, and attribute access, calls and iteration live in `attributes`, `calls` and `iteration`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

TENSOR = "tensorflow.Tensor"
KERAS_TENSOR = "keras.KerasTensor"
GRAPH_FUNCTION = "tensorflow.types.experimental.PolymorphicFunction"

PROMISED = 0.8
"""How sure the reader is of what is only declared: an annotation names a class, what arrives may be a subclass of it."""


class Value:
    """Anything the interpreter can know about an object."""

    __slots__ = ()


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


@dataclass(slots=True, unsafe_hash=True)
class ApiMethod(Value):
    """A method of a public class bound to its receiver (a public instance, or an instance of a user's subclass)."""

    name: str
    receiver: Value


@dataclass(slots=True, unsafe_hash=True)
class External(Value):
    """A name of a library that is neither TensorFlow nor part of the project, such as `functools.partial`."""

    name: str


@dataclass(slots=True, unsafe_hash=True)
class ExternalInstance(Value):
    """A built-in object with behaviour worth knowing, such as the result of `x.items`."""

    name: str
    receiver: Value


@dataclass(slots=True, unsafe_hash=True)
class Sequence(Value):
    """A list, tuple, set or iterator: its items where they are known one by one, else what any element may be."""

    kind: Literal["list", "tuple", "set", "iterator"]
    items: tuple[Value, ...] | None
    element: Value = UNKNOWN


@dataclass(slots=True, unsafe_hash=True)
class Mapping(Value):
    """A dictionary: values by constant key where known, else what any value may be."""

    items: tuple[tuple[Value, Value], ...]
    element: Value = UNKNOWN


@dataclass(slots=True, unsafe_hash=True)
class Partial(Value):
    """`functools.partial(callee, ...)`."""

    callee: Value
    positional: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]


@dataclass(slots=True, unsafe_hash=True)
class Union(Value):
    """One of several values, by the branch that ran; the first is the likeliest."""

    options: tuple[Value, ...]


def options_of(value: Value) -> tuple[Value, ...]:
    """The alternatives of a value."""
    return value.options if isinstance(value, Union) else (value,)


TENSOR_VALUE = ApiInstance(TENSOR)
