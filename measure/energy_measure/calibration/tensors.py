"""How the tensors that a point is given are written: dtype, shape and, for integers, the value they stay below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Tensors = Sequence[tuple[str, tuple[int, ...], int]]


def f(*shape: int) -> tuple[str, tuple[int, ...], int]:
    """A float tensor."""
    return ("float32", shape, 0)


def i(below: int, *shape: int) -> tuple[str, tuple[int, ...], int]:
    """An integer tensor."""
    return ("int32", shape, below)


Asked = tuple[str, Tensors, dict[str, Any], bool]
"""Name, tensors, constant arguments, and whether the tensors go in as one list."""
