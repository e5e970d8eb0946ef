"""What an expression may be, as far as the source tells: the domain of the abstract interpreter.

Values are immutable and compared by content, so that results computed with them can be kept and reused. They hold no
behaviour: attribute access, calls and iteration live in `attributes`, `calling` and `iteration`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar

if TYPE_CHECKING:
    from energy_code.codes import FunctionCode
    from energy_code.frames import Frame
    from energy_code.modules import Module

Key = TypeVar("Key")
TENSOR = "tensorflow.Tensor"
KERAS_TENSOR = "keras.KerasTensor"

PROMISED = 0.8
"""How sure the reader is of what is only promised: an annotation names a class, what arrives may be a subclass of it."""
SHADOWED = "#"
"""Between a class's name and the number of one that bore it before."""
MAX_OPTIONS = 8
MAX_NESTING = 4


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
class OneOf(Value):
    """One of several values, by the branch that ran; the first is the likeliest."""

    options: tuple[Value, ...]


def join(first: Value, second: Value) -> Value:
    """What a variable may be after two branches that leave it as `first` or as `second`."""
    if first is second or (type(first) is type(second) and first == second):
        return first
    if first is NONE or second is NONE:  # nothing can be called on None: the other one counts
        return second if first is NONE else first
    if first is UNKNOWN or second is UNKNOWN:
        known = second if first is UNKNOWN else first
        return known if isinstance(known, OneOf) or trivial(known) else OneOf((known, UNKNOWN))
    if type(first) is type(second) and (joined := join_alike(first, second)) is not None:
        return joined
    options = dict.fromkeys((*options_of(first), *options_of(second)))
    if len(options) > MAX_OPTIONS:
        return UNKNOWN
    return OneOf(tuple(options))


def join_alike(first: Value, second: Value) -> Value | None:
    """One value for two different ones of the same kind; None where both have to be kept."""
    if isinstance(first, Constant) and isinstance(second, Constant):
        return None if named(first) and named(second) else UNKNOWN
    if isinstance(first, ApiInstance) and isinstance(second, ApiInstance) and first.cls == second.cls:
        return first if first.confidence <= second.confidence else second
    if isinstance(first, Sequence) and isinstance(second, Sequence) and first.kind == second.kind:
        return join_sequences(first, second)
    if isinstance(first, UserInstance) and isinstance(second, UserInstance) and first.cls == second.cls:
        return UserInstance(first.cls)
    return None


def named(value: Constant) -> bool:
    """True for a text that may be a key or a name."""
    return type(value.value) is str and value is not STRING


def trivial(value: Value) -> bool:
    """True for values that stop mattering once they are not certain."""
    return isinstance(value, (Constant, External))


def join_sequences(first: Sequence, second: Sequence) -> Value:
    """A sequence that may be either; items are kept one by one only while the lengths agree."""
    if first.items is not None and second.items is not None and len(first.items) == len(second.items):
        return Sequence(first.kind, tuple(map(join, first.items, second.items)))
    if first.items == ():
        return second
    if second.items == ():
        return first
    return Sequence(first.kind, None, join(element_of(first), element_of(second)))


def element_of(value: Sequence) -> Value:
    """What any element of the sequence may be; of an empty one, what is promised of those to come."""
    return join_all(value.items) if value.items else value.element


def is_empty(value: Value) -> bool:
    """A container that says nothing of what it will hold; an annotation may."""
    return (type(value) is Sequence and value.items == ()) or (
        type(value) is Mapping and not value.items and (value.element is UNKNOWN or is_empty(value.element))
    )


def join_all(values: tuple[Value, ...]) -> Value:
    """One value for all of them; unknown for none."""
    if not values:
        return UNKNOWN
    result = values[0]
    for value in values[1:]:
        result = join(result, value)
    return result


def options_of(value: Value) -> tuple[Value, ...]:
    """The alternatives of a value."""
    return value.options if isinstance(value, OneOf) else (value,)


def without_unknown(value: Value) -> Value:
    """The known alternatives of a value."""
    if not isinstance(value, OneOf):
        return value
    known = tuple(option for option in value.options if option is not UNKNOWN)
    return known[0] if len(known) == 1 else OneOf(known)


def nesting(value: Value) -> int:
    """How deep containers stand in containers."""
    inner = INNER.get(type(value))
    return inner(value) if inner is not None else 0


def deepest(values: Iterable[Value]) -> int:
    """The greatest nesting of several values."""
    most = 0
    for value in values:
        inner = INNER.get(type(value))
        if inner is not None and (depth := inner(value)) > most:
            most = depth
    return most


INNER: dict[type[Value], Callable[[Any], int]] = {  # values that hold others
    Sequence: lambda value: 1 + deepest((value.element,) if value.items is None else value.items),
    Mapping: lambda value: 1 + deepest([item for _, item in value.items] or (value.element,)),
    OneOf: lambda value: deepest(value.options),
    UserInstance: lambda value: 1 + deepest([item for _, item in value.given or ()]),
    Partial: lambda value: 1 + deepest((value.callee, *value.positional)),
    Method: lambda value: nesting(value.receiver),
}


def cut(value: Value, depth: int) -> Value:
    """A value in which containers stand at most so deep in containers: what is deeper is not known."""
    if type(value) not in INNER or nesting(value) <= depth:
        return value
    if isinstance(value, OneOf):
        return join_all(tuple(cut(option, depth) for option in value.options))
    if isinstance(value, UserInstance):
        return UserInstance(value.cls, cut_items(value.given or (), depth - 1) if depth else None)
    if not depth:
        return UNKNOWN
    if isinstance(value, Mapping):
        return Mapping(cut_items(value.items, depth - 1), cut(value.element, depth - 1))
    if isinstance(value, Sequence):
        items = value.items and tuple(cut(item, depth - 1) for item in value.items)
        return Sequence(value.kind, items, cut(value.element, depth - 1))
    return UNKNOWN


def cut_items(items: tuple[tuple[Key, Value], ...], depth: int) -> tuple[tuple[Key, Value], ...]:
    """The same for values by name or key."""
    return tuple((key, cut(item, depth)) for key, item in items)


TENSOR_VALUE = ApiInstance(TENSOR)
