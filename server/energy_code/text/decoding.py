"""From what a file or an editor holds to the bytes that are parsed."""

from __future__ import annotations

import codecs
import re

COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
LONE_RETURN = re.compile(rb"\r(?!\n)")


def decode(data: bytes) -> str:
    """The text of a Python file: byte order mark, then coding cookie, then UTF-8, then Latin-1, which always fits."""
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ):
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    for line in data.split(b"\n", 2)[:2]:
        match = COOKIE.match(line)
        if match:
            try:
                return data.decode(match.group(1).decode("ascii"))
            except (LookupError, UnicodeError, ValueError):
                break
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return mostly_utf8(data) or data.decode("latin-1")


def mostly_utf8(data: bytes) -> str | None:
    """UTF-8 with a few damaged characters, such as the last one of a file that was cut."""
    text = data.decode("utf-8", "surrogateescape")
    damaged = sum("\udc80" <= letter <= "\udcff" for letter in text)
    whole = sum(letter > "\x7f" for letter in text) - damaged
    return data.decode("utf-8", "replace") if whole > damaged else None


def encode(text: str) -> bytes:
    """UTF-8, which is what positions count in; a byte order mark that an editor left is blanked out."""
    return text.encode("utf-8", "surrogatepass")


def parseable(source: bytes) -> bytes:
    """The same bytes with NUL blanked and lone carriage returns as line ends; no offset moves."""
    if b"\0" in source:
        source = source.replace(b"\0", b" ")
    if source.startswith(codecs.BOM_UTF8):
        source = b"   " + source[3:]
    if b"\r" in source and LONE_RETURN.search(source):
        source = LONE_RETURN.sub(b"\n", source)
    return source


def same_ends(old: bytes, new: bytes) -> tuple[int, int]:
    """How many bytes two texts share at the start, and how many of the rest at the end; no character is cut."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if old[low:middle] == new[low:middle] else (low, middle - 1)
    while low and (_is_inside(old, low) or _is_inside(new, low)):
        low -= 1
    head, low, high = low, 0, min(len(old), len(new)) - low
    while low < high:
        middle = (low + high + 1) // 2
        same = old[len(old) - middle : len(old) - low] == new[len(new) - middle : len(new) - low]
        low, high = (middle, high) if same else (low, middle - 1)
    while low and _is_inside(old, len(old) - low):
        low -= 1
    return head, low


def _is_inside(text: bytes, place: int) -> bool:
    """True when a place lies between the bytes of one character."""
    return place < len(text) and text[place] & 0xC0 == 0x80
