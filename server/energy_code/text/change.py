"""What edits did to a text: where it is as it was, at both ends, and what stands between."""

from __future__ import annotations

from functools import cached_property


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
