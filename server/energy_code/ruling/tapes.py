"""Whether a gradient will be taken: some rewrites gain only without one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from energy_code.ruling.loops import mentions

if TYPE_CHECKING:
    from tree_sitter import Node

    from energy_code.ruling.place import Place

_TAPE = b"GradientTape"
_NAMED = ("function_definition", "class_definition")
_DIFFERENTIATED = re.compile(
    r"loss|objective|likelihood|log_?prob|densit|elbo|penalt|diverg|regulari"
    r"|(?:^|[_.])(?:kl|nll|costs?|bound)(?:[_.]|$)"
)
"""What training minimises or maximises, as people name it."""


def under_tape(place: Place, node: Node) -> bool:
    """Whether a tape is open here, or where this file calls the function around; losses are taken to be."""
    if place.in_with(node, _TAPE):
        return True
    path = place.analysis.document.path
    if path is not None and _DIFFERENTIATED.search(path.stem.lower()):
        return True
    holder = node.parent
    while holder is not None:
        name = _name_of(holder)
        if name is not None and _DIFFERENTIATED.search(place.text(name).lower()):
            return True
        if name is not None and holder.type in _NAMED and _called_in_tape(place, place.text(name)):
            return True
        holder = holder.parent
    return False


def _name_of(holder: Node) -> Node | None:
    """What a definition or an assignment calls the value."""
    if holder.type in _NAMED:
        return holder.child_by_field_name("name")
    if holder.type in ("assignment", "augmented_assignment"):
        return holder.child_by_field_name("left")
    return None


def _called_in_tape(place: Place, name: str) -> bool:
    return place.shared.has(_TAPE) and any(place.in_with(call, _TAPE) for call in mentions(place, name, "("))
