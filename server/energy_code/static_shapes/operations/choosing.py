"""Some of the elements: gather, slice, where, sort; and how many there are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from energy_code.static_shapes.operations import arrays
from energy_code.static_shapes.operations.arguments import Given, Rule, at, first_of, named, pick
from energy_code.static_shapes.operations.arrays import array_of, broadcast, promoted, whole
from energy_code.static_shapes.values.kinds import (
    SOME_NUMBER,
    UNKNOWN,
    Array,
)


def _gather(name: str, bound: Given, numpy: bool) -> Any:
    table, indices = first_of(bound, numpy), array_of(at(bound, 1), numpy=numpy)
    axis = pick(bound, "axis")
    batch = pick(bound, "batch_dims", default=0)
    if not isinstance(indices, Array) or not isinstance(batch, int):
        return UNKNOWN
    if batch:
        place = batch if axis is None else arrays.axes(axis, len(table.shape))[0]
        shape = (*table.shape[:place], *indices.shape[batch:], *table.shape[place + 1 :])
        return Array(table.dtype, shape, numpy)
    place = 0 if axis is None else arrays.axes(axis, len(table.shape))[0]
    return Array(table.dtype, (*table.shape[:place], *indices.shape, *table.shape[place + 1 :]), numpy)


def _gather_nd(name: str, bound: Given, numpy: bool) -> Any:
    table, indices = first_of(bound, numpy), array_of(at(bound, 1), numpy=numpy)
    depth = indices.shape[-1]
    if depth is None or pick(bound, "batch_dims", default=0):
        return UNKNOWN
    return Array(table.dtype, (*indices.shape[:-1], *table.shape[depth:]), numpy)


def _top_k(name: str, bound: Given, numpy: bool) -> Any:
    owner, k = first_of(bound, numpy), whole(pick(bound, "k", default=1))
    shape = (*owner.shape[:-1], k)
    return Array(owner.dtype, shape, numpy), Array("int32", shape, numpy)


def _argsort(name: str, bound: Given, numpy: bool) -> Any:
    owner = first_of(bound, numpy)
    return Array("int64" if numpy else "int32", owner.shape, numpy)


def _slice(name: str, bound: Given, numpy: bool) -> Any:
    owner = first_of(bound, numpy)
    begin, asked = pick(bound, "begin"), pick(bound, "size")
    sizes = []
    for place, each in enumerate(asked):
        length = owner.shape[place]
        start = begin[place]
        sizes.append(each if each != -1 else None if length is None else length - whole(start))
    return Array(owner.dtype, tuple(arrays.size(each) for each in sizes), numpy)


def _where(name: str, bound: Given, numpy: bool) -> Any:
    listed = [
        array_of(each, numpy=numpy) if isinstance(each, list) else each
        for each in bound.values()
        if each is not None
    ]
    if len(listed) < 3:
        return UNKNOWN
    shape = broadcast([each.shape if isinstance(each, Array) else () for each in listed[:3]])
    dtype, _ = promoted(listed[1:3])
    if not numpy and not any(isinstance(each, Array) for each in listed[1:3]):
        dtype = array_of(max(listed[1:3], key=lambda each: isinstance(each, float)), numpy=False).dtype
    return Array(dtype, shape, numpy)


def _unknown_rows(name: str, bound: Given, numpy: bool) -> Any:
    owner = first_of(bound, numpy)
    return Array(owner.dtype, (None, *owner.shape[1:]), numpy)


def _segments(name: str, bound: Given, numpy: bool) -> Any:
    owner, count = first_of(bound, numpy), pick(bound, "num_segments")
    return Array(owner.dtype, (None if count is None else arrays.size(count), *owner.shape[1:]), numpy)


def _shape(name: str, bound: Given, numpy: bool) -> Any:
    return tuple(SOME_NUMBER if each is None else each for each in first_of(bound, numpy).shape)


def _size(name: str, bound: Given, numpy: bool) -> Any:
    total = arrays.elements(first_of(bound, numpy).shape)
    return SOME_NUMBER if total is None else total


RULES: Mapping[str, Rule] = {
    **named("gather embedding_lookup take", _gather),
    **named("gather_nd", _gather_nd),
    **named("top_k", _top_k),
    **named("argsort", _argsort),
    **named("slice", _slice),
    **named("where", _where),
    **named("boolean_mask unique compress", _unknown_rows),
    **named(
        """unsorted_segment_sum unsorted_segment_mean unsorted_segment_max unsorted_segment_min segment_sum
        segment_mean segment_max""",
        _segments,
    ),
    **named("shape", _shape),
    **named("size", _size),
}
