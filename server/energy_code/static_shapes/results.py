"""The shape that a TensorFlow call gives, for the families where the inputs and constants decide it."""

from __future__ import annotations

import math
from typing import Any

from energy_code.static_shapes.values import UNKNOWN
from energy_data.prediction.api_families import FAMILY_OF
from energy_data.prediction.families import broadcast, numbers, sides
from energy_data.prediction.specs import CallSpec, Tensor


def result_of(spec: CallSpec, dtype: Any = None) -> Any:
    """What a call gives; `UNKNOWN` where that is not said here."""
    try:
        return _result(spec, dtype if isinstance(dtype, str) else None)
    except (LookupError, TypeError, ValueError, ZeroDivisionError):
        return UNKNOWN


def _result(spec: CallSpec, dtype: str | None) -> Any:
    family, given, name = FAMILY_OF[spec.api], spec.attributes, spec.api.rpartition(".")[2]
    first = spec.inputs[0] if spec.inputs else Tensor(dtype or "float32", ())
    if family == "elementwise":
        return Tensor(dtype or first.dtype, broadcast([tensor.shape for tensor in spec.inputs]))
    if family == "created":
        shape = given.get("shape", given.get("dims"))
        return Tensor(dtype or "float32", tuple(numbers(shape))) if shape is not None else UNKNOWN
    if family == "reduction" or name in ("reduce_std", "reduce_variance", "reduce_logsumexp"):
        return _reduced(spec, first, "int64" if name.startswith("arg") else first.dtype)
    if name in ("softmax", "log_softmax", "l2_normalize", "cumsum", "sort", "clip_by_norm"):
        return first
    if name == "reshape":
        target = numbers(given["shape"])
        known = math.prod(size for size in target if size >= 0)
        return Tensor(first.dtype, tuple(first.elements // known if size < 0 else size for size in target))
    if name == "matmul":
        second = spec.inputs[1]
        rows = first.shape[-1 if given.get("transpose_a") else -2]
        columns = second.shape[-2 if given.get("transpose_b") else -1]
        return Tensor(
            first.dtype,
            (*broadcast([first.shape[:-2] or (1,), second.shape[:-2] or (1,)]), rows, columns)[
                0 if len(first.shape) > 2 or len(second.shape) > 2 else 1 :
            ],
        )
    if name == "resize":
        size = numbers(given["size"])
        return Tensor("float32", (*first.shape[:-3], size[0], size[-1], first.shape[-1]))
    if name == "transpose":
        order = numbers(given["perm"]) if "perm" in given else range(len(first.shape))[::-1]
        return Tensor(first.dtype, tuple(first.shape[place] for place in order))
    if name == "one_hot":
        return Tensor("float32", (*first.shape, numbers(given["depth"])[0]))
    if name == "concat":
        axis = numbers(given["axis"])[0] % len(first.shape)
        width = sum(tensor.shape[axis] for tensor in spec.inputs)
        return Tensor(first.dtype, (*first.shape[:axis], width, *first.shape[axis + 1 :]))
    if name == "stack" and not given.get("axis"):
        return Tensor(first.dtype, (len(spec.inputs), *first.shape))
    if name in ("convert_to_tensor", "constant", "Variable", "identity", "stop_gradient"):
        return Tensor(dtype or first.dtype, first.shape)
    if name == "conv2d":
        kernel = spec.inputs[1].shape
        after = sides(first.shape[1], first.shape[2], kernel[:2], given["strides"], given["padding"])
        return Tensor(first.dtype, (first.shape[0], *after, kernel[-1]))
    return UNKNOWN


def _reduced(spec: CallSpec, first: Tensor, dtype: str) -> Any:
    axis = spec.attributes.get("axis")
    keep = spec.attributes.get("keepdims") is True
    if axis is None:
        if dtype == "int64" and first.dtype != "int64":
            axis = 0  # argmax and argmin
        else:
            return Tensor(dtype, (1,) * len(first.shape) if keep else ())
    places = {place % len(first.shape) for place in numbers(axis)}
    shape = [1 if place in places else size for place, size in enumerate(first.shape)]
    return Tensor(dtype, tuple(size for place, size in enumerate(shape) if keep or place not in places))
