"""Whether two sides gave the same: structure, types, shapes, and values within a tolerance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def difference(before: Any, after: Any, tolerance: float = 0.0, absolute: float = 0.0) -> str:
    """In words, where two outputs differ; empty when they do not. NaN equals NaN."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        if before.keys() != after.keys():
            return f"keys {sorted(map(str, before))} became {sorted(map(str, after))}"
        pairs = [(f"[{key!r}]", before[key], after[key]) for key in before]
    elif isinstance(before, list | tuple) and isinstance(after, list | tuple):
        if len(before) != len(after):
            return f"{len(before)} results became {len(after)}"
        pairs = [(f"[{i}]", one, other) for i, (one, other) in enumerate(zip(before, after, strict=True))]
    else:
        return _of_arrays(before, after, tolerance, absolute)
    for where, one, other in pairs:
        words = difference(one, other, tolerance, absolute)
        if words:
            return f"at {where}: {words}"
    return ""


def _of_arrays(before: Any, after: Any, tolerance: float, absolute: float) -> str:
    import numpy as np  # the language server starts without it

    if (before is None) != (after is None):
        return f"{_kind(before)} became {_kind(after)}"
    if before is None:
        return ""
    one, other = np.asarray(before), np.asarray(after)
    if one.dtype != other.dtype:
        return f"type {one.dtype} became {other.dtype}"
    if one.shape != other.shape:
        return f"shape {one.shape} became {other.shape}"
    if one.dtype.kind in "fc" or one.dtype.name == "bfloat16":
        wide = np.complex128 if one.dtype.kind == "c" else np.float64
        one, other = one.astype(wide), other.astype(wide)
        same = np.isclose(other, one, rtol=tolerance, atol=absolute, equal_nan=True)
    elif absolute and one.dtype.kind in "iu":
        same = np.abs(one.astype(np.int64) - other.astype(np.int64)) <= absolute
    else:
        same = one == other
    if np.all(same):
        return ""
    first = tuple(int(axis[0]) for axis in np.nonzero(~np.atleast_1d(same)))
    values = (np.atleast_1d(one)[first], np.atleast_1d(other)[first])
    return f"{values[0]!r} became {values[1]!r} ({np.count_nonzero(~same)} of {one.size} values differ)"


def _kind(value: object) -> str:
    return "nothing" if value is None else type(value).__name__
