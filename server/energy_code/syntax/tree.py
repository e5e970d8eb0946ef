"""The syntax tree of a text that is being edited, brought up to date when somebody needs it."""

from __future__ import annotations

import threading
from copy import copy

import tree_sitter

from energy_code.model import Point
from energy_code.syntax.long_runs import without_long_runs
from energy_code.syntax.node_kinds import LANGUAGE
from energy_code.text.decoding import same_ends

PARSER = tree_sitter.Parser(LANGUAGE)

Edit = tuple[int, int, int, Point, Point, Point]
PIECE = 4096
"""Bytes, some 0.5 ms of parsing."""


def parse(source: bytes, old: tree_sitter.Tree | None = None) -> tree_sitter.Tree:
    """Parse a text, piece by piece if somebody waits: a parser that has all of it lets no other thread run meanwhile."""
    source = without_long_runs(source)
    if len(source) <= PIECE or threading.active_count() == 1:
        return PARSER.parse(source, old) if old is not None else PARSER.parse(source)
    piece = bytearray()  # always the same object: tree-sitter 0.26 never lets go of what it is given

    def read(start: int, point: object) -> bytearray:
        piece[:] = source[start : start + PIECE]
        return piece

    parser = tree_sitter.Parser(LANGUAGE)  # of its own: between pieces another thread may come to parse, too
    return parser.parse(read, old) if old is not None else parser.parse(read)


def parse_stretch(source: bytes, start: int, end: int, points: tuple[Point, Point]) -> tree_sitter.Tree:
    """A tree of some statements alone; places in it are those of the whole text."""
    parser = tree_sitter.Parser(LANGUAGE)
    parser.included_ranges = [tree_sitter.Range(*points, start, end)]
    return parser.parse(source[:start] + without_long_runs(source[start:end]))


class Syntax:
    """A tree that follows a text lazily: parsing again costs far more than an analysis after a small edit."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        """The text; whoever changes it puts the new one here."""
        self._tree: tree_sitter.Tree | None = None
        self._parsed = b""

    @property
    def tree(self) -> tree_sitter.Tree:
        """The tree of the text as it is now."""
        if self._tree is None:
            self._tree = parse(self.source)
        elif self._parsed is not self.source and self._parsed != self.source:
            old = copy(self._tree)  # analyses made so far keep theirs
            old.edit(*edit_between(self._parsed, self.source))
            self._tree = parse(self.source, old)
        self._parsed = self.source
        return self._tree

    def between(self, start: int, end: int) -> list[tree_sitter.Node] | None:
        """What stands at the top level in a stretch; None if it is broken, and when something reaches over its ends."""
        found: list[tree_sitter.Node] = []
        cursor = self.tree.root_node.walk()
        going = cursor.goto_first_child_for_byte(start) is not None
        while going and (node := cursor.node) is not None and node.start_byte < end:
            if node.has_error:
                return None
            found.append(node)
            going = cursor.goto_next_sibling()
        whole = bool(found) and found[0].start_byte >= start and found[-1].end_byte <= end
        return found if whole else None


def edit_between(old: bytes, new: bytes) -> Edit:
    """What was replaced by what, in bytes and in rows and columns."""
    head, tail = same_ends(old, new)
    old_end, end = len(old) - tail, len(new) - tail
    return head, old_end, end, point(old, head), point(old, old_end), point(new, end)


def point(text: bytes, place: int) -> Point:
    """Row and column of a place."""
    return Point(text.count(b"\n", 0, place), place - text.rfind(b"\n", 0, place) - 1)
