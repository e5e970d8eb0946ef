"""Datasets keep the structure of their elements through a chain of methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from energy_code.interpreter.domain.arguments import Arguments
from energy_code.interpreter.domain.values import TENSOR_VALUE, UNKNOWN, ApiInstance, Mapping, Sequence, Value
from energy_code.models.tensorflow.callbacks import CALLABLES, call_with_tensors, is_callable_of_user, mark

if TYPE_CHECKING:
    from energy_code.interpreter.frame import Frame

DATASET = "tensorflow.data.Dataset"
CALLBACKS = frozenset(["map", "filter", "flat_map", "interleave", "take_while", "reduce", "scan"])
SOURCES = frozenset(["from_tensor_slices", "from_tensors"])
UNSTRUCTURED = frozenset(["map", "flat_map", "interleave", "scan", "apply", "zip"])


def dataset_effect(
    frame: Frame, name: str, receiver: Value | None, arguments: Arguments, result: Value
) -> Value:
    """What a method of a dataset gives."""
    element = receiver.inner if type(receiver) is ApiInstance else None
    if name in CALLBACKS:
        return run_callback(frame, name, element, arguments, result)
    if name == "group_by_window":
        return grouped(frame, element, arguments, result)
    if name == "apply":
        return applied(frame, receiver, arguments, result)
    if name in SOURCES:
        return dataset_of(result, structure(arguments.get(0, "tensors") or UNKNOWN))
    if name == "zip":
        return dataset_of(result, zipped(frame, arguments))
    if name == "enumerate":
        return dataset_of(result, Sequence("tuple", (TENSOR_VALUE, element or TENSOR_VALUE)))
    if name == "window":
        return dataset_of(result, windows(element))
    if name == "as_numpy_iterator":
        return UNKNOWN
    if name in UNSTRUCTURED or element is None:
        return result
    return dataset_of(result, element)


def run_callback(
    frame: Frame, name: str, element: Value | None, arguments: Arguments, result: Value
) -> Value:
    """Methods that run a function on each element."""
    function = arguments.get(1 if name == "reduce" else 0, CALLBACK_NAMES.get(name, "map_func")) or UNKNOWN
    produced: Value = UNKNOWN
    if type(function) in CALLABLES and is_callable_of_user(function):
        mark(frame, function, "graph")
        produced = call_with_tensors(frame, function, None if name in ("reduce", "scan") else element)
    if name == "map":
        return dataset_of(result, structure(produced) if produced is not UNKNOWN else None)
    if name in ("flat_map", "interleave"):
        return dataset_of(result, frame.iterate(produced) if produced is not UNKNOWN else None)
    if name == "reduce":
        return structure(arguments.get(0, "initial_state") or UNKNOWN) or result
    return dataset_of(result, element) if name in ("filter", "take_while") and element is not None else result


CALLBACK_NAMES = {
    "filter": "predicate",
    "take_while": "predicate",
    "reduce": "reduce_func",
    "scan": "scan_func",
}


def grouped(frame: Frame, element: Value | None, arguments: Arguments, result: Value) -> Value:
    """`group_by_window(key_func, reduce_func)`: the one is called with elements, the other with a key and a dataset."""

    key = arguments.get(0, "key_func") or UNKNOWN
    if is_callable_of_user(key):
        mark(frame, key, "graph")
        call_with_tensors(frame, key, element)
    reduce = arguments.get(1, "reduce_func") or UNKNOWN
    mark(frame, reduce, "graph")
    window = dataset_of(result, element)
    value = frame.call(reduce, Arguments([TENSOR_VALUE, window], {}, True), None)
    return dataset_of(result, frame.iterate(value)) if value is not UNKNOWN else result


def applied(frame: Frame, receiver: Value | None, arguments: Arguments, result: Value) -> Value:
    """`dataset.apply(f)` is `f(dataset)`."""

    function = arguments.get(0, "transformation_func") or UNKNOWN
    value = frame.call(function, Arguments([receiver or UNKNOWN], {}, True), None)
    return value if value is not UNKNOWN else result


def dataset_of(result: Value, element: Value | None) -> Value:
    """The dataset with elements of a known structure."""
    if type(result) is not ApiInstance:
        return result
    return ApiInstance(result.cls, result.confidence, element)


def structure(value: Value) -> Value:
    """Tuples and dictionaries of tensors stay what they are; every leaf becomes a tensor."""
    if type(value) is Sequence and value.kind == "tuple" and value.items is not None:
        return Sequence("tuple", tuple(structure(item) for item in value.items))
    if type(value) is Mapping:
        return Mapping(tuple((key, structure(item)) for key, item in value.items), TENSOR_VALUE)
    if type(value) is ApiInstance and value.cls in (
        "tensorflow.RaggedTensor",
        "tensorflow.sparse.SparseTensor",
    ):
        return value
    return TENSOR_VALUE


def windows(element: Value | None) -> Value:
    """`window` puts a dataset in the place of every leaf."""
    if type(element) is Sequence and element.items is not None:
        return Sequence("tuple", tuple(windows(item) for item in element.items))
    if type(element) is Mapping:
        return Mapping(tuple((key, windows(item)) for key, item in element.items), windows(element.element))
    return ApiInstance(DATASET, 1.0, element or TENSOR_VALUE)


def zipped(frame: Frame, arguments: Arguments) -> Value | None:
    """Elements of `Dataset.zip((a, b))` or `Dataset.zip(a, b)`."""
    parts = arguments.positional
    if len(parts) == 1 and type(parts[0]) is Sequence and parts[0].items is not None:
        parts = list(parts[0].items)
    if not parts:
        return None
    return Sequence("tuple", tuple(frame.iterate(part) for part in parts))
