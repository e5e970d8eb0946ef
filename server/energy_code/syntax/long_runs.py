"""Runs of lines without code that the parser would look through again for each of them.

To find out how far the next statement is indented, the grammar's scanner reads on at the end of every line and at every
comment until there is code: a thousand lines of comments behind a statement take a thousand times as long as one, and no
reading of them can be broken off. Nothing depends on what they say, so they are read as blank lines of the same length.
"""

from __future__ import annotations

import re

from energy_code.syntax.pieces import TOKEN, closing

LONG = 64
"""Lines from which on a run counts; nobody writes so long comments but over a whole file."""
_NO_CODE = re.compile(rb"[ \t\f]*(?:\#[^\n]*|\\?\r?)")
_EMPTY = re.compile(rb"^[ \t\f]*\\(?=\r?\n)", re.MULTILINE)
_WRITTEN = re.compile(rb"[^\r\n]")


def without_long_runs(source: bytes) -> bytes:
    """A text as the parser gets it: the same, unless such a run is in it."""
    if not has_long_run(source):
        return source
    text = bytearray(_EMPTY.sub(_blank, source))
    place = 0
    while (match := TOKEN.search(source, place)) is not None:
        place = match.end()
        if match.lastgroup == "triple":
            end = closing(source, match.group(), place)
            place = end + len(match.group()) if end >= 0 else len(source)
        elif match.lastgroup is None:  # a comment
            text[match.start() : place] = b" " * (place - match.start())
    return bytes(text)


def has_long_run(source: bytes) -> bool:
    """Whether as many lines in a row hold no code: one of every so many is looked at, as it cannot be missed then."""
    lines = source.split(b"\n")
    return any(
        _NO_CODE.fullmatch(lines[place]) is not None and _length_around(lines, place) >= LONG
        for place in range(LONG - 1, len(lines), LONG)
    )


def _length_around(lines: list[bytes], place: int) -> int:
    """How many lines without code stand around one of them, as far as that matters."""
    first = last = place
    while first > 0 and place - first < LONG and _NO_CODE.fullmatch(lines[first - 1]):
        first -= 1
    while last + 1 < len(lines) and last - first < LONG and _NO_CODE.fullmatch(lines[last + 1]):
        last += 1
    return last - first + 1


def _blank(match: re.Match[bytes]) -> bytes:
    return _WRITTEN.sub(b" ", match.group())
