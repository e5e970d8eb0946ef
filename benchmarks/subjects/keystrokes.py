"""The keys that somebody presses to write nine lines of ordinary code, as edits of a text.

Not a benchmark of its own: `servers.py` sends them to language servers, `growth.py` and tests to the reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

CODE = '''\
LAYERS = dict(
    units=[64, 32],
    name="head",
)
@tf.function
def scaled(inputs, factor=2.0):
    """Scale, then centre."""
    mean = tf.reduce_mean(inputs, axis=-1, keepdims=True)
    return {"scaled": (inputs - mean) * factor, 'mean': tf.sqrt(mean)}
'''
"""Nine lines: a call over several lines at module level, a decorator, a docstring, brackets and both quotes."""
PAIRS = {"(": ")", "[": "]", "{": "}", '"': '"', "'": "'"}
PLACES = ("start", "middle", "inside", "end")
"""Behind the first statement, between two statements, in the body of a function, behind the last one."""
CLASS_PLACES = ("middle", "method")
"""In a file that is made of classes: between two of them, in the body of a method."""
BACKSPACES = 25


class Key(NamedTuple):
    """One edit: what stands from one character to another is replaced."""

    start: int
    end: int
    text: str
    kind: str
    """`key`, `delete`, `paste` or `undo`."""

    def applied(self, text: str) -> str:
        """The text after it."""
        return text[: self.start] + self.text + text[self.end :]


class Position(NamedTuple):
    """A place in a text as the protocol counts it."""

    line: int
    character: int


def position(text: str, place: int) -> Position:
    """Line and character of a place; the text is plain ASCII."""
    return Position(text.count("\n", 0, place), place - (text.rfind("\n", 0, place) + 1))


def place_in(text: str, where: str) -> tuple[int, str]:
    """Where to type, and how far what is typed is indented."""
    tops = [found.start() for found in re.finditer(r"^(?:def|class|@)", text, re.MULTILINE)]
    after = [
        top for top in tops if not re.match(r"@.*\n", text[max(0, text.rfind("\n", 0, top - 1)) + 1 : top])
    ]
    if where == "start":
        return after[1] if len(after) > 1 else after[0], ""
    if where == "end":
        return len(text), ""
    if where == "middle":
        return min(after, key=lambda top: abs(top - len(text) // 2)), ""
    indent = "        " if where == "method" else "    "
    returns = re.compile(rf"^{indent}return [^\n(\[{{\"']*\n", re.MULTILINE)
    bodies = [found.end() for found in returns.finditer(text)]
    body = min(bodies, key=lambda one: abs(one - len(text) // 2))
    return text.rfind("\n", 0, body - 1) + 1, indent


def typed(code: str, indent: str) -> Iterator[str]:
    """What each key puts in; the editor indents a new line by itself."""
    lines = [indent + line if line else line for line in code.splitlines()]
    yield from lines[0]
    for line in lines[1:]:
        margin = len(line) - len(line.lstrip(" "))
        yield "\n" + line[:margin]
        yield from line[margin:]


def keys(text: str, where: str, closing: bool, code: str = CODE) -> Iterator[Key]:
    """Type the code, take back its end key by key, then all of it at once; paste it, and take it back again."""
    place, indent = place_in(text, where)
    begun, caret, pending = place, place, ""
    opened = Key(place, place, "\n", "key")
    yield opened
    text = opened.applied(text)
    for piece in typed(code, indent):
        if pending and pending.startswith(piece):  # typed over what the editor had closed
            caret, pending = caret + len(piece), pending[len(piece) :]
            continue
        closer = PAIRS.get(piece, "") if closing else ""
        if closing and piece == '"' and text[caret - 2 : caret] == '""':
            closer = '"""'
        if closing and piece.startswith("\n") and pending[:1] in (")", "]", "}"):
            outer = piece[: len(piece) - 4] if len(piece) > 4 else "\n"
            closer = outer
        key = Key(caret, caret, piece + closer, "key")
        yield key
        text = key.applied(text)
        caret, pending = caret + len(piece), closer + pending
    end = caret + len(pending)
    whole = "".join(typed(code, indent)) + "\n"
    for _ in range(BACKSPACES):
        key = Key(end - 1, end, "", "delete")
        yield key
        text, end = key.applied(text), end - 1
    for key in (
        Key(begun, end + 1, "", "undo"),
        Key(begun, begun, whole, "paste"),
        Key(begun, begun + len(whole), "", "undo"),
    ):
        yield key
        text = key.applied(text)
