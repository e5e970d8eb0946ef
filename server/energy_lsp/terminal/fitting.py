"""Text that fits a width: names shortened where they say least, sentences wrapped between words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.cells import cell_len

ELLIPSIS = "…"
_SEAM = re.compile(r"[_\-./]")
_UNIT = re.compile(
    r"(?<=≈) (?=[\d<])|(?<=%) (?=±)|(?<=±) (?=\d)|(?<=\d) (?=(?:kJ|J|mJ|µJ|Wh|W|s|ms|µs|ns|min|%|CPUs|runs?|calls?|times)\b)"
)
"""The space in a number with its unit: no place for a new line."""
_KEPT = "\xa0"
_LINE = re.compile(r":\d+$")


def shortened(text: str, width: int) -> str:
    """A name with its beginning left out, at a dot or a slash where there is one: `…models.Sequential.fit`.

    The end of a name says most: the method, the file, the line.
    """
    if cell_len(text) <= width:
        return text
    if width <= 1:
        return ELLIPSIS[:width]
    # Of a path the file is kept, of a dotted name its last parts.
    seam = "/" if "/" in text else "." if not _LINE.search(text) else ""
    for part in re.finditer(re.escape(seam), text) if seam and " " not in text else ():
        rest = ELLIPSIS + text[part.start() if seam == "/" else part.end() :]
        if cell_len(rest) <= width:
            return rest
    if " " in text.strip():
        # A phrase: as many of its words as there is room for.
        kept = ""
        for word in text.split():
            longer = f"{kept} {word}".strip()
            if cell_len(longer) > width - 2:
                break
            kept = longer
        if kept:
            return f"{kept} {ELLIPSIS}"
    return ELLIPSIS + _tail(text, width - 1)


def _tail(text: str, width: int) -> str:
    """The end of a name, from the beginning of one of its words on where there is one."""
    while cell_len(text) > width:
        text = text[1:]
    seam = _SEAM.search(text[: len(text) // 2])
    return text[seam.end() :] if seam else text


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """Lines of a sentence, broken between words alone; a word that is longer than a line is shortened."""
    lines = _lines(_UNIT.sub(_KEPT, text), max(width, 2), indent)
    return [line.replace(_KEPT, " ") for line in lines] or [""]


def _lines(text: str, width: int, indent: str) -> Iterator[str]:
    lead = text[: len(text) - len(text.lstrip(" "))]
    line, begun = lead, False
    for word in text[len(lead) :].split(" "):
        longer = f"{line} {word}" if begun else line + word
        begun = True
        if cell_len(longer) <= width:
            line = longer
            continue
        if line.strip():
            yield line.rstrip()
        line = indent + word if cell_len(indent + word) <= width else shortened(word, width)
    if line.strip():
        yield line.rstrip()
