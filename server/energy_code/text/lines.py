"""Bytes, rows and columns: the one place that converts between them."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import Literal

from energy_code.model import Point, Span

Encoding = Literal["utf-8", "utf-16", "utf-32"]
Position = tuple[int, int]
new = tuple.__new__


class Lines:
    """Where the lines of a source start."""

    def __init__(self, source: bytes, starts: list[int] | None = None) -> None:
        self.source = source
        self.starts = starts if starts is not None else starts_in(source, 0, len(source))

    def edited(self, source: bytes, start: int, old_end: int) -> Lines:
        """The lines of the text after an edit: only those around it are counted anew."""
        old, shift = self.starts, len(source) - len(self.source)
        first = max(bisect_right(old, start) - 2, 0)
        last = bisect_right(old, old_end)
        if last == len(old):
            return Lines(source, old[:first] + starts_in(source, old[first], len(source)))
        middle = starts_in(source, old[first], old[last] + shift)
        return Lines(source, [*old[:first], *middle[:-1], *[place + shift for place in old[last:]]])

    def point(self, byte: int) -> Point:
        """Row and byte column of a byte offset."""
        row = bisect_right(self.starts, byte) - 1
        return Point(row, byte - self.starts[row])

    def span(self, start: int, end: int) -> Span:
        """A stretch with its points."""
        starts = self.starts
        row = bisect_right(starts, start) - 1
        last = row if row + 1 < len(starts) and end < starts[row + 1] else bisect_right(starts, end) - 1
        return span_of(start, end, row, start - starts[row], last, end - starts[last])

    def moved(self, span: Span, start: int) -> Span:
        """The span of the same text where it starts now; lines before it may have come and gone."""
        (old_start, old_end, (row, column), (last, end_column)) = span
        rows = bisect_right(self.starts, start) - 1 - row
        return span_of(start, old_end + start - old_start, row + rows, column, last + rows, end_column)

    def line(self, row: int) -> bytes:
        """One line without its end."""
        start = self.starts[row]
        end = self.starts[row + 1] - 1 if row + 1 < len(self.starts) else len(self.source)
        return self.source[start:end].rstrip(b"\r")

    def texts(self) -> list[str]:
        """All lines without their ends."""
        return [self.line(row).decode("utf-8", "replace") for row in range(len(self.starts))]

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


def starts_in(source: bytes, begin: int, end: int) -> list[int]:
    """Where the lines of a piece start, that behind its last line end included."""
    lengths = map(len, source[begin:end].splitlines(keepends=True))
    starts = list(accumulate(lengths, initial=begin))
    if len(starts) > 1 and source[end - 1 : end] != b"\n":
        starts.pop()
    return starts


def span_of(start: int, end: int, row: int, column: int, last: int, end_column: int) -> Span:
    """A span of its numbers, made without the detour through the constructors of named tuples."""
    points = new(Point, (row, column)), new(Point, (last, end_column))
    return new(Span, (start, end, *points))


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
