"""What an annotation promises of a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from energy_code.interpreter.domain.definitions import UserClass, UserInstance
from energy_code.interpreter.domain.lattice import join
from energy_code.interpreter.domain.values import (
    NONE,
    PROMISED,
    UNKNOWN,
    ApiClass,
    ApiInstance,
    Constant,
    External,
    ExternalInstance,
    Mapping,
    Sequence,
    Value,
)
from energy_code.ir.expressions import (
    NOTHING,
    Display,
    Group,
    Subscript,
)
from energy_code.ir.nodes import Expression
from energy_code.ir.operators import Operator

if TYPE_CHECKING:
    from energy_code.interpreter.frame import Frame

LISTS = {"list", "List", "Sequence", "Iterable", "Iterator", "Collection", "Generator", "Set", "set", "deque"}
MAPPINGS = {"dict", "Dict", "Mapping", "MutableMapping", "OrderedDict", "defaultdict"}
WRAPPERS = {"Optional", "Annotated", "Final", "ClassVar", "Required", "NotRequired", "Union", "Awaitable"}
TUPLES = {"tuple", "Tuple"}
CALLABLES = {"Callable", "Type", "type"}
"""What calling them gives is all that is known: `Type[Model]` may be a class of the program's own."""
GENERICS = LISTS | MAPPINGS | WRAPPERS | TUPLES | CALLABLES
ALIAS = "alias "


def annotated(frame: Frame, annotation: Expression) -> Value:
    """An instance of the class that the annotation names, a container of such, or unknown."""
    kind = type(annotation)
    if kind is Operator:
        options = [annotated(frame, operand) for operand in annotation.operands]  # type: ignore[attr-defined]
        return join_promises(options)
    if kind is Subscript:
        return generic(frame, annotation)
    if kind is Group and len(annotation.parts) == 1:  # type: ignore[attr-defined]
        return annotated(frame, annotation.parts[0])  # type: ignore[attr-defined]
    if kind is Display:
        return UNKNOWN
    return declared_by(frame, annotation.evaluate(frame))


def join_promises(options: list[Value]) -> Value:
    """`A | None` is an A."""
    known = [option for option in options if option is not UNKNOWN and option != NONE]
    result = known[0] if known else UNKNOWN
    for option in known[1:]:
        result = join(result, option)
    return result


def declared_by(frame: Frame, value: Value) -> Value:
    """An instance of a class given by value or, in quotes, by name."""
    if type(value) is ApiClass:
        return ApiInstance(value.name, PROMISED)
    if type(value) is UserClass:
        return UserInstance(value)
    if type(value) in (Constant, ExternalInstance):
        return followed(frame, value)
    return UNKNOWN


def followed(frame: Frame, value: Value) -> Value:
    """What quotes or an alias stand for; `Tree = dict[str, "Tree"]` leads back to itself, where nothing is known."""
    followed_now = frame.program.annotations_followed
    if value in followed_now:
        return UNKNOWN
    followed_now.append(value)
    try:
        if type(value) is Constant and type(value.value) is str and value.value:
            return annotated(frame, frame.program.parse_annotation(value.value))
        if type(value) is ExternalInstance and value.name.startswith(ALIAS):
            return declared_alias(frame, value)
    finally:
        followed_now.pop()
    return UNKNOWN


def alias(owner: External, key: Value) -> Value:
    """`Batch = tuple[Tensor, Tensor]`, met as a value: it may be an annotation later."""
    name = owner.name.rpartition(".")[2]
    return ExternalInstance(ALIAS + name, key) if name in GENERICS else UNKNOWN


def declared_alias(frame: Frame, value: ExternalInstance) -> Value:
    """What an annotation that was given a name promises."""
    key = value.receiver
    parts = key.items if type(key) is Sequence and key.items is not None else (key,)
    endless = len(parts) == 2 and parts[1] is UNKNOWN
    return filled(value.name.removeprefix(ALIAS), [declared_by(frame, part) for part in parts], endless)


def generic(frame: Frame, annotation: Expression) -> Value:
    """`list[A]`, `dict[K, V]`, `Optional[A]`, `tuple[A, B]`."""
    assert isinstance(annotation, Subscript)
    owner = annotation.value.evaluate(frame)
    name = owner.name.rpartition(".")[2] if type(owner) is External else ""
    key = annotation.key
    parts = key.items if type(key) is Display else (key,)
    if len(parts) == 1 and type(parts[0]) is Display:
        parts = parts[0].items
    if name not in GENERICS:
        return declared_by(frame, owner)
    values = [annotated(frame, part) for part in parts]
    return filled(name, values, len(parts) == 2 and parts[1] is NOTHING)


def filled(name: str, values: list[Value], endless: bool) -> Value:
    """A generic with its parameters; `endless` when the second of two is an ellipsis."""
    if name in WRAPPERS:
        return join_promises(values[:1] if name == "Annotated" else values)
    if name in CALLABLES:
        given = values[-1] if values else UNKNOWN
        return ExternalInstance("gives", given) if given is not UNKNOWN else UNKNOWN
    if name in LISTS:
        return Sequence("list", None, values[0] if values else UNKNOWN)
    if name in MAPPINGS:
        return Mapping((), values[-1] if values else UNKNOWN)
    return Sequence("tuple", None, values[0]) if endless else Sequence("tuple", tuple(values))
