"""Features of calls: bytes moved and work beyond that, one small function a family of APIs.

`features(spec)` gives (bytes, work), or None where the shapes and constants given do not determine them. Work is what
the family spends beside moving bytes: floating-point operations of a product, elements that are broadcast, rows that are
reduced one by one. A coefficient for each and a constant for the dispatch make a prediction: see `cost_model`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from energy_data.prediction.api_families import FAMILY_OF
from energy_data.prediction.specs import CallSpec, Tensor

Features = tuple[float, float]
Family = Callable[[CallSpec], "Features | None"]

FLOAT_BYTES = 4


KERAS_ARGUMENTS = {
    "repeats": "multiples",
    "subscripts": "equation",
    "pad_width": "paddings",
    "num_classes": "depth",
}
"""Arguments of `keras.ops` that TensorFlow calls otherwise."""


def features(spec: CallSpec) -> Features | None:
    """Bytes and operations of a call; None for an API without a family or a call that is not wholly known."""
    name = FAMILY_OF.get(spec.api)
    if name is None:
        return None
    otherwise = {
        KERAS_ARGUMENTS[key]: spec.attributes[key] for key in spec.attributes.keys() & KERAS_ARGUMENTS
    }
    if otherwise:
        spec = CallSpec(spec.api, spec.inputs, {**otherwise, **spec.attributes}, spec.mode)
    try:
        return FAMILIES[name](spec)
    except (LookupError, TypeError, ValueError, OverflowError):
        return None  # a constant that is not what the API takes, or fewer tensors than it needs


def broadcast(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape that these broadcast to."""
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    return tuple(max(sizes) if 0 not in sizes else 0 for sizes in zip(*padded, strict=True))


def _read(spec: CallSpec) -> int:
    return sum(tensor.bytes for tensor in spec.inputs)


def _first(spec: CallSpec) -> Tensor:
    return spec.inputs[0]


def constant(spec: CallSpec) -> Features:
    """Views and look-ups that move nothing: `reshape`, `shape`, `Dataset.map`."""
    return 0.0, 0.0


def elementwise(spec: CallSpec) -> Features:
    """As many results as the inputs broadcast to; where a tensor has to be broadcast the kernels are slower."""
    shape = broadcast([tensor.shape for tensor in spec.inputs])
    elements = math.prod(shape)
    stretched = any(1 < tensor.elements < elements for tensor in spec.inputs)
    return float(_read(spec) + elements * _first(spec).itemsize), float(elements if stretched else 0)


def rows(spec: CallSpec, tensor: Tensor) -> int:
    """How many results a reduction over the given axes has; over all where none is given."""
    axis = spec.attributes.get("axis", spec.attributes.get("axes"))
    if axis is None:
        return tensor.shape[0] if spec.api in ROW_BY_ROW and tensor.shape else 1
    reduced = math.prod(tensor.shape[place] for place in numbers(axis))
    return tensor.elements // max(reduced, 1)


ROW_BY_ROW = {"tensorflow.math.argmax", "tensorflow.math.argmin"}
"""Reductions that take the first axis where none is given."""


def reduction(spec: CallSpec) -> Features:
    """Everything is read once, little is written."""
    return float(_read(spec)), float(rows(spec, _first(spec)))


