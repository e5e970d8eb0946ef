"""Objects of the standard library that hand on what they were given: records, namespaces, executors, exit stacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from energy_code.interpreter.domain.arguments import NO_ARGUMENTS, Arguments
from energy_code.interpreter.domain.definitions import UserInstance
from energy_code.interpreter.domain.values import (
    NONE,
    UNKNOWN,
    ApiInstance,
    Constant,
    ExternalInstance,
    Mapping,
    Sequence,
    Value,
)
from energy_code.interpreter.operations.iteration import RECORD, RESTORED
from energy_code.models.context_managers import entered
from energy_code.models.iterables import CALLED as GETTERS
from energy_code.models.outside_libraries import OUTSIDE_METHODS

if TYPE_CHECKING:
    from energy_code.interpreter.frame import Frame

NAMESPACE = "namespace"
ANY_MEMBER = "any member"
"""What `getattr(keras.layers, name)` gives where the name is not known."""


def make_namespace(frame: Frame, arguments: Arguments) -> Value:
    """`SimpleNamespace(a=1)`, `argparse.Namespace(a=1)`."""
    return ExternalInstance(NAMESPACE, by_name(arguments.keywords))


def names_of(frame: Frame, arguments: Arguments) -> Value:
    """`vars(namespace)`: what it holds by name."""
    value = arguments.positional[0] if arguments.positional else UNKNOWN
    held = type(value) is ExternalInstance and value.name == NAMESPACE
    return value.receiver if held else UNKNOWN  # type: ignore[attr-defined]


def make_record_class(frame: Frame, arguments: Arguments) -> Value:
    """`namedtuple("P", "x y")`, `namedtuple("P", ["x", "y"])`."""
    names = arguments.get(1, "field_names")
    if type(names) is Constant and type(names.value) is str:
        found = names.value.replace(",", " ").split()
    elif type(names) is Sequence and names.items is not None:
        found = [str(item.value) for item in names.items if type(item) is Constant]
    else:
        return UNKNOWN
    return ExternalInstance("record class", Sequence("tuple", tuple(map(Constant, found))))


def make_record(frame: Frame, names: Value, arguments: Arguments) -> Value:
    """A named tuple of a class made by `namedtuple`."""
    assert type(names) is Sequence
    assert names.items is not None
    fields = [str(item.value) for item in names.items if type(item) is Constant]
    given = dict(zip(fields, arguments.positional, strict=False)) | arguments.keywords
    return ExternalInstance(RECORD, by_name({name: given.get(name, UNKNOWN) for name in fields}))


def by_name(values: dict[str, Value]) -> Mapping:
    """Values under the names they were given."""
    return Mapping(tuple((Constant(name), value) for name, value in values.items()))


def replaced(frame: Frame, receiver: Value, arguments: Arguments) -> Value:
    """`record._replace(x=1)`, `dataclasses.replace(record, x=1)`."""
    changes = arguments.keywords
    if type(receiver) is ExternalInstance and type(receiver.receiver) is Mapping:
        items = tuple((key, changes.get(str(key.value), value)) for key, value in pairs(receiver.receiver))
        return ExternalInstance(receiver.name, Mapping(items))
    if type(receiver) is UserInstance and receiver.given is not None:
        given = dict(receiver.given) | {
            name: value for name, value in changes.items() if value is not UNKNOWN
        }
        return UserInstance(receiver.cls, tuple(given.items()))
    return receiver


def pairs(mapping: Mapping) -> list[tuple[Constant, Value]]:
    """Names and values."""
    return [(key, value) for key, value in mapping.items if type(key) is Constant]


def replace(frame: Frame, arguments: Arguments) -> Value:
    """`dataclasses.replace(record, x=1)`."""
    return replaced(frame, arguments.positional[0] if arguments.positional else UNKNOWN, arguments)


def make_field(frame: Frame, arguments: Arguments) -> Value:
    """`dataclasses.field(default_factory=f)`: what the field is where nothing is given."""
    factory = arguments.keywords.get("default_factory")
    return made_by(frame, factory) if factory is not None else arguments.keywords.get("default", UNKNOWN)


def make_defaultdict(frame: Frame, arguments: Arguments) -> Value:
    """`defaultdict(f)`: a value that is not there yet is made by f."""
    factory = arguments.positional[0] if arguments.positional else UNKNOWN
    return Mapping((), made_by(frame, factory))


def made_by(frame: Frame, factory: Value) -> Value:
    """What a function without arguments gives."""

    return frame.call(factory, NO_ARGUMENTS, None)


def submit(frame: Frame, arguments: Arguments) -> Value:
    """`executor.submit(f, x)`: f is called with what follows."""

    if not arguments.positional:
        return UNKNOWN
    function, *given = arguments.positional
    result = frame.call(function, Arguments(given, arguments.keywords, arguments.complete), None)
    return ExternalInstance("future", result)


def start_thread(frame: Frame, arguments: Arguments) -> Value:
    """`Thread(target=f, args=(x,))` calls f."""

    given = arguments.keywords.get("args")
    positional = list(given.items) if type(given) is Sequence and given.items is not None else []
    frame.call(arguments.keywords.get("target", UNKNOWN), Arguments(positional, {}, bool(positional)), None)
    return UNKNOWN


def mapped(frame: Frame, arguments: Arguments) -> Value:
    """`executor.map(f, x)`: f is called with each element."""

    if not arguments.positional:
        return UNKNOWN
    function, *sources = arguments.positional
    given = [frame.iterate(source) for source in sources]
    return Sequence("iterator", None, frame.call(function, Arguments(given, {}, True), None))


def entered_on(frame: Frame, arguments: Arguments) -> Value:
    """`stack.enter_context(manager)`."""

    return entered(frame, arguments.positional[0]) if arguments.positional else UNKNOWN


def wait(frame: Frame, receiver: Value, arguments: Arguments) -> Value:
    """`future.result()`; also what an annotation says that a call gives."""
    return receiver


def keep(frame: Frame, receiver: Value, arguments: Arguments) -> Value:
    """A decorator that keeps what it decorates."""
    return arguments.positional[0] if arguments.positional else UNKNOWN


def manage(frame: Frame, receiver: Value, arguments: Arguments) -> Value:
    """A function under `@contextmanager`: what is entered is what it yields."""

    return ExternalInstance("entered", frame.call(receiver, arguments, None))


SIGNATURES = Mapping((), ApiInstance("tensorflow.types.experimental.ConcreteFunction"))
EXECUTOR = ExternalInstance("executor", NONE)
EXIT_STACK = ExternalInstance("exit stack", NONE)
CONSTRUCTORS: dict[str, Callable[[Frame, Arguments], Value]] = {
    "types.SimpleNamespace": make_namespace,
    "argparse.Namespace": make_namespace,
    "builtins.vars": names_of,
    "collections.namedtuple": make_record_class,
    "collections.defaultdict": make_defaultdict,
    "dataclasses.field": make_field,
    "dataclasses.replace": replace,
    "contextlib.ExitStack": lambda frame, arguments: EXIT_STACK,
    "concurrent.futures.ThreadPoolExecutor": lambda frame, arguments: EXECUTOR,
    "concurrent.futures.ProcessPoolExecutor": lambda frame, arguments: EXECUTOR,
    "multiprocessing.Pool": lambda frame, arguments: EXECUTOR,
    "multiprocessing.pool.ThreadPool": lambda frame, arguments: EXECUTOR,
    "threading.Thread": start_thread,
}
METHODS: dict[tuple[str, str], Callable[[Frame, Arguments], Value]] = {
    ("executor", "map"): mapped,
    ("executor", "imap"): mapped,
    ("executor", "submit"): submit,
    ("exit stack", "enter_context"): entered_on,
    **OUTSIDE_METHODS,
}


def unbound(method: Callable[[Frame, Arguments], Value]) -> Callable[[Frame, Value, Arguments], Value]:
    """A method that does not look at its object."""
    return lambda frame, receiver, arguments: method(frame, arguments)


CALLED: dict[str, Callable[[Frame, Value, Arguments], Value]] = {
    **GETTERS,
    RESTORED: wait,
    "record class": make_record,
    "replace": replaced,
    "wait": wait,
    "gives": wait,
    "keeps": keep,
    "context manager": manage,
    **{f"{owner}.{name}": unbound(method) for (owner, name), method in METHODS.items()},
}


def member(frame: Frame, value: ExternalInstance, name: str) -> Value:
    """An attribute of such an object."""
    if value.name in (RECORD, NAMESPACE) and type(value.receiver) is Mapping:
        if name == "_replace":
            return ExternalInstance("replace", value)
        if name == "_asdict":
            return ExternalInstance("gives", value.receiver)
        return dict(value.receiver.items).get(Constant(name), UNKNOWN)
    if value.name == RESTORED:
        return SIGNATURES if name == "signatures" else value
    if value.name == "future" and name == "result":
        return ExternalInstance("wait", value.receiver)
    if (value.name, name) in METHODS:
        return ExternalInstance(f"{value.name}.{name}", value)
    return UNKNOWN
