"""What a call is given: shapes, dtypes and bytes, without copying anything (Python 3.8 to 3.13)."""

from __future__ import annotations

import itertools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Tuple

    Arguments = Tuple[Any, ...]
    Keywords = Dict[str, Any]
    Signature = Tuple[Tuple[str, ...], int, int, int]

ELEMENTS = 64


def repeatable(args: Arguments, kwargs: Keywords) -> bool:
    """Whether the same inputs mean the same twice: an iterator is used up by the first call."""
    return not any(hasattr(type(value), "__next__") for value in (*args, *kwargs.values()))


def input_signature(function: Callable[..., Any], args: Arguments, kwargs: Keywords) -> Signature:
    """Shapes and dtypes of tensor-like inputs; bytes of arguments, keywords and object; nothing is copied."""
    texts: List[str] = []
    in_args = sum([described(value, texts, "") for value in args])
    in_kwargs = sum([described(value, texts, name + "=") for name, value in kwargs.items()])
    owner = getattr(function, "__self__", function)
    return tuple(texts[:ELEMENTS]), in_args, in_kwargs, object_bytes(owner)


def described(value: Any, texts: List[str], label: str, level: int = 0) -> int:
    """Bytes of a value; each tensor in it is named in `texts`."""
    kind = type(value)
    try:
        if hasattr(kind, "shape") and hasattr(kind, "dtype"):
            text, size = tensor(value)
            texts.append(label + text)
            return size
        if kind in (str, bytes, bytearray):
            return len(value)
        if kind in (int, float, bool, complex):
            return 8
        if level < 3 and kind in (list, tuple) and value:
            shown = value[:ELEMENTS]
            size = sum([described(item, texts, label, level + 1) for item in shown])
            return size if len(shown) == len(value) else size * len(value) // len(shown)
        if level < 3 and kind is dict:
            some = list(itertools.islice(value.values(), ELEMENTS))
            return sum([described(item, texts, label, level + 1) for item in some])
        return int(value.nbytes) if hasattr(kind, "nbytes") else 0
    except Exception:
        return 0  # an object that only looks like a tensor


def tensor(value: Any) -> Tuple[str, int]:
    """`float32[128,784]` and its bytes."""
    shape = [None if side is None else int(side) for side in value.shape]
    dtype = value.dtype
    sides = ",".join(["?" if side is None else str(side) for side in shape])
    size = int(getattr(dtype, "itemsize", None) or getattr(dtype, "size", None) or 4)
    for side in shape:
        size *= 1 if side is None else side
    return "%s[%s]" % (getattr(dtype, "name", dtype), sides), size


def object_bytes(value: Any) -> int:
    """Bytes of the object a method belongs to: a tensor's own, or those of a model's or layer's weights."""
    kind = type(value)
    try:
        if hasattr(kind, "shape") and hasattr(kind, "dtype"):
            return tensor(value)[1]
        if hasattr(kind, "weights"):
            return sum([tensor(weight)[1] for weight in value.weights])
    except Exception:
        return 0  # weights that are not there yet
    return 0
