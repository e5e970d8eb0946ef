"""Shapes of arrays under operators, indexing and the operations that NumPy, TensorFlow and Keras share.

A size that is None is not known. Whatever is asked about sizes that do not fit raises `ValueError`: the program would too,
or what was read is wrong, and nothing is said about it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from energy_code.static_shapes.values.kinds import SOME_NUMBER, UNKNOWN, Array, Dims

FLOATS = ("float16", "bfloat16", "float32", "float64")
_BITS = {
    "bool": 0,
    "uint8": 8,
    "int8": 8,
    "uint16": 16,
    "int16": 16,
    "uint32": 32,
    "int32": 32,
    "uint64": 64,
    "int64": 64,
}


def dims(value: Any) -> Dims:
    """A shape from what a program gives as one: 3, (3, 4), [n, 4]."""
    if isinstance(value, bool) or value is None or value is UNKNOWN:
        raise ValueError("no shape")
    if value is SOME_NUMBER:
        return (None,)
    if isinstance(value, int):
        return (value,)
    if isinstance(value, float) and value == int(value):
        return (int(value),)
    if isinstance(value, (tuple, list)):
        return tuple(size(each) for each in value)
    raise ValueError("no shape")


def size(value: Any) -> int | None:
    """One size; -1 stays -1."""
    if value is None or value is SOME_NUMBER:
        return None
    if isinstance(value, Array) and not value.shape and value.dtype.startswith("int"):
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        if isinstance(value, float) and value == int(value):
            return int(value)
        raise ValueError("no size")
    return value


def whole(value: Any) -> int:
    """A whole number that must be known."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("not a known number")
    return value


def axes(value: Any, rank: int) -> list[int]:
    """Axes as places from the front; all of them for None."""
    if value is None:
        return list(range(rank))
    listed = list(value) if isinstance(value, (tuple, list)) else [value]
    found = [whole(each) for each in listed]
    if any(not -rank <= each < rank for each in found):
        raise ValueError("no such axis")
    return [each % rank for each in found]


def broadcast(shapes: Sequence[Dims]) -> Dims:
    """The shape that these broadcast to; an unknown size beside one greater than 1 must be that one."""
    rank = max(map(len, shapes), default=0)
    found: list[int | None] = []
    for sizes in zip(*[(1,) * (rank - len(shape)) + shape for shape in shapes], strict=True):
        known = {each for each in sizes if each not in (None, 1)}
        if len(known) > 1:
            raise ValueError("shapes that do not fit")
        found.append(known.pop() if known else None if None in sizes else 1)
    return tuple(found)


def elements(shape: Dims) -> int | None:
    """How many numbers there are."""
    return None if None in shape else math.prod(each for each in shape if each is not None)


def promoted(values: Sequence[Any]) -> tuple[str, bool]:
    """The dtype of a result, and whether it is an array of NumPy."""
    arrays = [value for value in values if isinstance(value, Array)]
    tensors = [array for array in arrays if not array.numpy]
    if tensors:
        return tensors[0].dtype, False
    names = {array.dtype for array in arrays}
    scalar = float if any(isinstance(value, float) for value in values) else int
    found = max(names, key=_order) if names else "float64" if scalar is float else "int64"
    if len(names) > 1 and found in ("float16", "float32"):
        wide = max(_BITS.get(name, 0) for name in names)
        found = "float64" if wide >= 32 or (found == "float16" and wide >= 16) else found
    if scalar is float and found in _BITS:
        found = "float64"
    return found, True


def _order(name: str) -> int:
    if name.startswith("complex"):
        return 200
    return 100 + FLOATS.index(name) if name in FLOATS else _BITS.get(name, -1)


def combined(left: Any, right: Any, operator: str) -> Any:
    """Two values under an operator: `+`, `/`, `@`, `<` …"""
    for one in (left, right):
        if not isinstance(one, (Array, int, float, list, tuple)) and one is not SOME_NUMBER:
            return UNKNOWN
    left, right = (array_of(one) if isinstance(one, (list, tuple)) else one for one in (left, right))
    if left is UNKNOWN or right is UNKNOWN:
        return UNKNOWN
    dtype, numpy = promoted([left, right])
    if operator == "@":
        return matmul(left, right)
    if operator in ("<", ">", "<=", ">=", "==", "!="):
        dtype = "bool"
    elif operator == "/" and dtype in _BITS:
        dtype = "float64" if numpy or dtype in ("int32", "int64") else "float32"
    shape = broadcast([one.shape if isinstance(one, Array) else () for one in (left, right)])
    return Array(dtype, shape, numpy)


