"""Arrays that are made: constants, ranges, random numbers, casts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from energy_code.static_shapes.operations.arguments import Given, Rule, at, dtype_of, first_of, named, pick
from energy_code.static_shapes.operations.arrays import array_of, dims
from energy_code.static_shapes.values.kinds import (
    SOME_NUMBER,
    Array,
)


def _created(name: str, bound: Given, numpy: bool) -> Any:
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


def _drawn(name: str, bound: Given, numpy: bool) -> Any:
    """Numbers drawn for each row: which of its chances came up."""
    rows, count = first_of(bound, numpy), dims(pick(bound, "num_samples"))[0]
    return Array(dtype_of(pick(bound, "dtype"), "int64"), (rows.shape[0], count))


def _integers(name: str, bound: Given, numpy: bool) -> Any:
    return Array(dtype_of(pick(bound, "dtype"), "int32"), dims(pick(bound, "shape")))


def _gamma(name: str, bound: Given, numpy: bool) -> Any:
    chances = array_of(pick(bound, "alpha", "lam"), numpy=False)
    shape = dims(pick(bound, "shape"))
    return Array(dtype_of(pick(bound, "dtype"), "float32"), (*shape, *chances.shape))


def _like(name: str, bound: Given, numpy: bool) -> Any:
    owner = first_of(bound, numpy)
    return Array(dtype_of(pick(bound, "dtype"), owner.dtype) or owner.dtype, owner.shape, numpy)


def _cast(name: str, bound: Given, numpy: bool) -> Any:
    owner = first_of(bound, numpy)
    return Array(dtype_of(pick(bound, "dtype") if "dtype" in bound else at(bound, 1)), owner.shape, numpy)


def _constant(name: str, bound: Given, numpy: bool) -> Any:
    found = array_of(at(bound, 0), dtype_of(pick(bound, "dtype"), ""), numpy)
    shape = pick(bound, "shape")
    if isinstance(found, Array) and shape is not None and name == "constant":
        return Array(found.dtype, dims(shape), numpy)
    if isinstance(found, Array) and name == "Variable":
        return Array(found.dtype, found.shape, False, True)
    return found


def _eye(name: str, bound: Given, numpy: bool) -> Any:
    rows = dims(at(bound, 0))[0]
    columns = pick(bound, "num_columns", "M")
    width = rows if columns is None else dims(columns)[0]
    return Array(dtype_of(pick(bound, "dtype"), "float64" if numpy else "float32"), (rows, width), numpy)


def _range(name: str, bound: Given, numpy: bool) -> Any:
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


def _linspace(name: str, bound: Given, numpy: bool) -> Any:
    start = at(bound, 0)
    kind = start.dtype if isinstance(start, Array) and not numpy else "float64" if numpy else "float32"
    return Array(kind, (dims(pick(bound, "num", default=50))[0],), numpy)


def _one_hot(name: str, bound: Given, numpy: bool) -> Any:
    owner = first_of(bound, numpy)
    depth = dims(pick(bound, "depth", "num_classes"))[0]
    shape = owner.shape
    if name == "to_categorical" and len(shape) > 1 and shape[-1] == 1:
        shape = shape[:-1]
    return Array(dtype_of(pick(bound, "dtype"), "float64" if numpy else "float32"), (*shape, depth), numpy)


def _padded_sequences(name: str, bound: Given, numpy: bool) -> Any:
    given, length = at(bound, 0), pick(bound, "maxlen")
    rows = given.shape[0] if isinstance(given, Array) else len(given) if isinstance(given, list) else None
    return Array(
        dtype_of(pick(bound, "dtype"), "int32"), (rows, dims(length)[0] if length is not None else None), True
    )


def _random_like_numpy(name: str, bound: Given, numpy: bool) -> Any:
    kind = "int64" if name in ("randint", "integers", "poisson", "binomial") else "float64"
    wanted = pick(bound, "size")
    dtype = dtype_of(pick(bound, "dtype"), kind) or kind
    return Array(dtype, () if wanted is None else dims(wanted), True)


def _rand(name: str, bound: Given, numpy: bool) -> Any:
    return Array("float64", dims(tuple(bound.values())), True)


def _choice(name: str, bound: Given, numpy: bool) -> Any:
    given, wanted = at(bound, 0), pick(bound, "size")
    kind = given if isinstance(given, Array) else array_of(given) if isinstance(given, list) else None
    dtype = kind.dtype if isinstance(kind, Array) else "int64"
    return Array(dtype, () if wanted is None else dims(wanted), True)


def _multinomial(name: str, bound: Given, numpy: bool) -> Any:
    chances, wanted = array_of(pick(bound, "pvals")), pick(bound, "size")
    return Array("int64", (*(() if wanted is None else dims(wanted)), *chances.shape[-1:]), True)


def _permutation(name: str, bound: Given, numpy: bool) -> Any:
    given = at(bound, 0)
    return given if isinstance(given, Array) else Array("int64", dims(given), True)


RULES: Mapping[str, Rule] = {
    **named(
        """zeros ones empty fill full normal uniform truncated_normal stateless_normal stateless_uniform""",
        _created,
    ),
    **named("zeros_like ones_like full_like empty_like", _like),
    **named("cast saturate_cast", _cast),
    **named("constant convert_to_tensor array asarray Variable convert_to_numpy", _constant),
    **named("categorical", _drawn),
    **named("randint", _integers),
    **named("gamma poisson", _gamma),
    **named("eye identity_matrix", _eye),
    **named("range arange", _range),
    **named("linspace", _linspace),
    **named("one_hot to_categorical", _one_hot),
    **named("pad_sequences", _padded_sequences),
}


NUMPY_RANDOM: Mapping[str, Rule] = {
    **named(
        """normal uniform randint integers random random_sample standard_normal poisson binomial exponential beta
        gamma laplace lognormal""",
        _random_like_numpy,
    ),
    **named("rand randn", _rand),
    **named("choice", _choice),
    **named("multinomial", _multinomial),
    **named("permutation permuted", _permutation),
}
"""What generators of random numbers give: their shape is called `size`."""
