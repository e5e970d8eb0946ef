"""What calling a value gives; calls that reach an API are reported here and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from energy_code.interpreter.domain.arguments import Arguments
from energy_code.interpreter.domain.definitions import (
    Descriptor,
    Function,
    Method,
    UserClass,
    UserInstance,
)
from energy_code.interpreter.domain.lattice import INNER, join, widened
from energy_code.interpreter.domain.values import (
    GRAPH_FUNCTION,
    TENSOR_VALUE,
    UNKNOWN,
    ApiClass,
    ApiFunction,
    ApiInstance,
    ApiMethod,
    ApiModule,
    Constant,
    External,
    ExternalInstance,
    Mapping,
    Partial,
    Sequence,
    Union,
    Value,
)
from energy_code.interpreter.limits import MAX_ARGUMENT_NESTING
from energy_code.interpreter.operations.attributes import bind_member, returned
from energy_code.interpreter.operations.loop_counts import epochs_of
from energy_code.models.builtins import call_external
from energy_code.models.containers import call_container_method
from energy_code.models.objects import ANY_MEMBER
from energy_code.models.objects import CALLED as LIBRARY_OBJECTS
from energy_code.models.tensorflow.callbacks import wrap_in_graph
from energy_code.models.tensorflow.effects import after_api_call

if TYPE_CHECKING:
    from energy_code.interpreter.frame import Frame
    from energy_code.interpreter.summary import CallContext
    from energy_code.ir.code import CallSite

UNTOLD = 0.5
"""How sure the reader is of a member whose name it does not know."""


def call_api_function(
    frame: Frame, callee: ApiFunction, arguments: Arguments, site: CallSite | None
) -> Value:
    """A public function, class method or unbound method."""
    entry = frame.program.public.find(callee.name)
    if entry is None:
        return UNKNOWN
    report(frame, site, callee.name, 1.0, arguments)
    receiver: Value = UNKNOWN
    if entry.returns == "self":
        receiver = ApiInstance(callee.name.rpartition(".")[0])
    return after_api_call(frame, callee.name, None, arguments, returned(frame, entry, receiver), site)


def call_api_class(frame: Frame, callee: ApiClass, arguments: Arguments, site: CallSite | None) -> Value:
    """A constructor."""
    report(frame, site, callee.name, 1.0, arguments)
    return after_api_call(frame, callee.name, None, arguments, ApiInstance(callee.name), site)


def call_api_method(frame: Frame, callee: ApiMethod, arguments: Arguments, site: CallSite | None) -> Value:
    """A method of a public class."""
    entry = frame.program.public.find(callee.name)
    if entry is None:
        return UNKNOWN
    receiver = callee.receiver
    confidence = receiver.confidence if type(receiver) is ApiInstance else 1.0
    report(frame, site, callee.name, confidence, arguments)
    return after_api_call(frame, callee.name, receiver, arguments, returned(frame, entry, receiver), site)


def call_api_instance(
    frame: Frame, callee: ApiInstance, arguments: Arguments, site: CallSite | None
) -> Value:
    """A layer, model, loss called as a function; a graph function hands on to the user's own."""
    if callee.cls == GRAPH_FUNCTION and callee.inner is not None:
        return frame.call(callee.inner, arguments, None)
    entry = frame.program.public.member(callee.cls, "__call__")
    if entry is None:
        return UNKNOWN
    report(frame, site, entry.name, callee.confidence, arguments)
    return after_api_call(frame, entry.name, callee, arguments, returned(frame, entry, callee), site)


def report(frame: Frame, site: CallSite | None, api: str, confidence: float, arguments: Arguments) -> None:
    """Note an API call, with the constant epochs of a `fit`."""
    if site is None:
        return
    epochs = 1
    if api.endswith(".fit"):
        epochs = epochs_of(arguments)
    frame.report(site, api, confidence, epochs)


def call_function(frame: Frame, callee: Function, arguments: Arguments, site: CallSite | None) -> Value:
    """A user's function: what it returns for these arguments."""
    return invoke(frame, callee, bind_arguments(callee, arguments, None))


def call_method(frame: Frame, callee: Method, arguments: Arguments, site: CallSite | None) -> Value:
    """A user's function with its first argument bound."""
    return invoke(frame, callee.function, bind_arguments(callee.function, arguments, callee.receiver))


def invoke(frame: Frame, function: Function, given: CallContext) -> Value:
    """Evaluate a user's function, and remember that it was called so."""
    summaries, asked = frame.program.summaries, given
    given, summary = summaries.invocation(function, asked)
    frame.invocations.append((function, given, summary))
    frame.dependencies.append((summaries.called, (function, asked, given), summary.returns))
    return summary.returns


BY_NAME = frozenset(["plain", "keyword"])
"""Parameters that an argument can name."""


def bind_arguments(function: Function, arguments: Arguments, receiver: Value | None) -> CallContext:
    """What the parameters are given, as far as it is known; in the order of the parameters."""
    positional = [receiver, *arguments.positional] if receiver is not None else arguments.positional
    keywords, complete = arguments.keywords, arguments.complete
    given: list[tuple[str, Value]] = []
    place, count = 0, len(positional)
    value: Value | None
    for parameter in function.code.parameters:
        kind = parameter.kind
        if place < count and kind == "plain":
            value = positional[place]
            place += 1
        elif kind in BY_NAME:
            value = keywords.get(parameter.name)
            if value is None:
                if complete:
                    continue
                value = UNKNOWN  # an unpacked argument may have set it
        elif kind == "args":
            value = Sequence("tuple", tuple(positional[place:])) if complete else UNKNOWN
            place = count
        else:
            items = others(function, keywords)
            value = Mapping(items) if items or complete else UNKNOWN
        if type(value) in INNER:
            value = widened(value, MAX_ARGUMENT_NESTING)
        if value is not UNKNOWN or parameter.default is not None:
            given.append((parameter.name, value))
    return tuple(given)


