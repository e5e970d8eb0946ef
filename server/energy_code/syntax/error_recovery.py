"""Pieces of broken code that lie side by side, put into groups again."""

from __future__ import annotations

from collections.abc import Iterator

from energy_code.syntax.node_kinds import Node

HEADERS = frozenset(["def", "class", "for", "with", "if", "while", "elif"])


def groups(nodes: list[Node]) -> Iterator[list[Node]]:
    """Siblings inside error_recovery: a lost header takes along what is indented deeper, the rest stands alone."""
    place = 0
    while place < len(nodes):
        node = nodes[place]
        stop = place + 1
        if node.type in HEADERS and not node.is_named:
            row, column = node.start_point
            while stop < len(nodes) and (
                nodes[stop].start_point[0] == row
                or nodes[stop].start_point[1] > column
                or nodes[stop].type in CLOSERS
            ):
                stop += 1
        if stop > place + 1 or node.is_named:
            yield nodes[place:stop]
        place = stop


CLOSERS = frozenset([")", "]", "}", ":"])
