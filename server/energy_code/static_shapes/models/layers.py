"""Layers as they are made and applied: what a layer gives for what it is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from energy_code.static_shapes.operations.arrays import dims
from energy_code.static_shapes.parameters import bind
from energy_code.static_shapes.values.kinds import (
    SOME_NUMBER,
    UNKNOWN,
    Array,
    Dims,
    Function,
    Layer,
    Made,
    Model,
    Name,
)
from energy_data.prediction.applications import APPLICATION, drawn
from energy_data.prediction.layer_outputs import Shape, UnknownShapeError, output_shape

SIZES = (40320, 80640)
"""Stand in for a size that is not known, one after the other: what differs is not known either. Many numbers divide them."""
KEEP_DTYPE = {
    "Flatten", "Reshape", "Permute", "RepeatVector", "InputLayer", "Identity", "Concatenate", "ZeroPadding1D",
    "ZeroPadding2D",     "Cropping1D", "Cropping2D", "UpSampling2D", "MaxPooling1D", "MaxPooling2D",
}  # fmt: skip
WHOLE_NUMBERS = {
    "TextVectorization",
    "StringLookup",
    "IntegerLookup",
    "Hashing",
    "Discretization",
    "HashedCrossing",
}
DECISIVE = {
    "units", "filters", "kernel_size", "strides", "padding", "pool_size", "data_format", "dilation_rate", "size", "cropping",
    "return_sequences", "return_state", "axis", "axes", "merge_mode", "input_dim", "output_dim", "target_shape", "dims", "n",
    "num_heads", "output_shape", "depth_multiplier", "groups", "keepdims", "equation", "height", "width", "num_tokens",
    "output_mode", "output_sequence_length", "layer", "cell", "output_padding", "output_size",
}  # fmt: skip
"""Arguments that the output depends on."""


def layer(kind: str, given: Sequence[Any], named: Mapping[str, Any], file: str, line: int, name: str) -> Any:
    """A layer with its arguments by name."""
    config = bind(f"keras.layers.{kind}", given, named)
    function = config.get("function") if kind == "Lambda" else None
    made = {key: plain(value) for key, value in config.items() if key not in ("name", "function")}
    own_name = config.get("name")
    return Layer(kind, made, file, line, own_name if isinstance(own_name, str) else name, function)


def plain(value: Any) -> Any:
    """An argument as rules read it: names of activations, layers by class and arguments."""
    if isinstance(value, Layer):
        return {"kind": value.kind, "config": value.config}
    if isinstance(value, (list, tuple)):
        return (
            type(value)(plain(each) for each in value)
            if isinstance(value, tuple)
            else [plain(each) for each in value]
        )
    if isinstance(value, Name):
        return value.dotted.rpartition(".")[2]
    if isinstance(value, Made):
        return value.api.rpartition(".")[2]
    if isinstance(value, Function):
        return "function"
    return UNKNOWN if isinstance(value, (Array, Model)) else value


def outputs(made: Layer, inputs: Sequence[Array], config: Mapping[str, Any]) -> Any:
    """What a layer gives: an array, a tuple of them, or UNKNOWN."""
    if any(value is UNKNOWN for key, value in config.items() if key in DECISIVE) or not inputs:
        return UNKNOWN
    shapes = [one.shape for one in inputs]
    open_sizes = any(None in shape for shape in shapes) or any(_open(value) for value in config.values())
    try:
        found = [
            _shapes(made.kind, _filled(config, size), [_sizes(shape, size) for shape in shapes])
            for size in (SIZES if open_sizes else SIZES[:1])
        ]
    except UnknownShapeError:
        return UNKNOWN
    dtype = inputs[0].dtype
    if made.kind in WHOLE_NUMBERS:
        dtype = "int64"
    elif made.kind not in KEEP_DTYPE or dtype == "float64":
        dtype = "float32"
    arrays = []
    for each in zip(*found, strict=True):
        if len({len(shape) for shape in each}) != 1:
            return UNKNOWN
        sizes: Dims = tuple(same[0] if len(set(same)) == 1 else None for same in zip(*each, strict=True))
        arrays.append(Array(dtype, sizes))
    several = len(arrays) > 1
    return tuple(arrays) if several else arrays[0]


def _shapes(kind: str, config: Mapping[str, Any], inputs: Sequence[Shape]) -> list[Shape]:
    if kind.startswith(APPLICATION):
        return [drawn(kind.removeprefix(APPLICATION), config, inputs[0])[0]]
    if kind.startswith("hub."):
        return (
            [(inputs[0][0], *(size or 0 for size in dims(config["output_shape"])))]
            if config.get("output_shape")
            else _none()
        )
    found = output_shape(kind, config, inputs)
    return found if isinstance(found, list) else [found]


def _none() -> list[Shape]:
    raise UnknownShapeError("a model from elsewhere")


def _open(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(_open(each) for each in value.values())
    return value is SOME_NUMBER or (isinstance(value, (tuple, list)) and any(_open(each) for each in value))


def _filled(config: Mapping[str, Any], size: int) -> dict[str, Any]:
    def one(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: one(each) for key, each in value.items()}
        if isinstance(value, (tuple, list)):
            return tuple(one(each) for each in value)
        return size if value is SOME_NUMBER else value

    return {key: one(value) for key, value in config.items()}


def _sizes(shape: Dims, size: int) -> Shape:
    return tuple(size if each is None else each for each in shape)
