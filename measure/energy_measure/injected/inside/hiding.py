"""Wrappers that look like what they wrap."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def hide(function: Any, plain: Any) -> None:
    """Have a wrapper look like what it wraps.

    TensorFlow leaves its own files out of tracebacks, and AutoGraph its own modules out of what it converts.
    """
    code = getattr(plain, "__code__", None)
    if code is not None:
        function.__code__ = function.__code__.replace(co_filename=code.co_filename)
    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        value = getattr(plain, name, None)
        if value is not None:
            setattr(function, name, value)
