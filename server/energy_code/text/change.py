"""What edits did to a text: where it is as it was, at both ends, and what stands between."""

from __future__ import annotations


class EditedText:
    """A text before and after edits, which lie between a head and a tail that both have."""

    def __init__(self, before: bytes, after: bytes, head: int, tail: int) -> None:
        self.before = before
        self.after = after
        self.head = head
        self.old_end = len(before) - tail
        self.end = len(after) - tail
        self.by = self.end - self.old_end
        """By how much the tail has moved."""
        self.old = before[head : self.old_end]
        """What was replaced."""
        self.new = after[head : self.end]
        """What stands there now."""

    def lines(self) -> tuple[bytes, bytes]:
        """The whole lines in which the edits lie, before and after them."""
        first = self.after.rfind(b"\n", 0, self.head) + 1
        last = self.before.find(b"\n", self.old_end)
        rest = (len(self.before) if last < 0 else last) - self.old_end
        return self.before[first : self.old_end + rest], self.after[first : self.end + rest]
