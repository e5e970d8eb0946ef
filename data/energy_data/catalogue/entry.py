"""One public name."""

from __future__ import annotations

from typing import Literal, NamedTuple

Kind = Literal["module", "function", "class", "method", "property"]


class Entry(NamedTuple):
    """What the catalogue knows of one name."""

    name: str
    """Canonical name; for a member of a class: the class that was asked for, and the member."""
    kind: Kind
    bases: tuple[str, ...] = ()
    """Canonical public base classes, nearest first (classes only)."""
    returns: str | None = None
    """Canonical class of what a call (or the property) gives; "self" for the receiver's own class. Also
    `list[X]`, `tuple[X, Y]`, `dict[X]` (of the values), `iterator[X]`, and classes such as `numpy.ndarray`."""
    pure: bool = False
    """Free of side effects and of hidden state: may be replayed."""
    removed_in: str | None = None
    """The version without this name, such as "TensorFlow 2.16"."""
