"""What was found: the shapes that calls are given, by file and place."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from energy_code.static_shapes.limits import MOST_SHAPES
from energy_code.static_shapes.values.kinds import (
    Asked,
)

Place = tuple[int, int, int, int]
"""Line and column (bytes) of the first and the last character of a call, lines from 1."""
Found = dict[Place, tuple[Asked, ...]]


@dataclass(slots=True)
class FileNotes:
    """What was found in one file."""

    found: Found = field(default_factory=dict)
    blurred: set[Place] = field(default_factory=set)
    """Calls that were reached with too many shapes, or with one that is not known."""


class Notes:
    """Answers which calls have shapes. Its state: what was found in each file."""

    def __init__(self) -> None:
        self.files: dict[str, FileNotes] = {}
        self.journal: list[tuple[str, Place]] = []
        """Calls in the order in which something new was noted of them."""

    def of(self, file: str) -> FileNotes:
        """What was found in a file."""
        return self.files.setdefault(file, FileNotes())

    def note(self, file: str, place: Place, asked: Asked | None) -> None:
        """Keep what a call was given; a call that was given something unknown once has no shape."""
        notes = self.of(file)
        known = notes.found.get(place, ())
        if asked is None:
            notes.blurred.add(place)
            return
        for number, each in enumerate(known):
            if each.shape == asked.shape and each.inside == asked.inside:
                again = replace(each, times=each.times + asked.times)
                notes.found[place] = (*known[:number], again, *known[number + 1 :])
                return
        if len(known) >= MOST_SHAPES:
            notes.blurred.add(place)
            return
        notes.found[place] = (*known, asked)
        self.journal.append((file, place))

    def enclosed(self, since: int) -> None:
        """What was noted since is a part of a call with a figure of its own."""
        for file, place in self.journal[since:]:
            found, merged = self.of(file).found, dict[str, Asked]()
            for each in found.get(place, ()):
                known = merged.get(each.shape)
                times = each.times + (known.times if known is not None else 0)
                merged[each.shape] = replace(known or each, inside=True, times=times)
            found[place] = tuple(merged.values())
        del self.journal[since:]

    def found(self) -> dict[str, Found]:
        """All calls that were always reached with shapes that are known."""
        return {
            name: {place: asked for place, asked in notes.found.items() if place not in notes.blurred}
            for name, notes in self.files.items()
        }
