"""The few built-ins and library functions that hand on what they are given."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import TYPE_CHECKING

from energy_code.interpreter.domain.arguments import Arguments
from energy_code.interpreter.domain.definitions import (
    Descriptor,
    Function,
    Super,
    UserClass,
    UserInstance,
)
from energy_code.interpreter.domain.lattice import join_all
from energy_code.interpreter.domain.values import (
    NONE,
    UNKNOWN,
    ApiInstance,
    ApiModule,
    Constant,
    ExternalInstance,
    Mapping,
    Partial,
    Sequence,
    Union,
    Value,
)
from energy_code.interpreter.operations.iteration import DATASET_LIKE
from energy_code.interpreter.operations.loop_counts import length_of
from energy_code.interpreter.operations.side_effects import ANY, note_attribute
from energy_code.ir.operators import is_tensor, tensor_of
from energy_code.models.iterables import FUNCTIONS, transposed
from energy_code.models.objects import ANY_MEMBER, CONSTRUCTORS
from energy_code.models.outside_libraries import OUTSIDE
from energy_code.models.type_call import make_type

if TYPE_CHECKING:
    from energy_code.interpreter.domain.definitions import Scope
    from energy_code.interpreter.frame import Frame

BUILTIN_NAMES = frozenset(dir(builtins))


def call_external(frame: Frame, name: str, arguments: Arguments) -> Value:
    """What a function of another library gives."""
    handler = HANDLERS.get(name)
    if handler is None:
        return UNKNOWN
    return handler(frame, arguments)


def first(arguments: Arguments) -> Value:
    """The first argument."""
    return arguments.positional[0] if arguments.positional else UNKNOWN


def same(frame: Frame, arguments: Arguments) -> Value:
    """Functions that give their argument back: copies, casts, decorators that keep the signature."""
    return first(arguments)


def second(frame: Frame, arguments: Arguments) -> Value:
    """`typing.cast(type, value)`."""
    return arguments.positional[1] if len(arguments.positional) > 1 else UNKNOWN


def make_sequence(kind: str) -> Callable[[Frame, Arguments], Value]:
    """`list(x)`, `tuple(x)`, `set(x)`, `iter(x)`, `reversed(x)`."""

    def handler(frame: Frame, arguments: Arguments) -> Value:
        if not arguments.positional:
            return Sequence(kind, ())  # type: ignore[arg-type]
        value = first(arguments)
        if type(value) is Sequence and value.items is not None:
            return Sequence(kind, value.items)  # type: ignore[arg-type]
        return Sequence(kind, None, frame.iterate(value))  # type: ignore[arg-type]

    return handler


def make_iterator(frame: Frame, arguments: Arguments) -> Value:
    """`iter(x)`; a dataset gives an iterator with methods of its own."""
    value = first(arguments)
    if type(value) is ApiInstance and value.cls in DATASET_LIKE:
        return ApiInstance("tensorflow.data.Iterator", 1.0, frame.iterate(value))
    return make_sequence("iterator")(frame, arguments)


def make_reversed(frame: Frame, arguments: Arguments) -> Value:
    """`reversed(x)`."""
    value = first(arguments)
    if type(value) is Sequence and value.items is not None:
        return Sequence("iterator", value.items[::-1])
    return Sequence("iterator", None, frame.iterate(value))


def make_dict(frame: Frame, arguments: Arguments) -> Value:
    """`dict(a=1)`, `dict(other)`, `dict(pairs)`."""
    items = tuple((Constant(name), value) for name, value in arguments.keywords.items())
    value = first(arguments)
    if type(value) is Mapping:
        return Mapping((*value.items, *items), value.element)
    if value is UNKNOWN:
        return Mapping(items)
    pair = frame.iterate(value)
    return Mapping(items, frame.index(pair, Constant(1)))


def make_range(frame: Frame, arguments: Arguments) -> Value:
    """`range(...)` with its length where the arguments are constant."""
    numbers = [
        value.value for value in arguments.positional if type(value) is Constant and type(value.value) is int
    ]
    if len(numbers) != len(arguments.positional) or not 1 <= len(numbers) <= 3 or numbers[2:] == [0]:
        return ExternalInstance("range", UNKNOWN)
    return ExternalInstance("range", Constant(len(range(*numbers))))


def make_enumerate(frame: Frame, arguments: Arguments) -> Value:
    """`enumerate(x)`."""
    value = first(arguments)
    length = length_of(value)
    if type(value) is Sequence and value.items is not None:
        return Sequence(
            "iterator", tuple(Sequence("tuple", (Constant(i), item)) for i, item in enumerate(value.items))
        )
    pair = Sequence("tuple", (UNKNOWN, frame.iterate(value)))
    return (
        Sequence("iterator", None, pair)
        if length is None
        else Sequence("iterator", (pair,) * min(length, 64))
    )


def make_zip(frame: Frame, arguments: Arguments) -> Value:
    """`zip(a, b)`, `zip(*rows)`."""
    if not arguments.positional and arguments.unpacked is not UNKNOWN:
        return transposed(frame, arguments.unpacked)
    element = Sequence("tuple", tuple(frame.iterate(value) for value in arguments.positional))
    lengths = [length_of(value) for value in arguments.positional]
    known = [length for length in lengths if length is not None]
    if known and len(known) == len(lengths) and min(known) <= 64:
        return Sequence("iterator", (element,) * min(known))
    return Sequence("iterator", None, element)


def make_map(frame: Frame, arguments: Arguments) -> Value:
    """`map(f, x)`: f is called here."""

    given = [frame.iterate(value) for value in arguments.positional[1:]]
    return Sequence("iterator", None, frame.call(first(arguments), Arguments(given, {}, True), None))


def make_filter(frame: Frame, arguments: Arguments) -> Value:
    """`filter(f, x)`."""
    return Sequence("iterator", None, frame.iterate(second(frame, arguments)))


def make_next(frame: Frame, arguments: Arguments) -> Value:
    """`next(x)`."""
    return frame.iterate(first(arguments))


def make_sorted(frame: Frame, arguments: Arguments) -> Value:
    """`sorted(x, key=f)`."""
    run_key(frame, arguments)
    return Sequence("list", None, frame.iterate(first(arguments)))


def run_key(frame: Frame, arguments: Arguments) -> None:
    """The key function of `sorted`, `min`, `max` is called with each element."""

    key = arguments.keywords.get("key")
    if key is not None:
        frame.call(key, Arguments([frame.iterate(first(arguments))], {}, True), None)


def make_extreme(frame: Frame, arguments: Arguments) -> Value:
    """`max(x)`, `max(a, b)`: one of the elements."""
    run_key(frame, arguments)
    if len(arguments.positional) == 1:
        return frame.iterate(first(arguments))
    return join_all(tuple(arguments.positional))


def make_sum(frame: Frame, arguments: Arguments) -> Value:
    """`sum(x)`, `abs(x)`: of tensors a tensor."""

    value = first(arguments)
    element = frame.iterate(value) if len(arguments.positional) == 1 and not is_tensor(value) else value
    return tensor_of([element]) if is_tensor(element) else UNKNOWN


def make_partial(frame: Frame, arguments: Arguments) -> Value:
    """`functools.partial(f, ...)`."""
    if not arguments.positional or first(arguments) is UNKNOWN:
        return UNKNOWN
    return Partial(first(arguments), tuple(arguments.positional[1:]), tuple(arguments.keywords.items()))


def make_reduce(frame: Frame, arguments: Arguments) -> Value:
    """`functools.reduce(f, x, start)`: f is called with the result so far and the next element."""

    function, source = first(arguments), second(frame, arguments)
    items = source.items if type(source) is Sequence and source.items is not None else None
    values = list(items) if items else [frame.iterate(source)] * 2
    if len(arguments.positional) > 2:
        values.insert(0, arguments.positional[2])
    result = values[0]
    for value in values[1:9]:
        result = frame.call(function, Arguments([result, value], {}, True), None)
    return result


def make_getattr(frame: Frame, arguments: Arguments) -> Value:
    """`getattr(x, "name")`."""

    name = second(frame, arguments)
    if type(name) is Constant and type(name.value) is str and name.value:
        return frame.attribute(first(arguments), name.value)
    if type(name) is Union:
        texts = [option.value for option in name.options if type(option) is Constant]
        return join_all(tuple(frame.attribute(first(arguments), str(text)) for text in texts))
    owner = first(arguments)
    if type(owner) is ApiModule:
        return ExternalInstance(ANY_MEMBER, owner)
    return frame.ask(frame.program.writes.value, owner.cls, ANY) if type(owner) is UserInstance else UNKNOWN


def set_attribute(frame: Frame, arguments: Arguments) -> Value:
    """`setattr(x, "name", value)`."""
    if len(arguments.positional) == 3:
        owner, name, value = arguments.positional
        known = type(name) is Constant and type(name.value) is str and bool(name.value)
        note_attribute(frame, owner, str(name.value) if known else ANY, value)  # type: ignore[attr-defined]
    return NONE


def make_super(frame: Frame, arguments: Arguments) -> Value:
    """`super()` or `super(Cls, self)`."""
    inner: Scope = frame
    while inner.owner is None and inner.outer is not None:
        inner = inner.outer
    if inner.owner is None:
        return UNKNOWN
    cls = first(arguments)
    if type(cls) is not UserClass or cls.shadows(inner.owner):  # its own class, as long as it bears the name
        cls = inner.owner
    return Super(cls, inner.receiver)


def make_descriptor(kind: str) -> Callable[[Frame, Arguments], Value]:
    """`staticmethod(f)` and the like."""

    def handler(frame: Frame, arguments: Arguments) -> Value:
        value = first(arguments)
        return Descriptor(kind, value) if type(value) is Function else value  # type: ignore[arg-type]

    return handler


def make_context_manager(frame: Frame, arguments: Arguments) -> Value:
    """`@contextmanager`: what is entered is what the function yields."""
    value = first(arguments)
    return ExternalInstance("context manager", value)


def make_chain(frame: Frame, arguments: Arguments) -> Value:
    """`itertools.chain(a, b)`."""
    return Sequence("iterator", None, join_all(tuple(frame.iterate(value) for value in arguments.positional)))


def make_product(frame: Frame, arguments: Arguments) -> Value:
    """`itertools.product(a, b)`."""
    return Sequence(
        "iterator", None, Sequence("tuple", tuple(frame.iterate(v) for v in arguments.positional))
    )


def decorator_factory(frame: Frame, arguments: Arguments) -> Value:
    """Decorators that take arguments and keep the function: `@wraps(f)`, `@lru_cache(maxsize=1)`."""
    value = first(arguments)
    return value if type(value) is Function and not arguments.keywords else ExternalInstance("keeps", NONE)


def keep_wrapped(frame: Frame, arguments: Arguments) -> Value:
    """`functools.wraps(f)` gives a decorator that keeps what it decorates."""
    return ExternalInstance("keeps", NONE)


def make_type_variable(frame: Frame, arguments: Arguments) -> Value:
    """`TypeVar("T", bound=Model)`: as an annotation it promises its bound, or one of its constraints."""
    bound = arguments.keywords.get("bound")
    options = (bound,) if bound is not None else tuple(arguments.positional[1:])
    return ExternalInstance("alias Union", Sequence("tuple", options))


def import_by_name(frame: Frame, arguments: Arguments) -> Value:
    """`importlib.import_module("a.b")`."""
    name = first(arguments)
    if type(name) is not Constant or type(name.value) is not str or not name.value:
        return UNKNOWN
    level = len(name.value) - len(name.value.lstrip("."))
    return frame.ask(frame.program.imports.import_relative, frame.module, name.value[level:], level)


HANDLERS: dict[str, Callable[[Frame, Arguments], Value]] = {
    "builtins.list": make_sequence("list"),
    "builtins.tuple": make_sequence("tuple"),
    "builtins.set": make_sequence("set"),
    "builtins.frozenset": make_sequence("set"),
    "builtins.iter": make_iterator,
    "builtins.reversed": make_reversed,
    "builtins.dict": make_dict,
    "builtins.range": make_range,
    "builtins.enumerate": make_enumerate,
    "builtins.zip": make_zip,
    "builtins.map": make_map,
    "builtins.filter": make_filter,
    "builtins.next": make_next,
    "builtins.sorted": make_sorted,
    "builtins.sum": make_sum,
    "builtins.abs": make_sum,
    "builtins.max": make_extreme,
    "builtins.min": make_extreme,
    "builtins.getattr": make_getattr,
    "builtins.setattr": set_attribute,
    "builtins.super": make_super,
    "builtins.type": make_type,
    "builtins.staticmethod": make_descriptor("staticmethod"),
    "builtins.classmethod": make_descriptor("classmethod"),
    "builtins.property": make_descriptor("property"),
    "functools.cached_property": make_descriptor("property"),
    "functools.partial": make_partial,
    "functools.reduce": make_reduce,
    "functools.wraps": keep_wrapped,
    "functools.lru_cache": decorator_factory,
    "functools.cache": same,
    "contextlib.contextmanager": make_context_manager,
    "contextlib.nullcontext": same,
    "collections.OrderedDict": make_dict,
    "collections.deque": make_sequence("list"),
    "copy.copy": same,
    "copy.deepcopy": same,
    "itertools.chain": make_chain,
    "itertools.product": make_product,
    "itertools.islice": lambda frame, arguments: Sequence("iterator", None, frame.iterate(first(arguments))),
    "itertools.cycle": lambda frame, arguments: Sequence("iterator", None, frame.iterate(first(arguments))),
    "tqdm.tqdm": same,
    "tqdm.auto.tqdm": same,
    "tqdm.notebook.tqdm": same,
    "typing.cast": second,
    "typing.no_type_check": same,
    "abc.abstractmethod": same,
    "typing_extensions.override": same,
    "typing.override": same,
    "typing.TypeVar": make_type_variable,
    "importlib.import_module": import_by_name,
    **CONSTRUCTORS,
    **FUNCTIONS,
    **OUTSIDE,
}
