"""Images: resized, cropped, grey."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from energy_code.static_shapes.operations.arguments import Given, Rule, dtype_of, first_of, named, pick
from energy_code.static_shapes.operations.arrays import dims
from energy_code.static_shapes.values.kinds import (
    Array,
    Dims,
    Name,
)
from energy_data.prediction.layer_outputs import window_length


def _resize(name: str, bound: Given, numpy: bool) -> Any:
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


def _random_crop(name: str, bound: Given, numpy: bool) -> Any:
    owner = first_of(bound, numpy)
    return Array(owner.dtype, dims(pick(bound, "size")), numpy)


def _central_crop(name: str, bound: Given, numpy: bool) -> Any:
    owner, fraction = first_of(bound, numpy), pick(bound, "central_fraction")
    sizes = []
    for length in owner.shape[-3:-1]:
        start = None if length is None else int((length - length * fraction) / 2)
        sizes.append(None if length is None or start is None else length - 2 * start)
    return Array(owner.dtype, (*owner.shape[:-3], *sizes, owner.shape[-1]), numpy)


def _grey(name: str, bound: Given, numpy: bool) -> Any:
    owner = first_of(bound, numpy)
    return Array(owner.dtype, (*owner.shape[:-1], 3 if name == "grayscale_to_rgb" else 1), numpy)


def _convert_image(name: str, bound: Given, numpy: bool) -> Any:
    return Array(dtype_of(pick(bound, "dtype")), first_of(bound, numpy).shape, numpy)


def patches(images: Array, window: Dims, steps: Dims, padding: object) -> Array:
    """Windows of images, each in the channels of a place."""
    batch, *space, depth = images.shape
    sizes = [
        None if length is None else window_length(length, wide or 1, step or 1, padding)
        for length, wide, step in zip(space, window, steps, strict=True)
    ]
    cells = None if None in window or depth is None else math.prod(each or 1 for each in window) * depth
    return Array(images.dtype, (batch, *sizes, cells))


def _patches(name: str, bound: Given, numpy: bool) -> Any:
    if any(each != 1 for each in dims(pick(bound, "rates", default=(1,)))):
        raise ValueError("windows with gaps")
    window, steps = dims(pick(bound, "sizes"))[1:3], dims(pick(bound, "strides"))[1:3]
    return patches(first_of(bound, numpy), window, steps, pick(bound, "padding"))


def _turned(name: str, bound: Given, numpy: bool) -> Any:
    """Rows and columns of images exchanged."""
    owner, times = first_of(bound, numpy), pick(bound, "k", default=1)
    if not isinstance(times, int):
        raise ValueError("how often is not known")
    *before, height, width, depth = owner.shape
    return Array(owner.dtype, (*before, *((width, height) if times % 2 else (height, width)), depth), numpy)


IMAGE_RULES: Mapping[str, Rule] = {**named("rot90 transpose", _turned)}
"""Operations of `tf.image` that are others elsewhere."""
RULES: Mapping[str, Rule] = {
    **named(
        """resize resize_with_pad resize_with_crop_or_pad crop_to_bounding_box pad_to_bounding_box""",
        _resize,
    ),
    **named("random_crop stateless_random_crop", _random_crop),
    **named("central_crop", _central_crop),
    **named("rgb_to_grayscale grayscale_to_rgb", _grey),
    **named("convert_image_dtype", _convert_image),
    **named("extract_patches", _patches),
}
