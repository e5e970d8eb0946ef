"""Shapes that the user wrote: `# energy: shape x=[None, 224, 224, 3]`, or an annotation that holds one."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

from energy_code.static_shapes.values.kinds import UNKNOWN, Array, Dims

_COMMENT = re.compile(r"#\s*energy:\s*shape\s+(.*)$")
_ONE = re.compile(r"(?<!\w)([A-Za-z_]\w*)\s*=\s*(?:([a-z]+\d*)\s*)?\[([^\]]*)\]")
_TEXT = re.compile(r"^([a-z]+\d*)?\[([\d,\s?a-zA-Z]*)\]$")

WrittenShape = tuple[str, Dims]
"""The dtype, empty where none was written, and the shape."""


def comments(source: str) -> dict[int, dict[str, WrittenShape]]:
    """What comments say of names, by line from 1."""
    found: dict[int, dict[str, WrittenShape]] = {}
    if "energy:" not in source:
        return found
    for number, line in enumerate(source.splitlines(), 1):
        comment = _COMMENT.search(line)
        for name, dtype, sizes in _ONE.findall(comment[1]) if comment else ():
            shape = _sizes(sizes)
            if shape is not None:
                found.setdefault(number, {})[name] = (dtype, shape)
    return found


def _sizes(text: str) -> Dims | None:
    found: list[int | None] = []
    for part in (each.strip() for each in text.split(",")):
        if part.isdigit():
            found.append(int(part))
        elif part in ("None", "?", "-1") or part.isidentifier():
            found.append(None)
        elif part:
            return None
    return tuple(found)


def with_shape(value: Any, written_shape: WrittenShape) -> Array:
    """A value with the shape that was written about it; sizes left open there are those that are known."""
    dtype, shape = written_shape
    if isinstance(value, Array):
        if len(value.shape) == len(shape):
            shape = tuple(
                other if size is None else size for size, other in zip(shape, value.shape, strict=True)
            )
        return Array(dtype or value.dtype, shape, value.numpy, value.variable, True)
    return Array(dtype or "float32", shape, written=True)


def read(text: str) -> Array | None:
    """An array from `float32[32,?]`, the way measurements write it."""
    found = _TEXT.match(text.strip())
    if found is None or not found[1]:
        return None
    shape = _sizes(found[2])
    return None if shape is None else Array(found[1], shape)


def annotated(node: ast.expr | None) -> WrittenShape | None:
    """What an annotation says: `Annotated[tf.Tensor, "float32[32,784]"]`, `Float32[Array, "32 784"]`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        found = read(node.value)
        return None if found is None else (found.dtype, found.shape)
    if (
        not isinstance(node, ast.Subscript)
        or not isinstance(node.slice, ast.Tuple)
        or len(node.slice.elts) < 2
    ):
        return None
    last = node.slice.elts[1]
    dtype = _dtype(node.value)
    if isinstance(last, ast.Constant) and isinstance(last.value, str):
        found = read(last.value)
        if found is not None:
            return found.dtype, found.shape
        shape = _sizes(",".join(last.value.split()))
        return None if shape is None or not any(each is not None for each in shape) else (dtype, shape)
    if isinstance(last, (ast.Tuple, ast.List)):
        values = [each.value if isinstance(each, ast.Constant) else UNKNOWN for each in last.elts]
        if all(isinstance(value, int) or value is None for value in values):
            return dtype, tuple(value if isinstance(value, int) else None for value in values)
    return None


_DTYPES: Mapping[str, str] = {
    "Float": "float32", "Float16": "float16", "Float32": "float32", "Float64": "float64", "Int": "int32", "Int32": "int32",
    "Int64": "int64", "UInt8": "uint8", "Bool": "bool",
}  # fmt: skip


def _dtype(node: ast.expr) -> str:
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return _DTYPES.get(name, "")
