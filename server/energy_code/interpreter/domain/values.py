"""What an expression may be, as far as the source tells: the domain of the abstract interpreter.

Values are immutable and compared by content, so that results computed with them can be kept and reused. They hold no
behaviour: `lattice` joins them, and attribute access, calls and iteration live in `attributes`, `calls` and `iteration`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from energy_code.interpreter.frame import Frame
    from energy_code.interpreter.modules import Module
    from energy_code.ir.code import FunctionCode

TENSOR = "tensorflow.Tensor"
KERAS_TENSOR = "keras.KerasTensor"

PROMISED = 0.8
"""How sure the reader is of what is only promised: an annotation names a class, what arrives may be a subclass of it."""
SHADOWED = "#"
"""Between a class's name and the number of one that bore it before."""


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
class ProjectModule(Value):
    """A module of the workspace."""

    module: Module


@dataclass(slots=True, eq=False)
class Function(Value):
    """A function of the program. `outer` is the frame it closes over, `owner` the class it was defined in."""

    code: FunctionCode
    module: Module
    outer: Frame | None
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

    def __hash__(self) -> int:
        return self.hashed


@dataclass(slots=True, unsafe_hash=True)
class Super(Value):
    """`super()` inside a method of `cls`."""

    cls: UserClass
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
