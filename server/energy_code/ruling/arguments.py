"""Edits of argument lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from energy_code.ruling.place import Edit

if TYPE_CHECKING:
    from tree_sitter import Node


def without_argument(argument: Node) -> Edit:
    """Remove an argument together with its comma."""
    after = argument.next_sibling
    before = argument.prev_sibling
    if before is not None and before.type == ",":
        return Edit(before.start_byte, argument.end_byte, "")
    if after is not None and after.type == "," and after.next_sibling is not None:
        following = after.next_sibling
        end = following.start_byte if following.type != ")" else after.end_byte
        return Edit(argument.start_byte, end, "")
    return Edit(argument.start_byte, argument.end_byte, "")