def matmul(a: Array, b: Array, transpose_a: bool = False, transpose_b: bool = False) -> Array:
    """The product of matrices, batched or not; of vectors as NumPy does it."""
    if not isinstance(a, Array) or not isinstance(b, Array) or not a.shape or not b.shape:
        raise ValueError("no matrices")
    dtype, numpy = promoted([a, b])
    left = a.shape if len(a.shape) > 1 else (1, *a.shape)
    right = b.shape if len(b.shape) > 1 else (*b.shape, 1)
    rows, inner = (left[-1], left[-2]) if transpose_a else left[-2:]
    other, columns = (right[-1], right[-2]) if transpose_b else right[-2:]
    if None not in (inner, other) and inner != other:
        raise ValueError("shapes that do not fit")
    shape: Dims = (*broadcast([left[:-2], right[:-2]]), rows, columns)
    if len(a.shape) == 1:
        shape = (*shape[:-2], shape[-1])
    if len(b.shape) == 1:
        shape = shape[:-1]
    return Array(dtype, shape, numpy)


def array_of(value: Any, dtype: str = "", numpy: bool = True) -> Any:
    """An array made of nested lists and numbers."""
    if isinstance(value, Array):
        return Array(dtype or value.dtype, value.shape, numpy)
    if isinstance(value, bool):
        return Array(dtype or "bool", (), numpy)
    if isinstance(value, int) or value is SOME_NUMBER:
        return Array(dtype or ("int64" if numpy else "int32"), (), numpy)
    if isinstance(value, float):
        return Array(dtype or ("float64" if numpy else "float32"), (), numpy)
    if isinstance(value, (str, bytes)):
        return UNKNOWN if numpy else Array("string", (), False)
    if not isinstance(value, (list, tuple)) or not getattr(value, "known", True):
        return UNKNOWN
    if not value:
        return Array(dtype or ("float64" if numpy else "float32"), (0,), numpy)
    parts = [array_of(each, dtype, numpy) for each in value]
    if not all(isinstance(part, Array) for part in parts):
        return UNKNOWN
    if len({part.shape for part in parts}) != 1:
        return UNKNOWN
    kind = max((part.dtype for part in parts), key=_order)
    return Array(kind, (len(parts), *parts[0].shape), numpy)


def reshaped(owner: Array, target: Any) -> Array:
    """The same numbers in another shape, one size of which may be -1."""
    wanted = list(dims(target))
    total = elements(owner.shape)
    rest = elements(tuple(each for each in wanted if each != -1))
    if -1 in wanted:
        place = wanted.index(-1)
        if wanted.count(-1) > 1:
            raise ValueError("two free sizes")
        if total is None or rest is None:
            wanted[place] = None
        elif not rest or total % rest:
            raise ValueError("a reshape that does not fit")
        else:
            wanted[place] = total // rest
    elif total is not None and rest is not None and total != rest:
        raise ValueError("a reshape that does not fit")
    elif total is not None and wanted.count(None) == 1:
        others = math.prod(each for each in wanted if each is not None)
        if others and total % others == 0:
            wanted[wanted.index(None)] = total // others
    return Array(owner.dtype, tuple(wanted), owner.numpy)


def expanded(owner: Array, axis: Any) -> Array:
    """With dimensions of size 1 put in."""
    places = list(axis) if isinstance(axis, (tuple, list)) else [axis]
    rank = len(owner.shape) + len(places)
    put = {whole(each) % rank for each in places}
    rest = iter(owner.shape)
    return Array(owner.dtype, tuple(1 if at in put else next(rest) for at in range(rank)), owner.numpy)


