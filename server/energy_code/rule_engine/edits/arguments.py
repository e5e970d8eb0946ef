"""Edits of argument lists."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from energy_code.rule_engine.context import Edit

if TYPE_CHECKING:
    from tree_sitter import Node

_BEHIND = re.compile(rb"[ \t]*,?[ \t]*")
_LINE_END = re.compile(rb"\r?\n")


def with_argument(arguments: Node, text: str) -> Edit:
    """Add an argument behind the last one; a comma or comment behind that stays where it is."""
    given = [child for child in arguments.named_children if child.type != "comment"]
    if given:
        return Edit(given[-1].end_byte, given[-1].end_byte, f", {text}")
    return Edit(arguments.start_byte + 1, arguments.start_byte + 1, text)


def without_argument(source: bytes, argument: Node) -> Edit:
    """Remove an argument together with its comma, and its line where it stands alone; a comment stays."""
    line = source.rfind(b"\n", 0, argument.start_byte) + 1
    behind = _BEHIND.match(source, argument.end_byte)
    end = behind.end() if behind is not None else argument.end_byte
    if not source[line : argument.start_byte].strip():
        if source[end : end + 1] == b"#":
            return Edit(argument.start_byte, end, "")
        line_end = _LINE_END.match(source, end)
        if line_end is not None:
            return Edit(line, line_end.end(), "")
    before, after = argument.prev_sibling, argument.next_sibling
    if before is not None and before.type == ",":
        return Edit(before.start_byte, argument.end_byte, "")
    if after is not None and after.type == "," and after.next_sibling is not None:
        following = after.next_sibling
        return Edit(
            argument.start_byte, following.start_byte if following.type != ")" else after.end_byte, ""
        )
    return Edit(argument.start_byte, argument.end_byte, "")
