"""The arguments of a call: their shapes as measurements note them, and as a run saw them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from energy_code.static_shapes.values import written
from energy_code.static_shapes.values.kinds import (
    UNKNOWN,
    Array,
    Node,
)
from energy_code.static_shapes.values.structures import (
    mapped,
)


def arguments(given: list[Any], named: dict[str, Any]) -> tuple[tuple[str, str, bool], ...]:
    """The tensors of a call, by the keyword or the place of the argument they stand in."""
    found: list[tuple[str, str, bool]] = []
    for label, value in [*((str(place), value) for place, value in enumerate(given)), *named.items()]:
        leaves: list[Any] = []
        mapped(value, leaves.append)
        for leaf in leaves:
            array = leaf.array if isinstance(leaf, Node) else leaf
            if isinstance(array, Array):
                found.append((label, str(array), array.written))
    return tuple(found)


def signature(given: list[Any], named: dict[str, Any]) -> tuple[str, ...]:
    """The tensors of a call as measurements note them; nothing where one is not wholly known."""
    texts: list[str] = []
    for label, value in [("", tuple(given)), *((f"{name}=", value) for name, value in named.items())]:
        leaves: list[Any] = []
        mapped(value, leaves.append)
        for leaf in leaves:
            if leaf is UNKNOWN or (isinstance(leaf, Array) and leaf.tensor is None):
                return ()
            if isinstance(leaf, Array):
                texts.append(f"{label}{leaf}")
    return tuple(texts)


def as_recorded(
    recorded: tuple[str, ...], given: list[Any], named: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Arguments with the shapes that a run saw, where they can be distinguished."""
    places = iter(
        [array for text in recorded if "=" not in text and (array := written.read(text)) is not None]
    )
    count = sum("=" not in text for text in recorded)

    def open_leaf(leaf: Any) -> bool:
        return isinstance(leaf, Array) or leaf is UNKNOWN

    leaves: list[Any] = []
    mapped(given, leaves.append)
    if sum(open_leaf(leaf) for leaf in leaves) == count:

        def one(leaf: Any) -> Any:
            if not open_leaf(leaf):
                return leaf
            seen = next(places, leaf)
            return (
                replace(seen, numpy=leaf.numpy)
                if isinstance(leaf, Array) and isinstance(seen, Array)
                else seen
            )

        given = list(mapped(given, one))
    for text in recorded:
        name, sign, rest = text.partition("=")
        seen = written.read(rest) if sign else None
        if seen is not None and open_leaf(named.get(name)):
            named = {**named, name: seen}
    return given, named
