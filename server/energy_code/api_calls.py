"""What TensorFlow does with what it is given: functions it wraps or runs, elements of datasets, symbolic tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from energy_code.attributes import GRAPH_FUNCTION
from energy_code.iteration import iterate
from energy_code.values import (
    KERAS_TENSOR,
    NONE,
    TENSOR,
    TENSOR_VALUE,
    UNKNOWN,
    ApiFunction,
    ApiInstance,
    Constant,
    ExternalInstance,
    Function,
    Mapping,
    Method,
    Partial,
    Sequence,
    Value,
    options_of,
)

if TYPE_CHECKING:
    from energy_code.calling import Arguments
    from energy_code.frames import Frame

SYMBOLIC = frozenset(["keras.layers.Input", "keras.Input"])
DATASET_SOURCES = frozenset(
    ["tensorflow.data.Dataset.from_tensor_slices", "tensorflow.data.Dataset.from_tensors"]
)
DATASET_CALLBACKS = frozenset(
    ["map", "filter", "flat_map", "interleave", "take_while", "apply", "reduce", "scan"]
)
STRUCTURE_CHANGES = frozenset(["map", "flat_map", "interleave", "zip", "enumerate", "scan", "apply"])
TENSOR_CALLBACKS = frozenset(
    [
        "tensorflow.map_fn",
        "tensorflow.vectorized_map",
        "tensorflow.while_loop",
        "tensorflow.cond",
        "tensorflow.foldl",
        "tensorflow.foldr",
        "tensorflow.scan",
        "tensorflow.switch_case",
        "tensorflow.case",
        "keras.layers.Lambda",
        "tensorflow.custom_gradient",
        "tensorflow.recompute_grad",
        "tensorflow.numpy_function",
        "tensorflow.py_function",
    ]
)
TENSOR_METHODS = frozenset(
    [
        "call",
        "__call__",
        "train_step",
        "test_step",
        "predict_step",
        "update_state",
        "compute_loss",
        "compute_mask",
    ]
)
"""Methods of subclasses that the framework calls with tensors."""
EAGER_CALLBACKS = frozenset(["tensorflow.numpy_function", "tensorflow.py_function"])


def after_api_call(
    frame: Frame, api: str, receiver: Value | None, arguments: Arguments, result: Value
) -> Value:
    """What an API call gives once its effects on functions and structures are known."""
    if api == "tensorflow.function":
        return graph_function(frame, arguments)
    owner, _, name = api.rpartition(".")
    if owner == "tensorflow.data.Dataset" or (
        type(receiver) is ApiInstance and receiver.cls == owner and _is_dataset(frame, owner)
    ):
        return dataset_call(frame, name, receiver, arguments, result)
    if api in SYMBOLIC:
        return ApiInstance(KERAS_TENSOR)
    run_callbacks(frame, api, arguments)
    if name in ("run", "experimental_run_v2") and frame.engine.catalogue.is_subclass(
        owner, "tensorflow.distribute.Strategy"
    ):
        return run_on_replicas(frame, arguments)
    if name == "experimental_distribute_dataset":
        return arguments.get(0, "dataset") or UNKNOWN
    if name == "gradient" and owner == "tensorflow.GradientTape":
        return gradient_like(arguments)
    if type(result) is ApiInstance and result.cls == TENSOR and _symbolic(arguments):
        return ApiInstance(KERAS_TENSOR)
    return result


def _is_dataset(frame: Frame, cls: str) -> bool:
    return frame.engine.catalogue.is_subclass(cls, "tensorflow.data.Dataset")


def _symbolic(arguments: Arguments) -> bool:
    """True when an argument is a symbolic tensor, alone or in a list."""
    for value in arguments.all():
        for option in options_of(value):
            if type(option) is ApiInstance and option.cls == KERAS_TENSOR:
                return True
            if type(option) is Sequence and option.items:
                first = option.items[0]
                if type(first) is ApiInstance and first.cls == KERAS_TENSOR:
                    return True
    return False


def graph_function(frame: Frame, arguments: Arguments) -> Value:
    """`tf.function(f, ...)`, or `tf.function(...)` that waits for its function."""
    jit = arguments.keywords.get("jit_compile", NONE)
    function = arguments.get(0, "func")
    if function is None or function == NONE:
        return ExternalInstance("graph decorator", jit)
    return wrap_in_graph(frame, function, jit)


def wrap_in_graph(frame: Frame, function: Value, jit: Value) -> Value:
    """A function that runs as a graph."""
    mark(frame, function, "jit" if jit == Constant(True) else "graph")
    return ApiInstance(GRAPH_FUNCTION, 1.0, function)


def mark(frame: Frame, function: Value, mode: str) -> None:
    """Note that a user's function is traced."""
    for option in options_of(function):
        plain: Value = option
        while type(plain) is Partial:
            plain = plain.callee
        if type(plain) is Method:
            plain = plain.function
        if type(plain) is ApiInstance and type(plain.inner) in (Function, Method):
            plain = plain.inner.function if type(plain.inner) is Method else plain.inner  # type: ignore[assignment]
        if type(plain) is Function:
            frame.marks.append((plain, mode))  # type: ignore[arg-type]


def is_callable_of_user(value: Value) -> bool:
    """True for functions, bound methods and partials of the program."""
    if type(value) is Partial:
        return is_callable_of_user(value.callee)
    if type(value) is ApiInstance:
        return value.cls == GRAPH_FUNCTION and value.inner is not None
    return type(value) in (Function, Method)


