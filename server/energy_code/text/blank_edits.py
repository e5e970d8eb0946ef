"""Edits of blank lines and of lines that hold nothing but a comment: no token of the program changes."""

from __future__ import annotations

import re
from functools import cached_property

STRING_OF_LINES = re.compile(rb"\"\"\"|'''")
UNCLEAR = re.compile(rb"\\|\"\"\"|'''")
"""What lets a line go on, or be part of a string, behind its end."""


class Change:
    """A text before and after edits, which lie between a head and a tail that both have."""

    def __init__(self, before: bytes, after: bytes, head: int, tail: int) -> None:
        self.before = before
        self.after = after
        self.head = head
        self.old_end = len(before) - tail
        self.end = len(after) - tail
        self.by = self.end - self.old_end
        """By how much the tail has moved."""

    @cached_property
    def old(self) -> bytes:
        """What was replaced."""
        return self.before[self.head : self.old_end]

    @cached_property
    def new(self) -> bytes:
        """What stands there now."""
        return self.after[self.head : self.end]

    @cached_property
    def lines(self) -> tuple[bytes, bytes]:
        """The whole lines in which the edits lie, before and after them."""
        first = self.after.rfind(b"\n", 0, self.head) + 1
        last = self.before.find(b"\n", self.old_end)
        rest = (len(self.before) if last < 0 else last) - self.old_end
        return self.before[first : self.old_end + rest], self.after[first : self.end + rest]


class Gap:
    """Where an edit between tokens lies: what stands behind `place` moves."""

    def __init__(self, place: int, comments: bool) -> None:
        self.place = place
        self.comments = comments
        """True when a comment came, went or was indented."""


def gap_in(change: Change) -> Gap | None:
    """Where an edit adds or takes away whole lines without code, or space at the end of lines; None for any other.

    Whether it is in a string is not looked at.
    """
    if has_code(change.old) or has_code(change.new):
        return None
    head = change.head
    first = change.after.rfind(b"\n", 0, head) + 1
    old, new = change.lines
    if UNCLEAR.search(old) or UNCLEAR.search(new) or change.after[:first].endswith((b"\\\n", b"\\\r\n")):
        return None
    before = new[: head - first]
    if b"#" in before and not all(
        text[head : head + 1] in (b"\n", b"") for text in (change.before, change.after)
    ):
        return None  # space at the end of a comment is part of it
    lines, others = written_lines(old), written_lines(new)
    comments = lines != others or b"#" in change.old or b"#" in change.new
    if comments and [line for line in lines if has_code(line)] != [line for line in others if has_code(line)]:
        return None
    # A token that begins at the head moves with the rest; one that ends there stays.
    return Gap(head if before.strip() else head - 1, comments)


def has_code(text: bytes) -> bool:
    """True when a line holds more than a comment."""
    return any(line and not line.startswith(b"#") for line in map(bytes.strip, text.split(b"\n")))


def written_lines(text: bytes) -> list[bytes]:
    """The lines that are not blank."""
    return [line for line in map(bytes.rstrip, text.split(b"\n")) if line]


def may_be_in_string(text: bytes) -> bool:
    """True when a string that goes over several lines can have begun in a text and go on behind it."""
    return STRING_OF_LINES.search(text) is not None or b"\\\n" in text or b"\\\r\n" in text
