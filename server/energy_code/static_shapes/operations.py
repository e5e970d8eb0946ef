"""What an operation on arrays gives, by its short name: NumPy's, TensorFlow's and Keras' agree on most of them.

`result(name, bound, numpy)`: `bound` are the arguments by parameter name, in order; UNKNOWN where nothing is said here.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from typing import Any

from energy_code.static_shapes import arrays
from energy_code.static_shapes.arrays import array_of, broadcast, dims, promoted, whole
from energy_code.static_shapes.values import SOME_NUMBER, UNKNOWN, Array, Dims, Items, Name, arrays_of

Bound = Mapping[str, Any]
Rule = Callable[[str, Bound, bool], Any]
ABSENT = object()


def result(name: str, bound: Bound, numpy: bool) -> Any:
    """The value of a call; UNKNOWN where that is not known."""
    rule = RULES.get(name)
    if rule is None:
        return UNKNOWN
    try:
        return rule(name, bound, numpy)
    except (ValueError, TypeError, LookupError, ZeroDivisionError, OverflowError, AttributeError):
        return UNKNOWN


def pick(bound: Bound, *names: str, default: Any = None) -> Any:
    """An argument by any of its names; `names` may hold a place: `1` for the second."""
    for name in names:
        if name in bound:
            return bound[name]
    return default


def at(bound: Bound, place: int, default: Any = ABSENT) -> Any:
    """An argument by its place."""
    listed = list(bound.values())
    if place < len(listed):
        return listed[place]
    if default is ABSENT:
        raise ValueError("an argument is missing")
    return default


def first_of(bound: Bound, numpy: bool) -> Array:
    """The array that an operation is about."""
    found = array_of(at(bound, 0), numpy=numpy)
    if not isinstance(found, Array):
        raise ValueError("not an array")
    return Array(found.dtype, found.shape, numpy)


def dtype_of(value: Any, default: str | None = None) -> str:
    """The name of a dtype, however it was given."""
    if isinstance(value, Name):
        value = value.dotted.rpartition(".")[2]
        value = {
            "int": "int64",
            "float": "float64",
            "bool_": "bool",
            "double": "float64",
            "half": "float16",
        }.get(value, value)
    if isinstance(value, Array):
        return value.dtype
    if isinstance(value, str):
        return {
            "f": "float32",
            "f4": "float32",
            "float": "float64",
            "int": "int64",
            "i4": "int32",
            "i8": "int64",
        }.get(value, value)
    if value is None and default is not None:
        return default
    raise ValueError("a dtype that is not known")


def _elementwise(name: str, bound: Bound, numpy: bool) -> Any:
    given = [value for key, value in bound.items() if key not in _NO_TENSORS]
    made = [
        array_of(value, numpy=numpy) if isinstance(value, (list, tuple)) else value
        for value in given
        if value is not None
    ]
    tensors = [value for value in made if isinstance(value, (Array, int, float)) or value is SOME_NUMBER]
    if len(tensors) != len(made) or not tensors:
        return UNKNOWN
    if not any(isinstance(value, Array) for value in tensors):
        tensors = [array_of(value, numpy=numpy) for value in tensors]
    dtype, is_numpy = promoted(tensors)
    if name in _BOOLEAN:
        dtype = "bool"
    elif (name in ("divide", "truediv", "true_divide") and dtype.startswith(("int", "uint"))) or (
        numpy and name in _FLOATING and not dtype.startswith(("float", "complex"))
    ):
        dtype = "float64"
    shape = broadcast([value.shape if isinstance(value, Array) else () for value in tensors])
    return Array(dtype, shape, numpy and is_numpy)


_NO_TENSORS = {"name", "out", "rate", "seed", "noise_shape", "approximate", "alpha", "negative_slope", "data_format",
               "dtype", "training", "delta", "beta"}  # fmt: skip
_BOOLEAN = {
    "equal",
    "not_equal",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "logical_and",
    "logical_or",
    "logical_not",
    "is_nan",
    "isnan",
    "isinf",
}
_FLOATING = {
    "exp",
    "log",
    "log1p",
    "sqrt",
    "sin",
    "cos",
    "tan",
    "tanh",
    "sigmoid",
    "expm1",
    "log2",
    "log10",
    "arctan",
}


def _same(name: str, bound: Bound, numpy: bool) -> Any:
    return first_of(bound, numpy)


def _reduced(name: str, bound: Bound, numpy: bool) -> Any:
    owner = first_of(bound, numpy)
    axis, keep = pick(bound, "axis", "axes"), pick(bound, "keepdims", "keep_dims")
    if axis is UNKNOWN or keep is UNKNOWN:
        return UNKNOWN
    dtype = ""
    if numpy and name in ("mean", "std", "var", "median", "average") and not owner.dtype.startswith("float"):
        dtype = "float64"
    elif numpy and name == "sum" and owner.dtype in ("bool", "int8", "int16", "int32", "uint8"):
        dtype = "uint64" if owner.dtype == "uint8" else "int64"
    elif name in ("count_nonzero",):
        dtype = "int64"
    elif name in ("reduce_any", "reduce_all", "any", "all"):
        dtype = "bool"
    if name == "norm" and pick(bound, "ord", default="euclidean") not in ("euclidean", None, 1, 2):
        return UNKNOWN
    return arrays.reduced(owner, axis, keep, dtype)


def _arg(name: str, bound: Bound, numpy: bool) -> Any:
    owner = first_of(bound, numpy)
    axis = pick(bound, "axis", "dimension")
    if axis is None and not numpy:
        axis = 0
    if isinstance(axis, Name):
        return UNKNOWN
    return arrays.reduced(owner, axis, pick(bound, "keepdims"), "int64")


def _moments(name: str, bound: Bound, numpy: bool) -> Any:
    one = arrays.reduced(first_of(bound, numpy), pick(bound, "axes"), pick(bound, "keepdims"))
    return one, one


def _created(name: str, bound: Bound, numpy: bool) -> Any:
    shape = dims(pick(bound, "shape", "dims", "size", "input_shape"))
    value = pick(bound, "value", "fill_value")
    default = "float64" if numpy else "float32"
    if name in ("fill", "full") and isinstance(value, int) and not isinstance(value, bool):
        default = "int64" if numpy else "int32"
    if (
        "dtype" not in bound
        and isinstance(pick(bound, "minval"), int)
        and isinstance(pick(bound, "maxval"), int)
        and name == "uniform"
    ):
        default = "float32"
    return Array(dtype_of(pick(bound, "dtype"), default) or default, shape, numpy)


def _like(name: str, bound: Bound, numpy: bool) -> Any:
    owner = first_of(bound, numpy)
    return Array(dtype_of(pick(bound, "dtype"), owner.dtype) or owner.dtype, owner.shape, numpy)


def _cast(name: str, bound: Bound, numpy: bool) -> Any:
    owner = first_of(bound, numpy)
    return Array(dtype_of(pick(bound, "dtype") if "dtype" in bound else at(bound, 1)), owner.shape, numpy)


def _constant(name: str, bound: Bound, numpy: bool) -> Any:
    found = array_of(at(bound, 0), dtype_of(pick(bound, "dtype"), ""), numpy)
    shape = pick(bound, "shape")
    if isinstance(found, Array) and shape is not None and name == "constant":
        return Array(found.dtype, dims(shape), numpy)
    if isinstance(found, Array) and name == "Variable":
        return Array(found.dtype, found.shape, False, True)
    return found


def _eye(name: str, bound: Bound, numpy: bool) -> Any:
    rows = dims(at(bound, 0))[0]
    columns = pick(bound, "num_columns", "M")
    width = rows if columns is None else dims(columns)[0]
    return Array(dtype_of(pick(bound, "dtype"), "float64" if numpy else "float32"), (rows, width), numpy)


def _range(name: str, bound: Bound, numpy: bool) -> Any:
    start, stop, step = (
        pick(bound, "start"),
        pick(bound, "limit", "stop"),
        pick(bound, "delta", "step", default=1),
    )
    if stop is None:
        start, stop = 0, start
    given = [start, stop, step]
    kind = "float64" if numpy else "float32"
    if all(isinstance(each, int) or each is SOME_NUMBER for each in given):
        kind = "int64" if numpy else "int32"
    dtype = dtype_of(pick(bound, "dtype"), kind) or kind
    if not all(isinstance(each, (int, float)) for each in given):
        return Array(dtype, (None,), numpy)
    return Array(dtype, (max(0, math.ceil((stop - start) / step)),), numpy)


def _linspace(name: str, bound: Bound, numpy: bool) -> Any:
    start = at(bound, 0)
    kind = start.dtype if isinstance(start, Array) and not numpy else "float64" if numpy else "float32"
    return Array(kind, (dims(pick(bound, "num", default=50))[0],), numpy)


def _reshape(name: str, bound: Bound, numpy: bool) -> Any:
    target = pick(bound, "shape", "newshape") if ("shape" in bound or "newshape" in bound) else at(bound, 1)
    if isinstance(target, Array):
        return UNKNOWN
    return arrays.reshaped(first_of(bound, numpy), target)


def _expand(name: str, bound: Bound, numpy: bool) -> Any:
    return arrays.expanded(
        first_of(bound, numpy), pick(bound, "axis") if "axis" in bound else at(bound, 1, -1)
    )


def _squeeze(name: str, bound: Bound, numpy: bool) -> Any:
    return arrays.squeezed(first_of(bound, numpy), pick(bound, "axis"))


def _transpose(name: str, bound: Bound, numpy: bool) -> Any:
    return arrays.transposed(first_of(bound, numpy), pick(bound, "perm", "axes"))


def _matrix_transpose(name: str, bound: Bound, numpy: bool) -> Any:
    owner = first_of(bound, numpy)
    return Array(owner.dtype, (*owner.shape[:-2], owner.shape[-1], owner.shape[-2]), numpy)


def _parts(value: Any, numpy: bool) -> list[Array]:
    if isinstance(value, Array):
        raise ValueError("not a list")
    found = [array_of(each, numpy=numpy) for each in value]
    if not found or not all(isinstance(each, Array) for each in found):
        raise ValueError("not arrays")
    return found


def _concat(name: str, bound: Bound, numpy: bool) -> Any:
    parts = _parts(at(bound, 0), numpy)
    if name == "vstack" and all(len(part.shape) == 1 for part in parts):
        parts = [arrays.expanded(part, 0) for part in parts]
    axis = pick(bound, "axis", default=0)
    if name == "hstack":
        axis = 0 if len(parts[0].shape) == 1 else 1
    found = arrays.concatenated(parts, axis)
    return Array(found.dtype, found.shape, numpy)


def _stack(name: str, bound: Bound, numpy: bool) -> Any:
    found = arrays.stacked(_parts(at(bound, 0), numpy), pick(bound, "axis", default=0))
    return Array(found.dtype, found.shape, numpy)


def _unstack(name: str, bound: Bound, numpy: bool) -> Any:
    owner = first_of(bound, numpy)
    (axis,) = arrays.axes(pick(bound, "axis", default=0), len(owner.shape))
    count = owner.shape[axis]
    if count is None or count > 1000:
        return UNKNOWN
    return Items([arrays.reduced(owner, axis, False)] * count)


def _split(name: str, bound: Bound, numpy: bool) -> Any:
    owner = first_of(bound, numpy)
    asked = pick(bound, "num_or_size_splits", "indices_or_sections")
    (axis,) = arrays.axes(pick(bound, "axis", default=0), len(owner.shape))
    length = owner.shape[axis]
    if isinstance(asked, (tuple, list)) and numpy:
        ends = [0, *(whole(each) for each in asked), length or 0]
        sizes: list[int | None] = [high - low for low, high in itertools.pairwise(ends)]
    elif isinstance(asked, (tuple, list)):
        sizes = [arrays.size(each) for each in asked]
        if -1 in sizes:
            known = sum(each for each in sizes if each is not None and each >= 0)
            sizes[sizes.index(-1)] = None if length is None else length - known
    else:
        sizes = [None if length is None else length // whole(asked)] * whole(asked)
    made = [
        Array(owner.dtype, (*owner.shape[:axis], each, *owner.shape[axis + 1 :]), numpy) for each in sizes
    ]
    return Items(made)


def _tile(name: str, bound: Bound, numpy: bool) -> Any:
    owner = first_of(bound, numpy)
    times: list[int | None] = list(dims(at(bound, 1)))
    rank = max(len(times), len(owner.shape))
    times = [*[1] * (rank - len(times)), *times]
    shape = (1,) * (rank - len(owner.shape)) + owner.shape
    sizes = tuple(None if a is None or b is None else a * b for a, b in zip(shape, times, strict=True))
    return Array(owner.dtype, sizes, numpy)


def _repeat(name: str, bound: Bound, numpy: bool) -> Any:
    owner, times, axis = first_of(bound, numpy), dims(at(bound, 1)), pick(bound, "axis")
    if len(times) != 1:
        return UNKNOWN
    if axis is None:
        total = arrays.elements(owner.shape)
        return Array(owner.dtype, (None if total is None or times[0] is None else total * times[0],), numpy)
    (place,) = arrays.axes(axis, len(owner.shape))
    length = owner.shape[place]
    new = None if length is None or times[0] is None else length * times[0]
    return Array(owner.dtype, (*owner.shape[:place], new, *owner.shape[place + 1 :]), numpy)


def _pad(name: str, bound: Bound, numpy: bool) -> Any:
    owner = first_of(bound, numpy)
    around = pick(bound, "paddings", "pad_width")
    if isinstance(around, int):
        around = [(around, around)] * len(owner.shape)
    if numpy and around and not isinstance(around[0], (tuple, list)):
        around = [tuple(around)] * len(owner.shape)
    sizes = []
    for length, (before, after) in zip(owner.shape, around, strict=True):
        sizes.append(None if length is None else length + whole(before) + whole(after))
    return Array(owner.dtype, tuple(sizes), numpy)


def _matmul(name: str, bound: Bound, numpy: bool) -> Any:
    a, b = (array_of(at(bound, place), numpy=numpy) for place in (0, 1))
    if name == "matvec":
        return arrays.reduced(
            arrays.matmul(a, arrays.expanded(b, -1), pick(bound, "transpose_a") is True), -1, False
        )
    left = (pick(bound, "transpose_a") or pick(bound, "adjoint_a")) is True
    return arrays.matmul(a, b, left, (pick(bound, "transpose_b") or pick(bound, "adjoint_b")) is True)


def _tensordot(name: str, bound: Bound, numpy: bool) -> Any:
    a, b = (array_of(at(bound, place), numpy=numpy) for place in (0, 1))
    shared = pick(bound, "axes", default=2)
    if isinstance(shared, int):
        gone = [list(range(len(a.shape) - shared, len(a.shape))), list(range(shared))]
    else:
        gone = [arrays.axes(each, len(one.shape)) for each, one in zip(shared, (a, b), strict=True)]
    kept = [
        each
        for one, places in zip((a, b), gone, strict=True)
        for at, each in enumerate(one.shape)
        if at not in places
    ]
    return Array(promoted([a, b])[0], tuple(kept), numpy)


def _einsum(name: str, bound: Bound, numpy: bool) -> Any:
    listed = list(bound.values())
    equation = str(listed[0]).replace(" ", "")
    left, arrow, right = equation.partition("->")
    tensors = [array_of(each, numpy=numpy) for each in listed[1:] if isinstance(each, (Array, list))]
    known: dict[str, int | None] = {}
    middle: Dims = ()
    for term, tensor in zip(left.split(","), tensors, strict=True):
        before, dots, after = term.partition("...")
        if dots:
            middle = tensor.shape[len(before) : len(tensor.shape) - len(after)]
        elif len(term) != len(tensor.shape):
            return UNKNOWN
        for letter, length in [
            *zip(before, tensor.shape, strict=False),
            *zip(after[::-1], tensor.shape[::-1], strict=False),
        ]:
            known[letter] = length if known.get(letter) is None else known[letter]
    if not arrow:
        return UNKNOWN
    before, dots, after = right.partition("...")
    found = (*(known[each] for each in before), *(middle if dots else ()), *(known[each] for each in after))
    return Array(promoted(tensors)[0], found, numpy)


def _gather(name: str, bound: Bound, numpy: bool) -> Any:
    table, indices = first_of(bound, numpy), array_of(at(bound, 1), numpy=numpy)
    axis = pick(bound, "axis")
    batch = pick(bound, "batch_dims", default=0)
    if batch or not isinstance(indices, Array):
        return UNKNOWN
    place = 0 if axis is None else arrays.axes(axis, len(table.shape))[0]
    return Array(table.dtype, (*table.shape[:place], *indices.shape, *table.shape[place + 1 :]), numpy)


def _gather_nd(name: str, bound: Bound, numpy: bool) -> Any:
    table, indices = first_of(bound, numpy), array_of(at(bound, 1), numpy=numpy)
    depth = indices.shape[-1]
    if depth is None or pick(bound, "batch_dims", default=0):
        return UNKNOWN
    return Array(table.dtype, (*indices.shape[:-1], *table.shape[depth:]), numpy)


def _one_hot(name: str, bound: Bound, numpy: bool) -> Any:
    owner = first_of(bound, numpy)
    depth = dims(pick(bound, "depth", "num_classes"))[0]
    shape = owner.shape
    if name == "to_categorical" and len(shape) > 1 and shape[-1] == 1:
        shape = shape[:-1]
    return Array(dtype_of(pick(bound, "dtype"), "float64" if numpy else "float32"), (*shape, depth), numpy)


def _top_k(name: str, bound: Bound, numpy: bool) -> Any:
    owner, k = first_of(bound, numpy), whole(pick(bound, "k", default=1))
    shape = (*owner.shape[:-1], k)
    return Array(owner.dtype, shape, numpy), Array("int32", shape, numpy)


def _argsort(name: str, bound: Bound, numpy: bool) -> Any:
    owner = first_of(bound, numpy)
    return Array("int64" if numpy else "int32", owner.shape, numpy)


def _resize(name: str, bound: Bound, numpy: bool) -> Any:
    owner = first_of(bound, numpy)
    if name in ("resize_with_crop_or_pad", "resize_with_pad", "crop_to_bounding_box", "pad_to_bounding_box"):
        height, width = dims(pick(bound, "target_height"))[0], dims(pick(bound, "target_width"))[0]
    else:
        height, width = dims(pick(bound, "size"))
    kept = name in ("resize_with_crop_or_pad", "crop_to_bounding_box", "pad_to_bounding_box") or pick(
        bound, "method"
    ) in ("nearest",)
    if isinstance(pick(bound, "method"), Name):
        kept = "NEAREST" in pick(bound, "method").dotted
    return Array(
        owner.dtype if kept else "float32", (*owner.shape[:-3], height, width, owner.shape[-1]), numpy
    )


def _random_crop(name: str, bound: Bound, numpy: bool) -> Any:
    owner = first_of(bound, numpy)
    return Array(owner.dtype, dims(pick(bound, "size")), numpy)


def _central_crop(name: str, bound: Bound, numpy: bool) -> Any:
    owner, fraction = first_of(bound, numpy), pick(bound, "central_fraction")
    sizes = []
    for length in owner.shape[-3:-1]:
        start = None if length is None else int((length - length * fraction) / 2)
        sizes.append(None if length is None or start is None else length - 2 * start)
    return Array(owner.dtype, (*owner.shape[:-3], *sizes, owner.shape[-1]), numpy)


def _grey(name: str, bound: Bound, numpy: bool) -> Any:
    owner = first_of(bound, numpy)
    return Array(owner.dtype, (*owner.shape[:-1], 3 if name == "grayscale_to_rgb" else 1), numpy)


def _convert_image(name: str, bound: Bound, numpy: bool) -> Any:
    return Array(dtype_of(pick(bound, "dtype")), first_of(bound, numpy).shape, numpy)


def _floated(name: str, bound: Bound, numpy: bool) -> Any:
    owner = first_of(bound, numpy)
    return Array(owner.dtype if owner.dtype.startswith("float") else "float32", owner.shape, numpy)


def _cross_entropy(name: str, bound: Bound, numpy: bool) -> Any:
    logits = pick(bound, "logits")
    if not isinstance(logits, Array):
        return UNKNOWN
    return logits if name.startswith("sigmoid") else Array(logits.dtype, logits.shape[:-1], numpy)


def _convolved(name: str, bound: Bound, numpy: bool) -> Any:
    image, kernel = first_of(bound, numpy), at(bound, 1)
    steps = pick(bound, "strides", "stride", default=1)
    count = len(image.shape) - 2
    step = [steps] * count if isinstance(steps, int) else [whole(each) for each in steps]
    step = step * count if len(step) == 1 else step[1:-1] if len(step) == count + 2 else step
    padding = str(pick(bound, "padding", default="valid")).lower()
    sizes: list[int | None] = []
    for place, length in enumerate(image.shape[1:-1]):
        window = kernel.shape[place]
        if length is None or window is None:
            sizes.append(None)
        else:
            sizes.append(
                -(-length // step[place]) if padding == "same" else (length - window) // step[place] + 1
            )
    depth = kernel.shape[-1]
    if name == "depthwise_conv2d":
        depth = None if None in kernel.shape[-2:] else kernel.shape[-2] * kernel.shape[-1]
    return Array(image.dtype, (image.shape[0], *sizes, depth), numpy)


def _pooled(name: str, bound: Bound, numpy: bool) -> Any:
    image = first_of(bound, numpy)
    count = len(image.shape) - 2
    wanted: list[list[int]] = []
    for value in (pick(bound, "ksize", "pool_size"), pick(bound, "strides")):
        value = wanted[0] if value is None else value
        listed = [value] * count if isinstance(value, int) else [whole(each) for each in value]
        wanted.append(
            listed[1:-1] if len(listed) == count + 2 else listed * count if len(listed) == 1 else listed
        )
    same = str(pick(bound, "padding", default="valid")).lower() == "same"
    sizes = [
        None
        if length is None
        else -(-length // wanted[1][place])
        if same
        else (length - wanted[0][place]) // wanted[1][place] + 1
        for place, length in enumerate(image.shape[1:-1])
    ]
    return Array(image.dtype, (image.shape[0], *sizes, image.shape[-1]), numpy)


def _broadcast_to(name: str, bound: Bound, numpy: bool) -> Any:
    return Array(
        first_of(bound, numpy).dtype, dims(pick(bound, "shape") if "shape" in bound else at(bound, 1)), numpy
    )


def _slice(name: str, bound: Bound, numpy: bool) -> Any:
    owner = first_of(bound, numpy)
    begin, asked = pick(bound, "begin"), pick(bound, "size")
    sizes = []
    for place, each in enumerate(asked):
        length = owner.shape[place]
        start = begin[place]
        sizes.append(each if each != -1 else None if length is None else length - whole(start))
    return Array(owner.dtype, tuple(arrays.size(each) for each in sizes), numpy)


def _where(name: str, bound: Bound, numpy: bool) -> Any:
    listed = [
        array_of(each, numpy=numpy) if isinstance(each, list) else each
        for each in bound.values()
        if each is not None
    ]
    if len(listed) < 3:
        return UNKNOWN
    shape = broadcast([each.shape if isinstance(each, Array) else () for each in listed[:3]])
    dtype, _ = promoted(listed[1:3])
    return Array(dtype, shape, numpy)


def _unknown_rows(name: str, bound: Bound, numpy: bool) -> Any:
    owner = first_of(bound, numpy)
    return Array(owner.dtype, (None, *owner.shape[1:]), numpy)


def _fft(name: str, bound: Bound, numpy: bool) -> Any:
    owner = first_of(bound, numpy)
    last = owner.shape[-1]
    if name == "rfft":
        last = None if last is None else last // 2 + 1
    return Array("complex128" if owner.dtype == "float64" else "complex64", (*owner.shape[:-1], last), numpy)


def _shape(name: str, bound: Bound, numpy: bool) -> Any:
    return tuple(SOME_NUMBER if each is None else each for each in first_of(bound, numpy).shape)


def _size(name: str, bound: Bound, numpy: bool) -> Any:
    total = arrays.elements(first_of(bound, numpy).shape)
    return SOME_NUMBER if total is None else total


def _flat(name: str, bound: Bound, numpy: bool) -> Any:
    return arrays.reshaped(first_of(bound, numpy), -1)


def _swapped(name: str, bound: Bound, numpy: bool) -> Any:
    owner = first_of(bound, numpy)
    places = list(range(len(owner.shape)))
    one, other = (arrays.axes(at(bound, place), len(places))[0] for place in (1, 2))
    if name == "moveaxis":
        places.insert(other, places.pop(one))
    else:
        places[one], places[other] = places[other], places[one]
    return arrays.transposed(owner, places)


def _decomposed(name: str, bound: Bound, numpy: bool) -> Any:
    owner = first_of(bound, numpy)
    if name == "det":
        return Array(owner.dtype, owner.shape[:-2], numpy)
    if name in ("solve", "lstsq"):
        second = array_of(at(bound, 1), numpy=numpy)
        return Array(
            owner.dtype, (*owner.shape[:-2], owner.shape[-1], *second.shape[len(owner.shape) - 1 :]), numpy
        )
    if name in ("inv", "cholesky", "pinv"):
        return Array(
            owner.dtype,
            owner.shape if name != "pinv" else (*owner.shape[:-2], owner.shape[-1], owner.shape[-2]),
            numpy,
        )
    return UNKNOWN


def _diag(name: str, bound: Bound, numpy: bool) -> Any:
    owner = first_of(bound, numpy)
    if name == "diag_part" or (numpy and len(owner.shape) == 2):
        return Array(owner.dtype, (*owner.shape[:-2], owner.shape[-1]), numpy)
    return Array(owner.dtype, (*owner.shape, owner.shape[-1]), numpy)


def _padded_sequences(name: str, bound: Bound, numpy: bool) -> Any:
    given, length = at(bound, 0), pick(bound, "maxlen")
    rows = given.shape[0] if isinstance(given, Array) else len(given) if isinstance(given, list) else None
    return Array(
        dtype_of(pick(bound, "dtype"), "int32"), (rows, dims(length)[0] if length is not None else None), True
    )


def _random_like_numpy(name: str, bound: Bound, numpy: bool) -> Any:
    kind = "int64" if name in ("randint", "integers", "poisson", "binomial") else "float64"
    wanted = pick(bound, "size")
    dtype = dtype_of(pick(bound, "dtype"), kind) or kind
    return Array(dtype, () if wanted is None else dims(wanted), True)


def _rand(name: str, bound: Bound, numpy: bool) -> Any:
    return Array("float64", dims(tuple(bound.values())), True)


def _choice(name: str, bound: Bound, numpy: bool) -> Any:
    given, wanted = at(bound, 0), pick(bound, "size")
    kind = given if isinstance(given, Array) else array_of(given) if isinstance(given, list) else None
    dtype = kind.dtype if isinstance(kind, Array) else "int64"
    return Array(dtype, () if wanted is None else dims(wanted), True)


def _permutation(name: str, bound: Bound, numpy: bool) -> Any:
    given = at(bound, 0)
    return given if isinstance(given, Array) else Array("int64", dims(given), True)


def _identity(name: str, bound: Bound, numpy: bool) -> Any:
    value = at(bound, 0)
    return value if arrays_of(value) is not None else UNKNOWN


def _loss(name: str, bound: Bound, numpy: bool) -> Any:
    given = [value for value in bound.values() if isinstance(value, Array)]
    if len(given) < 2:
        return UNKNOWN
    return Array(given[1].dtype, given[1].shape[:-1], False)


def _named(names: str, rule: Rule) -> dict[str, Rule]:
    return dict.fromkeys(names.split(), rule)


RULES: Mapping[str, Rule] = {
    **_named(
        """add subtract multiply divide truediv true_divide floordiv floor_divide mod floormod pow power maximum
        minimum exp log log1p log2 log10 sqrt rsqrt square abs absolute negative sign round floor ceil sin cos tan
        tanh sigmoid softplus erf equal not_equal greater greater_equal less less_equal logical_and logical_or
        logical_not divide_no_nan squared_difference is_nan isnan isinf reciprocal expm1 multiply_no_nan xdivy relu
        relu6 elu selu leaky_relu gelu silu swish dropout bias_add clip_by_value clip softsign arctan hard_sigmoid
        hard_silu mish celu log_sigmoid""",
        _elementwise,
    ),
    **_named(
        """softmax log_softmax l2_normalize cumsum cumprod sort clip_by_norm normalize reverse flip roll
        random_flip_left_right random_flip_up_down flip_left_right flip_up_down adjust_brightness random_brightness
        adjust_contrast random_contrast adjust_saturation random_saturation adjust_hue random_hue adjust_gamma
        shuffle ensure_shape copy fliplr flipud nan_to_num band_part local_response_normalization rgb_to_hsv
        hsv_to_rgb batch_normalization layer_normalization ascontiguousarray stop_gradient rot90 tril triu""",
        _same,
    ),
    **_named(
        """reduce_sum reduce_mean reduce_max reduce_min reduce_prod reduce_any reduce_all reduce_std reduce_variance
        reduce_logsumexp reduce_euclidean_norm sum mean max min amax amin prod any all std var median logsumexp norm
        count_nonzero average""",
        _reduced,
    ),
    **_named("argmax argmin", _arg),
    **_named(
        "zeros ones empty fill full normal uniform truncated_normal stateless_normal stateless_uniform", _created
    ),
    **_named("zeros_like ones_like full_like empty_like", _like),
    **_named("constant convert_to_tensor array asarray Variable convert_to_numpy", _constant),
    **_named("range arange", _range),
    **_named("concat concatenate vstack hstack", _concat),
    **_named("split array_split", _split),
    **_named("matmul dot matvec", _matmul),
    **_named("gather embedding_lookup take", _gather),
    **_named("one_hot to_categorical", _one_hot),
    **_named("argsort", _argsort),
    **_named("resize resize_with_pad resize_with_crop_or_pad crop_to_bounding_box pad_to_bounding_box", _resize),
    **_named("random_crop stateless_random_crop", _random_crop),
    **_named("rgb_to_grayscale grayscale_to_rgb", _grey),
    **_named("convert_image_dtype", _convert_image),
    **_named("cast saturate_cast", _cast),
    **_named("per_image_standardization", _floated),
    **_named(
        "softmax_cross_entropy_with_logits sparse_softmax_cross_entropy_with_logits sigmoid_cross_entropy_with_logits",
        _cross_entropy,
    ),
    **_named("conv1d conv2d conv3d depthwise_conv2d conv depthwise_conv", _convolved),
    **_named("max_pool2d avg_pool2d max_pool avg_pool average_pool max_pool1d avg_pool1d", _pooled),
    **_named("boolean_mask unique compress", _unknown_rows),
    **_named("fft ifft rfft", _fft),
    **_named("inv cholesky pinv det solve lstsq", _decomposed),
    **_named("diag diag_part", _diag),
    **_named("swapaxes moveaxis", _swapped),
    **_named("ravel flatten", _flat),
    **_named("eye identity_matrix", _eye),
    **_named("identity", _identity),
    "linspace": _linspace,
    "reshape": _reshape,
    "expand_dims": _expand,
    "squeeze": _squeeze,
    "transpose": _transpose,
    "matrix_transpose": _matrix_transpose,
    "stack": _stack,
    "unstack": _unstack,
    "tile": _tile,
    "repeat": _repeat,
    "pad": _pad,
    "tensordot": _tensordot,
    "einsum": _einsum,
    "gather_nd": _gather_nd,
    "top_k": _top_k,
    "central_crop": _central_crop,
    "broadcast_to": _broadcast_to,
    "slice": _slice,
    "where": _where,
    "shape": _shape,
    "size": _size,
    "moments": _moments,
    "pad_sequences": _padded_sequences,
    "binary_crossentropy": _loss,
    "mean_squared_error": _loss,
    "mean_absolute_error": _loss,
    "categorical_crossentropy": _loss,
}  # fmt: skip

NUMPY_RANDOM: Mapping[str, Rule] = {
    **_named(
        """normal uniform randint integers random random_sample standard_normal poisson binomial exponential beta gamma
        laplace lognormal""",
        _random_like_numpy,
    ),
    **_named("rand randn", _rand),
    "choice": _choice,
    "permutation": _permutation,
    "permuted": _permutation,
}
"""What generators of random numbers give: their shape is called `size`."""
