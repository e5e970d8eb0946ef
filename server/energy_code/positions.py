"""Bytes, rows and columns: the one place that converts between them."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import Literal

from energy_code.calls import Point, Span

Encoding = Literal["utf-8", "utf-16", "utf-32"]
Position = tuple[int, int]


class Lines:
    """Where the lines of a source start."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.starts = [0, *accumulate(map(len, source.splitlines(keepends=True)))]
        if len(self.starts) > 1 and not source.endswith(b"\n"):
            self.starts.pop()

    def point(self, byte: int) -> Point:
        """Row and byte column of a byte offset."""
        row = bisect_right(self.starts, byte) - 1
        return Point(row, byte - self.starts[row])

    def span(self, start: int, end: int) -> Span:
        """A stretch with its points."""
        starts = self.starts
        row = bisect_right(starts, start) - 1
        last = row if row + 1 < len(starts) and end < starts[row + 1] else bisect_right(starts, end) - 1
        return Span(start, end, Point(row, start - starts[row]), Point(last, end - starts[last]))

    def line(self, row: int) -> bytes:
        """One line without its end."""
        start = self.starts[row]
        end = self.starts[row + 1] - 1 if row + 1 < len(self.starts) else len(self.source)
        return self.source[start:end].rstrip(b"\r")

    def position(self, byte: int, encoding: Encoding) -> Position:
        """Line and character of a byte offset, in the units of an encoding."""
        row, column = self.point(max(0, min(byte, len(self.source))))
        start = self.starts[row]
        return row, units(self.source[start : start + column], encoding)

    def byte_offset(self, line: int, character: int, encoding: Encoding) -> int:
        """The byte offset of a position; positions behind the end of a line or of the text are moved to it."""
        if line < 0:
            return 0
        if line >= len(self.starts):
            return len(self.source)
        text = self.line(line)
        if encoding == "utf-8" or text.isascii():
            column = max(0, min(character, len(text)))
            while 0 < column < len(text) and text[column] & 0xC0 == 0x80:
                column -= 1
            return self.starts[line] + column
        column, count = 0, 0
        for letter in text.decode("utf-8", "surrogatepass"):
            width = 2 if encoding == "utf-16" and ord(letter) > 0xFFFF else 1
            if count + width > character:
                break
            count += width
            column += len(letter.encode("utf-8", "surrogatepass"))
        return self.starts[line] + column


def units(text: bytes, encoding: Encoding) -> int:
    """The length of a piece of a line in the units of an encoding."""
    if encoding == "utf-8" or text.isascii():
        return len(text)
    letters = text.decode("utf-8", "replace" if not _whole(text) else "surrogatepass")
    if encoding == "utf-32":
        return len(letters)
    return len(letters) + sum(letter > "\uffff" for letter in letters)


def _whole(text: bytes) -> bool:
    """False when a column cuts a character in two."""
    try:
        text.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True
