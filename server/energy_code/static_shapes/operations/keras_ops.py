"""Where operations of `keras.ops` give something else than those of TensorFlow: Keras widens dtypes as JAX does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from energy_code.static_shapes.operations import rules
from energy_code.static_shapes.operations.arguments import Given, Rule, at, dtype_of, first_of, named, pick
from energy_code.static_shapes.operations.arrays import FLOATS, array_of, dims, reduced, size
from energy_code.static_shapes.operations.images import patches
from energy_code.static_shapes.operations.rearranging import split
from energy_code.static_shapes.values.kinds import Array

INTEGERS = ("bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "int64")
FLOATING = """exp log log1p log2 log10 sqrt rsqrt sin cos tan tanh expm1 arctan mean std var divide true_divide average
    reciprocal logsumexp softmax linspace median norm"""
"""What gives fractions of whole numbers too."""
WIDENED = """add subtract multiply divide true_divide floor_divide mod power maximum minimum where concatenate stack matmul
    dot einsum tensordot clip append hstack vstack outer"""
"""What gives the dtype that holds everything it is given."""


def widest(values: list[Any]) -> str:
    """The dtype that holds all values; numbers of Python are of any."""
    names = {value.dtype for value in values if isinstance(value, Array)}
    floats = [name for name in FLOATS if name in names]
    if floats:
        return floats[-1]
    if any(isinstance(value, float) for value in values):
        return "float32"
    return max(names, key=INTEGERS.index) if names else "int32"


def result(name: str, bound: Given) -> Any:
    """The value of a call of `keras.ops`; UNKNOWN where that is not known."""
    found = rules.result(name, bound, False, RULES)
    if not isinstance(found, Array) or name in RULES:
        return found
    given = [leaf for value in bound.values() for leaf in _leaves(value)]
    if not given or "dtype" in bound:
        return found
    dtype = widest(given) if name in WIDENED.split() and found.dtype != "bool" else found.dtype
    if name in FLOATING.split() and dtype in INTEGERS:
        dtype = "float32"
    elif name in ("sum", "prod", "cumsum", "cumprod") and dtype in INTEGERS[:5]:
        dtype = "uint32" if dtype.startswith("u") else "int32"
    return Array(dtype, found.shape)


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [leaf for each in value for leaf in _leaves(each)]
    return [value] if isinstance(value, (Array, float, int)) and not isinstance(value, bool) else []


def _place(name: str, bound: Given, numpy: bool) -> Any:
    return reduced(first_of(bound, numpy), pick(bound, "axis"), pick(bound, "keepdims"), "int32")


def _full(name: str, bound: Given, numpy: bool) -> Any:
    return Array(dtype_of(pick(bound, "dtype"), "float32"), dims(pick(bound, "shape")))


def _slice(name: str, bound: Given, numpy: bool) -> Any:
    return Array(first_of(bound, numpy).dtype, dims(pick(bound, "shape")))


def _first(name: str, bound: Given, numpy: bool) -> Any:
    return first_of(bound, numpy)


def _along(name: str, bound: Given, numpy: bool) -> Any:
    return Array(first_of(bound, numpy).dtype, array_of(at(bound, 1), numpy=numpy).shape)


def _outer(name: str, bound: Given, numpy: bool) -> Any:
    one, other = first_of(bound, numpy), array_of(at(bound, 1), numpy=numpy)
    return Array(widest([one, other]), (*one.shape, *other.shape))


def _resized(name: str, bound: Given, numpy: bool) -> Any:
    owner, wanted = first_of(bound, numpy), dims(pick(bound, "size"))
    return Array(owner.dtype, (*owner.shape[:-3], *wanted, owner.shape[-1]))


def _around(name: str, bound: Given, numpy: bool) -> Any:
    """Images cropped or padded: to a size, or by what is left out or added on two sides."""
    owner, sign = first_of(bound, numpy), -1 if name == "crop_images" else 1
    what = "cropping" if sign < 0 else "padding"
    sizes = []
    for length, target, sides in zip(
        owner.shape[-3:-1],
        ("target_height", "target_width"),
        (("top", "bottom"), ("left", "right")),
        strict=True,
    ):
        if pick(bound, target) is not None:
            sizes.append(size(bound[target]))
            continue
        changes = [pick(bound, f"{side}_{what}") for side in sides]
        known = length is not None and all(isinstance(change, int) for change in changes)
        sizes.append(length + sign * sum(changes) if known and length is not None else None)
    return Array(owner.dtype, (*owner.shape[:-3], *sizes, owner.shape[-1]))


def _patches(name: str, bound: Given, numpy: bool) -> Any:
    window = dims(pick(bound, "size"))
    window = window * 2 if len(window) == 1 else window
    strides = pick(bound, "strides")
    steps = window if strides is None else dims(strides)
    return patches(
        first_of(bound, numpy),
        window,
        steps * 2 if len(steps) == 1 else steps,
        pick(bound, "padding", default="valid"),
    )


def _constant(name: str, bound: Given, numpy: bool) -> Any:
    value, dtype = at(bound, 0), dtype_of(pick(bound, "dtype"), "")
    found = array_of(value, dtype, numpy)
    if isinstance(found, Array) and isinstance(value, (list, tuple)) and not dtype:
        # A list is taken for numbers of Python, whatever it holds.
        kind = "int32" if found.dtype in INTEGERS[1:] else "float32" if found.dtype in FLOATS else found.dtype
        return Array(kind, found.shape)
    return found


def _second(name: str, bound: Given, numpy: bool) -> Any:
    return array_of(at(bound, 1), numpy=numpy)


def _found(name: str, bound: Given, numpy: bool) -> Any:
    return Array("bool", first_of(bound, numpy).shape)


def _split(name: str, bound: Given, numpy: bool) -> Any:
    return split(name, bound, numpy, places=True)


def _categorical(name: str, bound: Given, numpy: bool) -> Any:
    shape = (first_of(bound, numpy).shape[0], size(pick(bound, "num_samples")))
    return Array(dtype_of(pick(bound, "dtype"), "int32"), shape)


RANDOM_RULES: Mapping[str, Rule] = {**named("categorical", _categorical)}
"""Of `keras.random`."""
RULES: Mapping[str, Rule] = {
    **named("argmax argmin count_nonzero", _place),
    **named("full", _full),
    **named("slice", _slice),
    **named("slice_update scatter_update", _first),
    **named("take_along_axis", _along),
    **named("outer", _outer),
    **named("resize", _resized),
    **named("crop_images pad_images", _around),
    **named("extract_patches", _patches),
    **named("convert_to_tensor", _constant),
    **named("split", _split),
    **named("binary_crossentropy", _second),
    **named("in_top_k", _found),
}