def run_callbacks(frame: Frame, api: str, arguments: Arguments) -> None:
    """Functions handed to an API: TensorFlow calls some of them with tensors."""
    for value in arguments.all():
        if type(value) in CALLABLES and is_callable_of_user(value):
            if api in TENSOR_CALLBACKS:
                call_with_tensors(frame, value)
                if api not in EAGER_CALLBACKS:
                    mark(frame, value, "graph")
        elif type(value) is Sequence and value.items and api in TENSOR_CALLBACKS:
            for item in value.items:
                if is_callable_of_user(item):
                    call_with_tensors(frame, item)


CALLABLES = frozenset([Function, Method, Partial, ApiInstance])


def call_with_tensors(frame: Frame, function: Value, element: Value | None = None) -> Value:
    """What a function gives when TensorFlow calls it with tensors (or with the elements of a dataset)."""
    from energy_code.calling import Arguments, call

    plain = function
    bound = 0
    while type(plain) in (Partial, ApiInstance, Method):
        if type(plain) is Partial:
            bound += len(plain.positional) + len(plain.keywords)
            plain = plain.callee
        elif type(plain) is ApiInstance:
            plain = plain.inner or UNKNOWN
        else:
            bound += 1
            plain = plain.function  # type: ignore[attr-defined]
    if type(plain) is not Function:
        return UNKNOWN
    taken = [p for p in plain.code.parameters if p.kind == "plain" and p.default is None][bound:]
    has_star = any(p.kind == "args" for p in plain.code.parameters)
    if element is not None and type(element) is Sequence and element.items is not None:
        positional = list(element.items) if len(element.items) == len(taken) or has_star else [element]
    elif has_star and not taken:
        return call(frame, function, Arguments([], {}, False), None)
    else:
        positional = [element if element is not None and len(taken) == 1 else TENSOR_VALUE for _ in taken]
    return call(frame, function, Arguments(positional, {}, True), None)


def dataset_call(
    frame: Frame, name: str, receiver: Value | None, arguments: Arguments, result: Value
) -> Value:
    """Datasets keep the structure of their elements through a chain of methods."""
    element = receiver.inner if type(receiver) is ApiInstance else None
    if name in DATASET_CALLBACKS:
        function = (
            arguments.get(1 if name == "reduce" else 0, "map_func")
            or arguments.get(0, "predicate")
            or UNKNOWN
        )
        given = None if name in ("reduce", "scan") else element
        if name == "apply":
            from energy_code.calling import Arguments as Args
            from energy_code.calling import call

            applied = call(frame, function, Args([receiver or UNKNOWN], {}, True), None)
            return applied if applied is not UNKNOWN else result
        if type(function) in CALLABLES and is_callable_of_user(function):
            mark(frame, function, "graph")
            produced = call_with_tensors(frame, function, given)
            if name == "map":
                return dataset_of(result, structure(produced))
            if name in ("flat_map", "interleave"):
                return dataset_of(result, iterate(frame, produced) if produced is not UNKNOWN else None)
    if name in ("from_tensor_slices", "from_tensors"):
        return dataset_of(result, structure(arguments.get(0, "tensors") or UNKNOWN))
    if name == "zip":
        return dataset_of(result, zipped(frame, arguments))
    if name == "enumerate":
        return dataset_of(result, Sequence("tuple", (TENSOR_VALUE, element or TENSOR_VALUE)))
    if name == "as_numpy_iterator":
        return UNKNOWN
    if name in STRUCTURE_CHANGES or element is None:
        return result
    return dataset_of(result, element)


def dataset_of(result: Value, element: Value | None) -> Value:
    """The dataset with elements of a known structure."""
    if type(result) is not ApiInstance:
        return result
    return ApiInstance(result.cls, result.confidence, element)


def structure(value: Value) -> Value | None:
    """Tuples, lists and dictionaries of tensors stay what they are; every leaf becomes a tensor."""
    if type(value) is Sequence and value.kind == "tuple" and value.items is not None:
        return Sequence("tuple", tuple(structure(item) or TENSOR_VALUE for item in value.items))
    if type(value) is Mapping:
        return Mapping(
            tuple((key, structure(item) or TENSOR_VALUE) for key, item in value.items), TENSOR_VALUE
        )
    return TENSOR_VALUE


def zipped(frame: Frame, arguments: Arguments) -> Value | None:
    """Elements of `Dataset.zip((a, b))` or `Dataset.zip(a, b)`."""
    parts = arguments.positional
    if len(parts) == 1 and type(parts[0]) is Sequence and parts[0].items is not None:
        parts = list(parts[0].items)
    if not parts:
        return None
    return Sequence("tuple", tuple(iterate(frame, part) for part in parts))


def run_on_replicas(frame: Frame, arguments: Arguments) -> Value:
    """`strategy.run(f, args=(a, b))` calls f."""
    from energy_code.calling import Arguments as Args
    from energy_code.calling import call

    function = arguments.get(0, "fn") or UNKNOWN
    given = arguments.get(1, "args")
    positional = list(given.items) if type(given) is Sequence and given.items is not None else []
    return call(frame, function, Args(positional, {}, given is None or bool(positional)), None)


def gradient_like(arguments: Arguments) -> Value:
    """Gradients come in the structure of the sources."""
    sources = arguments.get(1, "sources")
    if type(sources) is Sequence and sources.items is not None:
        return Sequence("list", tuple(TENSOR_VALUE for _ in sources.items))
    if type(sources) is ApiInstance and sources.cls in ("tensorflow.Variable", TENSOR):
        return TENSOR_VALUE
    return Sequence("list", None, TENSOR_VALUE)


__all__ = ["ApiFunction", "after_api_call", "call_with_tensors", "mark", "wrap_in_graph"]
