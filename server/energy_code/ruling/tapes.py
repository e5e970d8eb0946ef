"""Whether a gradient will be taken: some rewrites gain only without one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

    from energy_code.ruling.place import Place

_TAPE = b"GradientTape"
_NAMED = ("function_definition", "class_definition")


def under_tape(place: Place, node: Node) -> bool:
    """Whether a tape is open here, or where this file calls the function around; losses are taken to be."""
    if place.shared.has(_TAPE) and _in_tape(place, node):
        return True
    holder = node.parent
    while holder is not None:
        name = holder.child_by_field_name("name") if holder.type in _NAMED else None
        if name is not None and _called_for_gradients(place, place.text(name)):
            return True
        holder = holder.parent
    return False


def _called_for_gradients(place: Place, name: str) -> bool:
    if "loss" in name.lower():
        return True
    source = place.analysis.source
    if not place.shared.has(_TAPE):
        return False
    root = place.module
    needle = name.encode() + b"("
    start = source.find(needle)
    while start >= 0:
        found = root.descendant_for_byte_range(start, start + len(needle) - 1)
        if found is not None and found.type == "identifier" and _in_tape(place, found):
            return True
        start = source.find(needle, start + 1)
    return False


def _in_tape(place: Place, node: Node) -> bool:
    parent = node.parent
    while parent is not None and parent.type not in ("function_definition", "module"):
        if parent.type == "with_statement":
            body = parent.child_by_field_name("body")
            end = body.start_byte if body is not None else parent.end_byte
            if _TAPE in place.analysis.source[parent.start_byte : end]:
                return True
        parent = parent.parent
    return False
