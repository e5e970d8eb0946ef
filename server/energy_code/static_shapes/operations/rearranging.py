"""The same elements in another shape or order: reshape, concat, split, pad."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from energy_code.static_shapes.operations import arrays
from energy_code.static_shapes.operations.arguments import Given, Rule, at, first_of, named, pick
from energy_code.static_shapes.operations.arrays import array_of, dims, elements, whole
from energy_code.static_shapes.values.kinds import (
    UNKNOWN,
    Array,
    Items,
)


def _reshape(name: str, bound: Given, numpy: bool) -> Any:
    target = pick(bound, "shape", "newshape") if ("shape" in bound or "newshape" in bound) else at(bound, 1)
    if isinstance(target, Array):
        return UNKNOWN
    return arrays.reshaped(first_of(bound, numpy), target)


def _expand(name: str, bound: Given, numpy: bool) -> Any:
    return arrays.expanded(
        first_of(bound, numpy), pick(bound, "axis") if "axis" in bound else at(bound, 1, -1)
    )


def _squeeze(name: str, bound: Given, numpy: bool) -> Any:
    return arrays.squeezed(first_of(bound, numpy), pick(bound, "axis"))


def _transpose(name: str, bound: Given, numpy: bool) -> Any:
    return arrays.transposed(first_of(bound, numpy), pick(bound, "perm", "axes"))


def _matrix_transpose(name: str, bound: Given, numpy: bool) -> Any:
    owner = first_of(bound, numpy)
    return Array(owner.dtype, (*owner.shape[:-2], owner.shape[-1], owner.shape[-2]), numpy)


def _parts(value: Any, numpy: bool) -> list[Array]:
    if isinstance(value, Array):
        raise ValueError("not a list")
    found = [array_of(each, numpy=numpy) for each in value]
    if not found or not all(isinstance(each, Array) for each in found):
        raise ValueError("not arrays")
    return found


def _concat(name: str, bound: Given, numpy: bool) -> Any:
    parts = _parts(at(bound, 0), numpy)
    if name == "vstack" and all(len(part.shape) == 1 for part in parts):
        parts = [arrays.expanded(part, 0) for part in parts]
    axis = pick(bound, "axis", default=0)
    if name == "hstack":
        axis = 0 if len(parts[0].shape) == 1 else 1
    found = arrays.concatenated(parts, axis)
    return Array(found.dtype, found.shape, numpy)


def _stack(name: str, bound: Given, numpy: bool) -> Any:
    found = arrays.stacked(_parts(at(bound, 0), numpy), pick(bound, "axis", default=0))
    return Array(found.dtype, found.shape, numpy)


def _unstack(name: str, bound: Given, numpy: bool) -> Any:
    owner = first_of(bound, numpy)
    (axis,) = arrays.axes(pick(bound, "axis", default=0), len(owner.shape))
    count = owner.shape[axis]
    if count is None or count > 1000:
        return UNKNOWN
    return Items([arrays.reduced(owner, axis, False)] * count)


def split(name: str, bound: Given, numpy: bool, places: bool = False) -> Any:
    """Several parts along an axis. `places`: a list says where the parts begin, not how long they are."""
    owner = first_of(bound, numpy)
    asked = pick(bound, "num_or_size_splits", "indices_or_sections")
    (axis,) = arrays.axes(pick(bound, "axis", default=0), len(owner.shape))
    length = owner.shape[axis]
    if isinstance(asked, (tuple, list)) and (numpy or places):
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


def _tile(name: str, bound: Given, numpy: bool) -> Any:
    owner = first_of(bound, numpy)
    times: list[int | None] = list(dims(at(bound, 1)))
    rank = max(len(times), len(owner.shape))
    times = [*[1] * (rank - len(times)), *times]
    shape = (1,) * (rank - len(owner.shape)) + owner.shape
    sizes = tuple(None if a is None or b is None else a * b for a, b in zip(shape, times, strict=True))
    return Array(owner.dtype, sizes, numpy)


def _repeat(name: str, bound: Given, numpy: bool) -> Any:
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


def _pad(name: str, bound: Given, numpy: bool) -> Any:
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


def _flat(name: str, bound: Given, numpy: bool) -> Any:
    return arrays.reshaped(first_of(bound, numpy), -1)


def _swapped(name: str, bound: Given, numpy: bool) -> Any:
    owner = first_of(bound, numpy)
    places = list(range(len(owner.shape)))
    one, other = (arrays.axes(at(bound, place), len(places))[0] for place in (1, 2))
    if name == "moveaxis":
        places.insert(other, places.pop(one))
    else:
        places[one], places[other] = places[other], places[one]
    return arrays.transposed(owner, places)


def _diag(name: str, bound: Given, numpy: bool) -> Any:
    owner = first_of(bound, numpy)
    if name == "diag_part" or (numpy and len(owner.shape) == 2):
        return Array(owner.dtype, (*owner.shape[:-2], owner.shape[-1]), numpy)
    return Array(owner.dtype, (*owner.shape, owner.shape[-1]), numpy)


def _meshgrid(name: str, bound: Given, numpy: bool) -> Any:
    lines = [value for key, value in bound.items() if key not in ("indexing", "name", "sparse", "copy")]
    lines = [array_of(each, numpy=numpy) for each in (lines[0] if isinstance(lines[0], list) else lines)]
    lengths = [elements(line.shape) for line in lines]
    if pick(bound, "indexing", default="xy") == "xy":
        lengths[:2] = lengths[1::-1]
    return Items([Array(line.dtype, tuple(lengths), numpy) for line in lines])


def _appended(name: str, bound: Given, numpy: bool) -> Any:
    """`numpy.append`: flat unless an axis is named."""
    parts = [array_of(at(bound, place), numpy=numpy) for place in (0, 1)]
    if pick(bound, "axis") is None:
        parts = [arrays.reshaped(part, -1) for part in parts]
    return arrays.concatenated(parts, pick(bound, "axis", default=None) or 0)


def _deleted(name: str, bound: Given, numpy: bool) -> Any:
    owner, gone = first_of(bound, numpy), at(bound, 1)
    axis = pick(bound, "axis")
    owner = arrays.reshaped(owner, -1) if axis is None else owner
    (place,) = arrays.axes(axis or 0, len(owner.shape))
    length, count = owner.shape[place], 1 if isinstance(gone, int) else None
    left = None if length is None or count is None else length - count
    return Array(owner.dtype, (*owner.shape[:place], left, *owner.shape[place + 1 :]), numpy)


def _blocks(name: str, bound: Given, numpy: bool) -> Any:
    """Channels that become places, or places that become channels."""
    owner, block = first_of(bound, numpy), whole(pick(bound, "block_size"))
    batch, *space, depth = owner.shape
    if name == "depth_to_space":
        sizes = [None if each is None else each * block for each in space]
        return Array(owner.dtype, (batch, *sizes, None if depth is None else depth // block**2))
    sizes = [None if each is None else each // block for each in space]
    return Array(owner.dtype, (batch, *sizes, None if depth is None else depth * block**2))


def _broadcast_to(name: str, bound: Given, numpy: bool) -> Any:
    return Array(
        first_of(bound, numpy).dtype, dims(pick(bound, "shape") if "shape" in bound else at(bound, 1)), numpy
    )


RULES: Mapping[str, Rule] = {
    **named("reshape", _reshape),
    **named("expand_dims", _expand),
    **named("squeeze", _squeeze),
    **named("transpose", _transpose),
    **named("matrix_transpose", _matrix_transpose),
    **named("concat concatenate vstack hstack", _concat),
    **named("stack", _stack),
    **named("unstack", _unstack),
    **named("split array_split", split),
    **named("tile", _tile),
    **named("repeat", _repeat),
    **named("pad", _pad),
    **named("ravel flatten", _flat),
    **named("swapaxes moveaxis", _swapped),
    **named("diag diag_part", _diag),
    **named("broadcast_to", _broadcast_to),
    **named("meshgrid", _meshgrid),
    **named("append", _appended),
    **named("delete", _deleted),
    **named("depth_to_space space_to_depth", _blocks),
}
