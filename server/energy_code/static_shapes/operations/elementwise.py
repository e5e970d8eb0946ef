"""Element by element, reductions, and what keeps the shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from energy_code.static_shapes.operations import arrays
from energy_code.static_shapes.operations.arguments import Given, Rule, at, dtype_of, first_of, named, pick
from energy_code.static_shapes.operations.arrays import array_of, broadcast, promoted
from energy_code.static_shapes.values.kinds import (
    SOME_NUMBER,
    UNKNOWN,
    Array,
    Name,
)
from energy_code.static_shapes.values.structures import (
    arrays_of,
)


def _elementwise(name: str, bound: Given, numpy: bool) -> Any:
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
    elif name in ("abs", "absolute") and dtype.startswith("complex"):
        dtype = "float64" if dtype == "complex128" else "float32"
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


def _same(name: str, bound: Given, numpy: bool) -> Any:
    return first_of(bound, numpy)


def _reduced(name: str, bound: Given, numpy: bool) -> Any:
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
        dtype = dtype_of(pick(bound, "dtype"), "int64")
    elif name in ("reduce_any", "reduce_all", "any", "all"):
        dtype = "bool"
    if name == "norm" and pick(bound, "ord", default="euclidean") not in ("euclidean", None, 1, 2):
        return UNKNOWN
    return arrays.reduced(owner, axis, keep, dtype)


def _arg(name: str, bound: Given, numpy: bool) -> Any:
    owner = first_of(bound, numpy)
    axis = pick(bound, "axis", "dimension")
    if axis is None and not numpy:
        axis = 0
    if isinstance(axis, Name):
        return UNKNOWN
    return arrays.reduced(owner, axis, pick(bound, "keepdims"), dtype_of(pick(bound, "output_type"), "int64"))


def _moments(name: str, bound: Given, numpy: bool) -> Any:
    one = arrays.reduced(first_of(bound, numpy), pick(bound, "axes"), pick(bound, "keepdims"))
    return one, one


def _floated(name: str, bound: Given, numpy: bool) -> Any:
    owner = first_of(bound, numpy)
    return Array(owner.dtype if owner.dtype.startswith("float") else "float32", owner.shape, numpy)


def _cross_entropy(name: str, bound: Given, numpy: bool) -> Any:
    logits = pick(bound, "logits")
    if not isinstance(logits, Array):
        return UNKNOWN
    return logits if name.startswith("sigmoid") else Array(logits.dtype, logits.shape[:-1], numpy)


def _loss(name: str, bound: Given, numpy: bool) -> Any:
    given = [value for value in bound.values() if isinstance(value, Array)]
    if len(given) < 2:
        return UNKNOWN
    return Array(given[1].dtype, given[1].shape[:-1], False)


def _identity(name: str, bound: Given, numpy: bool) -> Any:
    value = at(bound, 0)
    return value if arrays_of(value) is not None else UNKNOWN


def _fft(name: str, bound: Given, numpy: bool) -> Any:
    owner = first_of(bound, numpy)
    last = owner.shape[-1]
    if name == "rfft":
        last = None if last is None else last // 2 + 1
    return Array("complex128" if owner.dtype == "float64" else "complex64", (*owner.shape[:-1], last), numpy)


RULES: Mapping[str, Rule] = {
    **named(
        """add subtract multiply divide truediv true_divide floordiv floor_divide mod floormod pow power maximum
        minimum exp log log1p log2 log10 sqrt rsqrt square abs absolute negative sign round floor ceil sin cos
        tan tanh sigmoid softplus erf equal not_equal greater greater_equal less less_equal logical_and
        logical_or logical_not divide_no_nan squared_difference is_nan isnan isinf reciprocal expm1
        multiply_no_nan xdivy relu relu6 elu selu leaky_relu gelu silu swish dropout bias_add clip_by_value clip
        softsign arctan hard_sigmoid hard_silu mish celu log_sigmoid""",
        _elementwise,
    ),
    **named(
        """softmax log_softmax l2_normalize cumsum cumprod sort clip_by_norm normalize reverse flip roll
        random_flip_left_right random_flip_up_down flip_left_right flip_up_down adjust_brightness
        random_brightness adjust_contrast random_contrast adjust_saturation random_saturation adjust_hue
        random_hue adjust_gamma shuffle ensure_shape copy fliplr flipud nan_to_num band_part
        local_response_normalization rgb_to_hsv hsv_to_rgb rgb_to_yuv yuv_to_rgb rgb_to_yiq
        batch_normalization layer_normalization
        ascontiguousarray stop_gradient rot90 tril triu""",
        _same,
    ),
    **named(
        """reduce_sum reduce_mean reduce_max reduce_min reduce_prod reduce_any reduce_all reduce_std reduce_variance
        reduce_logsumexp reduce_euclidean_norm sum mean max min amax amin prod any all std var median logsumexp
        norm count_nonzero average""",
        _reduced,
    ),
    **named("argmax argmin", _arg),
    **named("moments", _moments),
    **named("per_image_standardization", _floated),
    **named(
        """softmax_cross_entropy_with_logits sparse_softmax_cross_entropy_with_logits
        sigmoid_cross_entropy_with_logits""",
        _cross_entropy,
    ),
    **named(
        """binary_crossentropy mean_squared_error mean_absolute_error categorical_crossentropy huber kl_divergence
        sparse_categorical_crossentropy log_cosh cosine_similarity hinge squared_hinge poisson""",
        _loss,
    ),
    **named("identity", _identity),
    **named("fft ifft rfft", _fft),
}