def normalisation(spec: CallSpec) -> Features:
    """Reductions and elementwise work over the widest tensor, row by row: softmax, losses, moments."""
    widest = max(spec.inputs, key=lambda tensor: tensor.bytes)
    return float(2 * _read(spec)), float(widest.elements // max(widest.shape[-1], 1) if widest.shape else 1)


def copy(spec: CallSpec) -> Features:
    """What is read is written somewhere else: `concat`, `transpose`, `stack`."""
    return float(2 * _read(spec)), float(sum(tensor.elements for tensor in spec.inputs))


def numbers(value: object) -> list[int]:
    """A constant as a list of sizes."""
    if isinstance(value, bool) or value is None:
        raise TypeError(value)
    if isinstance(value, (int, float)):
        return [int(value)]
    if isinstance(value, (list, tuple)):
        return [number for part in value for number in numbers(part)]
    raise TypeError(value)


def product(value: object) -> int:
    """The elements of a shape given as a constant."""
    return math.prod(numbers(value))


def tile(spec: CallSpec) -> Features:
    """`tf.tile`, by its multiples."""
    elements = _first(spec).elements * product(spec.attributes["multiples"])
    return float(_read(spec) + elements * _first(spec).itemsize), float(elements)


def repeat(spec: CallSpec) -> Features:
    """`tf.repeat` with one number of repeats."""
    return tile(
        CallSpec(spec.api, spec.inputs[:1], {"multiples": numbers(spec.attributes["repeats"])[0]}, spec.mode)
    )


def pad(spec: CallSpec) -> Features:
    """`tf.pad`, by its paddings."""
    wanted = numbers(spec.attributes["paddings"])
    around = zip(_first(spec).shape, wanted[::2], wanted[1::2], strict=True)
    elements = math.prod(size + before + after for size, before, after in around)
    return float(_read(spec) + elements * _first(spec).itemsize), float(elements)


def created(spec: CallSpec) -> Features:
    """A tensor of a shape that a constant tells: zeros, random numbers, ranges."""
    given: Mapping[str, object] = spec.attributes
    if "shape" in given or "dims" in given:
        elements = product(given.get("shape", given.get("dims")))
    elif "num_rows" in given:
        elements = product(given["num_rows"]) * product(given.get("num_columns") or given["num_rows"])
    elif "num" in given:
        elements = product(given["num"])
    elif "limit" in given or "start" in given:
        start, limit = given.get("start"), given.get("limit")
        low, high = (0, numbers(start)[0]) if limit is None else (numbers(start or 0)[0], numbers(limit)[0])
        elements = max(0, (high - low) // (numbers(given.get("delta", 1))[0] or 1))
    else:
        elements = _first(spec).elements
    return float(elements * FLOAT_BYTES), float(elements)


def one_hot(spec: CallSpec) -> Features:
    """`tf.one_hot` and `to_categorical`: a row of `depth` for each index."""
    depth = numbers(spec.attributes.get("depth", spec.attributes.get("num_classes")))[0]
    elements = _first(spec).elements * depth
    return float(elements * FLOAT_BYTES), float(elements)


def matmul(spec: CallSpec) -> Features:
    """Products of matrices, batched or not, either side transposed."""
    first, second = spec.inputs[:2]
    rows, inner = first.shape[-2:]
    if spec.attributes.get("transpose_a") or spec.attributes.get("adjoint_a"):
        rows, inner = inner, rows
    columns = second.shape[-2 if spec.attributes.get("transpose_b") else -1]
    batch = math.prod(broadcast([first.shape[:-2], second.shape[:-2]]) if len(first.shape) > 2 else ())
    out = batch * rows * columns * first.itemsize
    return float(first.bytes + second.bytes + out), 2.0 * batch * rows * inner * columns


def matvec(spec: CallSpec) -> Features:
    """A matrix times a vector."""
    return float(_read(spec)), 2.0 * _first(spec).elements


def tensordot(spec: CallSpec) -> Features:
    """`tf.tensordot` over a number of axes."""
    first, second = spec.inputs[:2]
    axes = spec.attributes["axes"]
    if isinstance(axes, int):
        shared = math.prod(first.shape[len(first.shape) - axes :])
    else:
        left = numbers(axes)
        shared = math.prod(first.shape[axis] for axis in left[: len(left) // 2])
    results = first.elements // shared * (second.elements // shared)
    return float(first.bytes + second.bytes + results * first.itemsize), 2.0 * results * shared


def einsum(spec: CallSpec) -> Features:
    """`tf.einsum` by its equation: every index that occurs is a loop."""
    equation = str(spec.attributes["equation"]).replace(" ", "")
    left, _, right = equation.partition("->")
    sizes: dict[str, int] = {}
    for term, tensor in zip(left.split(","), spec.inputs, strict=True):
        sizes.update(zip(term, tensor.shape, strict=True))
    results = math.prod(sizes[index] for index in right)
    itemsize = _first(spec).itemsize
    return float(_read(spec) + results * itemsize), 2.0 * math.prod(sizes.values())


def decomposition(spec: CallSpec) -> Features:
    """Inverses, determinants and decompositions: cubic in the side of the matrix."""
    rows, columns = _first(spec).shape[-2:]
    batch = math.prod(_first(spec).shape[:-2])
    return float(2 * _read(spec)), float(batch * rows * columns * min(rows, columns))


def gather(spec: CallSpec) -> Features:
    """Rows picked by index; what is not picked is not read."""
    table, indices = spec.inputs[:2]
    row = math.prod(table.shape[1:])
    picked = indices.elements * row
    return float(2 * picked * table.itemsize + indices.bytes), float(picked)


def gather_nd(spec: CallSpec) -> Features:
    """The same with indices of several dimensions."""
    table, indices = spec.inputs[:2]
    depth = indices.shape[-1]
    picked = indices.elements // max(depth, 1) * math.prod(table.shape[depth:])
    return float(2 * picked * table.itemsize + indices.bytes), float(picked)


def ordering(spec: CallSpec) -> Features:
    """Sorting along the last dimension."""
    elements = _first(spec).elements
    return float(2 * _read(spec)), elements * math.log2(max(2, _first(spec).shape[-1]))


def fourier(spec: CallSpec) -> Features:
    """Fast Fourier transforms of the last dimension."""
    return ordering(spec)


def pair(value: object, default: int = 1) -> tuple[int, int]:
    """A size for height and width, however it was written: 2, (2, 2), [1, 2, 2, 1]."""
    found = [default] if value is None else numbers(value)
    if len(found) == 4:
        found = found[1:3]
    return found[0], found[-1]


def sides(height: int, width: int, kernel: object, strides: object, padding: object) -> tuple[int, int]:
    """Height and width after a window has gone over them."""
    steps = pair(strides)
    if str(padding).lower() == "same":
        return -(-height // steps[0]), -(-width // steps[1])
    window = pair(kernel)
    return max(0, (height - window[0]) // steps[0] + 1), max(0, (width - window[1]) // steps[1] + 1)


def convolution(spec: CallSpec) -> Features:
    """`tf.nn.conv2d` and `depthwise_conv2d`, channels last."""
    image, kernel = spec.inputs[:2]
    batch, height, width, _ = image.shape
    tall, wide, channels, filters = kernel.shape
    size = sides(height, width, (tall, wide), spec.attributes["strides"], spec.attributes["padding"])
    depthwise = spec.api.endswith("depthwise_conv2d")
    results = batch * math.prod(size) * (channels * filters if depthwise else filters)
    work = 2.0 * results * tall * wide * (1 if depthwise else channels)
    return float(image.bytes + kernel.bytes + results * image.itemsize), work


def convolution_1d(spec: CallSpec) -> Features:
    """`tf.nn.conv1d`, channels last."""
    image, kernel = spec.inputs[:2]
    batch, length, _ = image.shape
    wide, channels, filters = kernel.shape
    stride = spec.attributes.get("stride")
    size = sides(length, 1, (wide, 1), (numbers(stride)[0], 1), spec.attributes["padding"])
    results = batch * size[0] * filters
    return float(image.bytes + kernel.bytes + results * image.itemsize), 2.0 * results * wide * channels


def pooling(spec: CallSpec) -> Features:
    """Pooling of images, channels last."""
    image, window = _first(spec), pair(spec.attributes["ksize"])
    batch, height, width, channels = image.shape
    size = sides(height, width, window, spec.attributes["strides"], spec.attributes["padding"])
    results = batch * math.prod(size) * channels
    return float(image.bytes + results * image.itemsize), float(results * math.prod(window))


def resized(spec: CallSpec) -> Features:
    """Images brought to another size; work is done for each pixel of the result."""
    image = _first(spec)
    if "target_height" in spec.attributes:
        size = [*numbers(spec.attributes["target_height"]), *numbers(spec.attributes["target_width"])]
    else:
        size = numbers(spec.attributes["size"])
    results = math.prod(image.shape[:-3]) * size[0] * size[1] * image.shape[-1]
    return float(image.bytes + results * FLOAT_BYTES), float(results)


def cropped(spec: CallSpec) -> Features:
    """A part of an image, or a slice of any tensor, that is copied."""
    given = spec.attributes
    image = _first(spec)
    if "target_height" in given:
        side = numbers(given["target_height"])[0] * numbers(given["target_width"])[0]
        results = math.prod(image.shape[:-3]) * side * image.shape[-1]
    elif "central_fraction" in given:
        fraction = given["central_fraction"]
        if not isinstance(fraction, (int, float)):
            raise TypeError(fraction)
        results = int(image.elements * fraction * fraction)
    else:
        results = product(given["size"])
    return float(2 * results * image.itemsize), float(results)


FAMILIES: Mapping[str, Family] = {
    family.__name__: family
    for family in (
        constant, elementwise, reduction, normalisation, copy, tile, repeat, pad, created, one_hot, matmul,
        matvec, tensordot, einsum, decomposition, gather, gather_nd, ordering, fourier, convolution,
        convolution_1d, pooling, resized, cropped,
    )
}  # fmt: skip
