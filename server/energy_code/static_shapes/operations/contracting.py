"""Sums over shared axes: products of matrices, convolutions, pooling, decompositions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from energy_code.static_shapes.operations import arrays
from energy_code.static_shapes.operations.arguments import Given, Rule, at, first_of, named, pick
from energy_code.static_shapes.operations.arrays import array_of, promoted, whole
from energy_code.static_shapes.values.kinds import (
    UNKNOWN,
    Array,
    Dims,
)


def _matmul(name: str, bound: Given, numpy: bool) -> Any:
    a, b = (array_of(at(bound, place), numpy=numpy) for place in (0, 1))
    if name == "matvec":
        return arrays.reduced(
            arrays.matmul(a, arrays.expanded(b, -1), pick(bound, "transpose_a") is True), -1, False
        )
    left = (pick(bound, "transpose_a") or pick(bound, "adjoint_a")) is True
    return arrays.matmul(a, b, left, (pick(bound, "transpose_b") or pick(bound, "adjoint_b")) is True)


def _tensordot(name: str, bound: Given, numpy: bool) -> Any:
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


def _einsum(name: str, bound: Given, numpy: bool) -> Any:
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


def _convolved(name: str, bound: Given, numpy: bool) -> Any:
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


def _pooled(name: str, bound: Given, numpy: bool) -> Any:
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


def _decomposed(name: str, bound: Given, numpy: bool) -> Any:
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


RULES: Mapping[str, Rule] = {
    **named("matmul dot matvec", _matmul),
    **named("tensordot", _tensordot),
    **named("einsum", _einsum),
    **named("conv1d conv2d conv3d depthwise_conv2d conv depthwise_conv", _convolved),
    **named("max_pool2d avg_pool2d max_pool avg_pool average_pool max_pool1d avg_pool1d", _pooled),
    **named("inv cholesky pinv det solve lstsq", _decomposed),
}
