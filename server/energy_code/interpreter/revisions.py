"""The counters by which kept results are stamped. What they are compared with stands in `incremental/invalidation.py`."""

from __future__ import annotations


class Revisions:
    """Answers how far the program has come: by edits, by changes of what evaluations see, by passes, by cycles."""

    __slots__ = ("changes", "changes_before", "cycles", "last_read", "passes", "passes_before", "revision")

    def __init__(self) -> None:
        self.revision = 0
        """Counts edits of the program's text."""
        self.changes = 0
        """Counts changes of anything that an evaluation may have looked at: what is verified at this count holds."""
        self.changes_before = 0
        """That count when the last edit came."""
        self.last_read = (0, 0)
        """The last revision in which something changed, and the count of changes when it began."""
        self.passes = 0
        """Counts how often the program was followed from its top: after each edit, and again until its end agrees with its
        beginning."""
        self.cycles = 0
        """Counts cycles of evaluations that were closed: results inside of one are provisional until then."""
        self.passes_before = 0
        """How often it had been when the last edit came."""

    def edited(self) -> None:
        """The text of the program is another one now."""
        if self.changes != self.changes_before:
            self.last_read = (self.revision, self.changes_before)
        self.revision += 1
        self.passes_before = self.passes
        self.passes += 1
        self.changes_before = self.changes

    def changed(self) -> None:
        """Something that evaluations may have looked at is another one now."""
        self.changes += 1
