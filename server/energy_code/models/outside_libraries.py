"""What the libraries around TensorFlow hand out: datasets of `tensorflow_datasets`, layers of `tensorflow_hub`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from energy_code.interpreter.domain.arguments import Arguments
from energy_code.interpreter.domain.values import (
    NONE,
    TENSOR_VALUE,
    UNKNOWN,
    ApiInstance,
    Constant,
    ExternalInstance,
    Mapping,
    Sequence,
    Value,
)
from energy_code.interpreter.operations.iteration import RESTORED

if TYPE_CHECKING:
    from energy_code.interpreter.frame import Frame

DATASET = "tensorflow.data.Dataset"
BUILDER = "datasets builder"
PAIR = Sequence("tuple", (TENSOR_VALUE, TENSOR_VALUE))
FEATURES = Mapping((), TENSOR_VALUE)


def _flag(arguments: Arguments, name: str) -> bool:
    """Whether an argument is given as something that is not False."""
    value = arguments.keywords.get(name)
    return value is not None and not (type(value) is Constant and not value.value)


def _dataset(arguments: Arguments) -> Value:
    element = PAIR if _flag(arguments, "as_supervised") else FEATURES
    whole = arguments.keywords.get("batch_size")
    if type(whole) is Constant and whole.value == -1:
        return element  # everything at once, as tensors
    return ApiInstance(DATASET, inner=element)


def _split(split: Value | None, arguments: Arguments) -> Value:
    """A dataset for one split, one for each of several, or all by their names."""
    one = _dataset(arguments)
    if split is None or split == NONE:
        return Mapping((), one)
    if type(split) is Sequence:
        return Sequence(split.kind, None if split.items is None else (one,) * len(split.items), one)
    return one


def load(frame: Frame, arguments: Arguments) -> Value:
    """`tfds.load(name, split=…, as_supervised=…, with_info=…)` with every form of its result."""
    found = _split(arguments.keywords.get("split"), arguments)
    return Sequence("tuple", (found, UNKNOWN)) if _flag(arguments, "with_info") else found


def builder(frame: Frame, arguments: Arguments) -> Value:
    """`tfds.builder(name)`."""
    return ExternalInstance(BUILDER, NONE)


def as_dataset(frame: Frame, arguments: Arguments) -> Value:
    """`builder.as_dataset(split)`."""
    return _split(arguments.get(0, "split"), arguments)


def as_numpy(frame: Frame, arguments: Arguments) -> Value:
    """`tfds.as_numpy(dataset)`: its elements are arrays, which no call of TensorFlow's comes from."""
    return Sequence("iterator", None, UNKNOWN)


def keras_layer(frame: Frame, arguments: Arguments) -> Value:
    """`hub.KerasLayer(address)`."""
    return ApiInstance("keras.Layer")


def hub_load(frame: Frame, arguments: Arguments) -> Value:
    """`hub.load(address)`: what is in it is not known, but its functions give tensors."""
    return ExternalInstance(RESTORED, TENSOR_VALUE)


OUTSIDE: dict[str, Callable[[Frame, Arguments], Value]] = {
    "tensorflow_datasets.load": load,
    "tensorflow_datasets.builder": builder,
    "tensorflow_datasets.as_numpy": as_numpy,
    "tensorflow_hub.KerasLayer": keras_layer,
    "tensorflow_hub.load": hub_load,
}
OUTSIDE_METHODS: dict[tuple[str, str], Callable[[Frame, Arguments], Value]] = {
    (BUILDER, "as_dataset"): as_dataset
}
