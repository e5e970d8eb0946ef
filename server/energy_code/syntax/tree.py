"""The syntax tree of a text that is being edited, brought up to date when somebody needs it."""

from __future__ import annotations

import threading
from copy import copy

import tree_sitter

from energy_code.model import Point
from energy_code.process import budget
from energy_code.syntax.long_runs import without_long_runs
from energy_code.syntax.node_kinds import LANGUAGE
from energy_code.text.decoding import same_ends

PIECE = 1024
"""Bytes that the parser gets at a time."""

Edit = tuple[int, int, int, Point, Point, Point]


def parse(source: bytes, old: tree_sitter.Tree | None = None) -> tree_sitter.Tree:
    """Parse a text; with a tree of the text before, what is the same is taken over."""
    return parsed_by(tree_sitter.Parser(LANGUAGE), without_long_runs(source), old)


def parse_stretch(source: bytes, start: int, end: int, points: tuple[Point, Point]) -> tree_sitter.Tree:
    """A tree of some statements alone; places in it are those of the whole text."""
    parser = tree_sitter.Parser(LANGUAGE)
    parser.included_ranges = [tree_sitter.Range(*points, start, end)]
    return parsed_by(parser, source[:start] + without_long_runs(source[start:end]))


def parsed_by(
    parser: tree_sitter.Parser, source: bytes, old: tree_sitter.Tree | None = None
) -> tree_sitter.Tree:
    """Parse a text piece by piece, so that it can be broken off: broken code may take a time that grows with its square.

    Raises TooLongError. Other threads run between the pieces.
    """
    before = () if old is None else (old,)
    if len(source) <= PIECE:
        return parser.parse(source, *before)
    window = _windows.window

    def read(place: int, _: object) -> memoryview:
        piece = source[place : place + PIECE] if budget.is_left() else b""
        view = window.get(len(piece))
        if view is None:
            view = window[len(piece)] = window[PIECE][: len(piece)]
        view[:] = piece
        return view

    tree = parser.parse(read, *before)
    budget.check()
    return tree


class _Windows(threading.local):
    """What the parser of a thread gets to see of a text: it keeps every object that it is given, so these are few."""

    def __init__(self) -> None:
        self.window = {PIECE: memoryview(bytearray(PIECE))}
        """The same memory, by how much of it is seen."""


_windows = _Windows()


class Syntax:
    """A tree that follows a text lazily: parsing again costs far more than an analysis after a small edit."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        """The text; whoever changes it puts the new one here."""
        self._tree: tree_sitter.Tree | None = None
        self._parsed = b""

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
        cursor = self.tree().root_node.walk()
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
