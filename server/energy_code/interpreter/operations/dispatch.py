"""What calling, looking into and iterating over a value does, by the type of the value.

The tables are empty here, so that everybody may import them: `frame.call`, `frame.attribute`, `frame.iterate` and
`frame.index` look into them. `running.py` fills them from the modules that know (`calls`, `attributes`, `iteration`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from energy_code.interpreter.domain.values import Value

Handlers = dict[type[Value], Callable[..., Value]]
"""Each takes the frame, the value, and what the operation needs besides."""

CALLS: Handlers = {}
ATTRIBUTES: Handlers = {}
ITERATIONS: Handlers = {}
INDEXES: Handlers = {}


def fill(table: Handlers, handlers: dict[Any, Callable[..., Value]]) -> None:
    """Say what an operation does on values of these types."""
    table.update(handlers)
