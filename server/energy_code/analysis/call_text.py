"""What a call looks like, whatever its layout: by that a measured call is found again after edits."""

from __future__ import annotations

import hashlib
import re

LONGEST = 120
"""Characters of a text that is kept as it is; of a longer one the beginning and a hash are."""
BEGINNING = 80

_PIECES = re.compile(
    r"""
    (?P<string>\"{3}(?:[^\\]|\\(?:.|\Z))*?(?:\"{3}|\Z)|'{3}(?:[^\\]|\\(?:.|\Z))*?(?:'{3}|\Z)
    |"(?:[^"\\\n]|\\(?:.|\Z))*(?:"|\Z|(?=\n))|'(?:[^'\\\n]|\\(?:.|\Z))*(?:'|\Z|(?=\n)))
    |(?P<space>(?:\s|\\\r?\n|\#[^\n]*)+)
    """,
    re.VERBOSE | re.DOTALL,
)

"""A string that is not closed reaches to the end of its line or text: else each quote behind it would be tried anew."""


def call_text(source: bytes) -> str:
    """A call's source without white space and comments, and without the comma that formatters put behind its last argument.

    White space inside strings is kept; between two words one space is.
    """
    written = source.decode("utf-8", "replace")
    pieces: list[str] = []
    end = 0
    for piece in _PIECES.finditer(written):
        pieces.append(written[end : piece.start()])
        end = piece.end()
        if piece["string"] is not None:
            pieces.append(piece["string"])
        elif _is_word(written[piece.start() - 1 : piece.start()]) and _is_word(written[end : end + 1]):
            pieces.append(" ")
    text = "".join([*pieces, written[end:]])
    if text.endswith(",)"):
        text = f"{text[:-2]})"
    if len(text) <= LONGEST:
        return text
    return f"{text[:BEGINNING]}…{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:16]}"


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"
