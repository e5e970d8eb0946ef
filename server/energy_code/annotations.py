"""What an annotation promises of a value."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from energy_code.values import (
    NONE,
    UNKNOWN,
    ApiClass,
    ApiInstance,
    Constant,
    External,
    Mapping,
    Sequence,
    UserClass,
    UserInstance,
    Value,
    join,
)

if TYPE_CHECKING:
    from energy_code.expressions import Expression
    from energy_code.frames import Frame

PROMISED = 0.8
"""An annotation names a class; what arrives may be a subclass of it."""

LISTS = {"list", "List", "Sequence", "Iterable", "Iterator", "Collection", "Generator", "Set", "set", "deque"}
MAPPINGS = {"dict", "Dict", "Mapping", "MutableMapping", "OrderedDict", "defaultdict"}
WRAPPERS = {"Optional", "Annotated", "Final", "ClassVar", "Required", "NotRequired", "Union", "Awaitable"}


def annotated(frame: Frame, annotation: Expression) -> Value:
    """An instance of the class that the annotation names, a container of such, or unknown."""
    from energy_code.expressions import Display, Group, Subscript
    from energy_code.operators import Operator

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
    return promise(frame, annotation.evaluate(frame))


def join_promises(options: list[Value]) -> Value:
    """`A | None` is an A."""
    known = [option for option in options if option is not UNKNOWN and option != NONE]
    result = known[0] if known else UNKNOWN
    for option in known[1:]:
        result = join(result, option)
    return result


def promise(frame: Frame, value: Value) -> Value:
    """An instance of a class given by value or, in quotes, by name."""
    if type(value) is ApiClass:
        return ApiInstance(value.name, PROMISED)
    if type(value) is UserClass:
        return UserInstance(value)
    if type(value) is Constant and type(value.value) is str and value.value:
        return annotated(frame, quoted(value.value))
    return UNKNOWN


@lru_cache(maxsize=1024)
def quoted(text: str) -> Expression:
    """The expression inside an annotation in quotes."""
    from energy_code.expressions import NOTHING
    from energy_code.lowering import lower_expression

    return lower_expression(text) if text.strip() and "'" not in text and '"' not in text else NOTHING


def generic(frame: Frame, annotation: Expression) -> Value:
    """`list[A]`, `dict[K, V]`, `Optional[A]`, `tuple[A, B]`."""
    from energy_code.expressions import NOTHING, Display, Subscript

    assert isinstance(annotation, Subscript)
    owner = annotation.value.evaluate(frame)
    name = owner.name.rpartition(".")[2] if type(owner) is External else ""
    key = annotation.key
    parts = key.items if type(key) is Display else (key,)
    if len(parts) == 1 and type(parts[0]) is Display:
        parts = parts[0].items
    values = [annotated(frame, part) for part in parts]
    if name in WRAPPERS:
        return join_promises(values[:1] if name == "Annotated" else values)
    if name in LISTS:
        return Sequence("list", None, values[0] if values else UNKNOWN)
    if name in MAPPINGS:
        return Mapping((), values[-1] if values else UNKNOWN)
    if name in ("tuple", "Tuple"):
        if len(parts) == 2 and parts[1] is NOTHING:  # an ellipsis
            return Sequence("tuple", None, values[0])
        return Sequence("tuple", tuple(values))
    return promise(frame, owner)