def squeezed(owner: Array, axis: Any) -> Array:
    """Without dimensions of size 1."""
    if axis is None:
        if None in owner.shape:
            raise ValueError("it may be 1")
        return Array(owner.dtype, tuple(each for each in owner.shape if each != 1), owner.numpy)
    gone = axes(axis, len(owner.shape))
    return Array(
        owner.dtype, tuple(each for at, each in enumerate(owner.shape) if at not in gone), owner.numpy
    )


def reduced(owner: Array, axis: Any, keep: Any, dtype: str = "") -> Array:
    """Along axes, or all."""
    gone = axes(axis, len(owner.shape))
    shape = tuple(1 if at in gone else each for at, each in enumerate(owner.shape))
    if keep is not True:
        shape = tuple(each for at, each in enumerate(shape) if at not in gone)
    return Array(dtype or owner.dtype, shape, owner.numpy)


def transposed(owner: Array, order: Any = None) -> Array:
    """With the dimensions in another order, the opposite one where none is given."""
    rank = len(owner.shape)
    places = list(range(rank))[::-1] if order is None else axes(order, rank)
    if sorted(places) != list(range(rank)):
        raise ValueError("not an order")
    return Array(owner.dtype, tuple(owner.shape[place] for place in places), owner.numpy)


def concatenated(parts: Sequence[Array], axis: Any) -> Array:
    """One after the other along an axis."""
    first, (place,) = parts[0], axes(axis, len(parts[0].shape))
    if any(len(part.shape) != len(first.shape) for part in parts):
        raise ValueError("shapes that do not fit")
    sizes = [part.shape[place] for part in parts]
    width = None if None in sizes else sum(each for each in sizes if each is not None)
    rest = broadcast([(*part.shape[:place], 1, *part.shape[place + 1 :]) for part in parts])
    dtype, numpy = promoted(parts)
    return Array(dtype, (*rest[:place], width, *rest[place + 1 :]), numpy)


def stacked(parts: Sequence[Array], axis: Any) -> Array:
    """Along a new axis."""
    made = [expanded(part, axis) for part in parts]
    return concatenated(made, axis)


def taken(owner: Array, indices: Sequence[Any]) -> Array:
    """An element or a slice. Indices: numbers, slices, None (new axis), Ellipsis, arrays."""
    shape: list[int | None] = []
    axis = 0
    used = sum(_axes_used(each) for each in indices)
    if used > len(owner.shape):
        raise ValueError("too many indices")
    advanced: list[Dims] = []
    at_advanced = None
    for each in indices:
        if each is Ellipsis:
            kept = len(owner.shape) - used
            shape += owner.shape[axis : axis + kept]
            axis += kept
        elif each is None:
            shape.append(1)
        elif isinstance(each, slice):
            shape.append(slice_length(each, owner.shape[axis]))
            axis += 1
        elif isinstance(each, Array) and (each.shape or not each.dtype.startswith("int")):
            if at_advanced is None:
                at_advanced = len(shape)
            if each.dtype == "bool":
                advanced.append((None,))
                axis += len(each.shape)
            else:
                advanced.append(each.shape)
                axis += 1
        else:
            axis += 1
    if at_advanced is not None:
        shape[at_advanced:at_advanced] = broadcast(advanced)
    return Array(owner.dtype, (*shape, *owner.shape[axis:]), owner.numpy)


def _axes_used(index: Any) -> int:
    if index is None or index is Ellipsis:
        return 0
    return len(index.shape) if isinstance(index, Array) and index.dtype == "bool" else 1


class Length:
    """A slice whose length is known though its ends are not: `x[i : i + 32]`."""

    def __init__(self, length: int) -> None:
        self.length = length


def slice_length(part: slice, length: int | None) -> int | None:
    """How many elements a slice has."""
    if isinstance(part.start, Length):
        return part.start.length if length is None else min(part.start.length, length)
    ends = (part.start, part.stop, part.step)
    if ends in ((None, None, None), (None, None, -1)):
        return length
    if any(end is not None and (isinstance(end, bool) or not isinstance(end, int)) for end in ends):
        return None
    if length is None:
        # The first so many of something: batches are rarely smaller, but may be.
        return None
    return len(range(*slice(*ends).indices(length)))