def others(function: Function, keywords: dict[str, Value]) -> tuple[tuple[Value, Value], ...]:
    """What `**kwargs` takes: the keywords that no other parameter has."""
    names = {parameter.name for parameter in function.code.parameters if parameter.kind != "kwargs"}
    return tuple((Constant(name), value) for name, value in keywords.items() if name not in names)


def call_user_class(frame: Frame, callee: UserClass, arguments: Arguments, site: CallSite | None) -> Value:
    """A constructor of the program: an instance that remembers what it was given."""
    init = frame.ask(frame.program.classes.class_attribute, callee, "__init__")
    if type(init) is Function:
        given = bind_arguments(init, arguments, UNKNOWN)
        instance = widened(UserInstance(callee, given), MAX_ARGUMENT_NESTING)
        invoke(frame, init, bind_arguments(init, arguments, instance))
        return instance
    fields = frame.fields(callee)
    pairs = dict(zip(fields, arguments.positional, strict=False)) | arguments.keywords
    known = tuple((name, value) for name, value in pairs.items() if value is not UNKNOWN)
    return widened(UserInstance(callee, known), MAX_ARGUMENT_NESTING)


def call_user_instance(
    frame: Frame, callee: UserInstance, arguments: Arguments, site: CallSite | None
) -> Value:
    """`__call__` of a user's class, or of the public class it inherits from, which runs the user's `call`."""
    method = frame.attribute(callee, "__call__")
    if type(method) is not ApiMethod:
        return frame.call(method, arguments, site)
    result = call_api_method(frame, method, arguments, site)
    body = frame.ask(frame.program.classes.class_attribute, callee.cls, "call")
    bound = bind_member(frame, body, callee)
    if type(bound) in (Method, ApiInstance):
        tensors = [TENSOR_VALUE if value is UNKNOWN else value for value in arguments.positional]
        own = frame.call(bound, Arguments(tensors, arguments.keywords, arguments.complete), None)
        return own if own is not UNKNOWN else result
    return result


def call_partial(frame: Frame, callee: Partial, arguments: Arguments, site: CallSite | None) -> Value:
    """`functools.partial`: the call reaches what was wrapped."""
    merged = Arguments(
        [*callee.positional, *arguments.positional],
        {**dict(callee.keywords), **arguments.keywords},
        arguments.complete,
    )
    return frame.call(callee.callee, merged, site)


def call_one_of(frame: Frame, callee: Union, arguments: Arguments, site: CallSite | None) -> Value:
    """Each alternative; the first one that is an API names the call, with less confidence."""
    result: Value | None = None
    before = frame.sites.get(site) if site is not None else None
    for option in callee.options:
        value = frame.call(option, arguments, site)
        result = value if result is None else join(result, value)
    if site is not None and (found := frame.sites.get(site)) is not None and found != before:
        certainty = 1.0 / len(callee.options)
        frame.sites[site] = found._replace(confidence=min(found.confidence, certainty))
    return UNKNOWN if result is None else result


def call_descriptor(frame: Frame, callee: Descriptor, arguments: Arguments, site: CallSite | None) -> Value:
    """A static method called inside the class body."""
    return call_function(frame, callee.function, arguments, site)


def call_library(frame: Frame, callee: External, arguments: Arguments, site: CallSite | None) -> Value:
    """A name of another library."""
    return call_external(frame, callee.name, arguments)


def call_any_member(frame: Frame, owner: Value, arguments: Arguments, site: CallSite | None) -> Value:
    """A member whose name the source does not tell: the class that all members share names the call."""
    assert type(owner) is ApiModule
    common = frame.program.public.common_class(owner.name)
    if common is None:
        return UNKNOWN
    cls, by_constructor = common
    if by_constructor:
        report(frame, site, cls, UNTOLD, arguments)
    return ApiInstance(cls, UNTOLD)


def call_bound(frame: Frame, callee: ExternalInstance, arguments: Arguments, site: CallSite | None) -> Value:
    """A method of a container, or something that a library gave to be called."""
    if callee.name == "graph decorator":
        return wrap_in_graph(frame, arguments.get(0, "func") or UNKNOWN, callee.receiver)
    if callee.name == ANY_MEMBER:
        return call_any_member(frame, callee.receiver, arguments, site)
    handler = LIBRARY_OBJECTS.get(callee.name)
    if handler is not None:
        return handler(frame, callee.receiver, arguments)
    return call_container_method(frame, callee, arguments, site)


HANDLERS: dict[type[Value], Callable[[Frame, Any, Arguments, Any], Value]] = {
    ApiFunction: call_api_function,
    ApiClass: call_api_class,
    ApiMethod: call_api_method,
    ApiInstance: call_api_instance,
    Function: call_function,
    Method: call_method,
    UserClass: call_user_class,
    UserInstance: call_user_instance,
    Partial: call_partial,
    Union: call_one_of,
    Descriptor: call_descriptor,
    External: call_library,
    ExternalInstance: call_bound,
}
