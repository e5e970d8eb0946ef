"""`# energy: ignore` and `# energy: ignore[rule, …]`: what such a comment says, whom it silences, and how one is written."""

from __future__ import annotations

import re
from collections.abc import Mapping

from energy_code.text.lines import Lines

ALL = "*"
"""Stands for every rule."""
_COMMENT = re.compile(rb"#\s*energy:\s*ignore(?:\s*\[([^\]\r\n]*)\])?")

Ignores = Mapping[int, frozenset[str]]
"""Rows with such a comment, and the rules that each names."""


def ignores_in(source: bytes, lines: Lines) -> Ignores:
    """All such comments of a text."""
    found: dict[int, frozenset[str]] = {}
    if b"energy:" not in source:
        return found
    for match in _COMMENT.finditer(source):
        names = (match.group(1) or b"").decode("utf-8", "replace").replace(",", " ").split()
        found[lines.point(match.start()).row] = frozenset(names or [ALL])
    return found


def ignored(ignores: Ignores, first: int, last: int, rule: str) -> bool:
    """Whether a comment on any line of a place, from its first row to its last, names the rule, or all rules."""
    if not ignores:
        return False
    return any(not ignores.get(row, frozenset()).isdisjoint((rule, ALL)) for row in range(first, last + 1))


def comment_for(line: bytes, rule: str) -> tuple[int, int, str]:
    """What to write on a line to silence a rule: one more name in the comment that is there, or a new one.

    Gives the stretch of the line that is replaced, and its new text.
    """
    found = _COMMENT.search(line)
    if found is not None and found.group(1) is not None:
        at = found.end(1)
        return at, at, f", {rule}" if found.group(1).strip() else rule
    return len(line.rstrip()), len(line), f"  # energy: ignore[{rule}]"
