"""The one place that makes text of others fit to print.

File names, source lines, program arguments, settings and rows of a database may hold characters that a
terminal acts on (C0 and C1 controls, escape sequences), that turn the reading direction around, that break a
line where the next would be taken for one of ours, or that a CI service takes for a command. What `str` calls
not printable covers the first three: controls, formats, surrogates, separators other than the space.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

LONGEST = 4000
"""Characters of one piece of text; nobody reads more, and a database may hold megabytes."""
REPLACED = "�"
_SURROGATE = re.compile("[\ud800-\udfff]")
_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_COMMAND = re.compile(r"^([^\S\n]*):(?=:)", re.MULTILINE)
_OLD_COMMAND = re.compile(r"##(?=\w*\[)")


def one_line(text: object, most: int = LONGEST) -> str:
    """Text of others as one line of words."""
    content = str(text)
    content = content if len(content) <= 4 * most else content[: 4 * most]
    words = " ".join("".join(c if c.isprintable() else " " for c in content).split())
    return _no_old_command(words if len(words) <= most else words[: most - 1] + "…")


def visible(text: object, most: int = LONGEST) -> str:
    """The same, character by character: for names and source lines, in which each column counts."""
    content = str(text)
    content = content if len(content) <= most else content[: most - 1] + "…"
    if not content.isprintable():
        content = "".join(c if c.isprintable() else " " if c == "\t" else REPLACED for c in content)
    return _no_old_command(content)


def cell(value: object) -> object:
    """A value of a table for a spreadsheet: a text of others is no formula there."""
    if not isinstance(value, str):
        return value
    return visible(f"'{value}" if value.startswith(("=", "+", "-", "@")) else value)


def storable(value: Any) -> Any:
    """A value of which a text can be written as UTF-8: names in other encodings have escapes in them."""
    return value.encode("utf-8", "backslashreplace").decode("utf-8") if isinstance(value, str) else value


def composed(text: str, *, styled: bool = False) -> str:
    """A whole text of ours, its parts made fit already: a net for what slipped through, and no CI command in it."""
    if styled:
        parts = _STYLE.split(text)
        styles = [*_STYLE.findall(text), ""]
        text = "".join(cleaned(part) + style for part, style in zip(parts, styles, strict=True))
    else:
        text = cleaned(text)
    return _no_old_command(_COMMAND.sub(r"\1: ", text))


def cleaned(text: str) -> str:
    """A text of several lines without anything that a terminal acts on."""
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c == "\n" else " " if c in "\t\xa0\u3000" else REPLACED for c in text
    )


def _no_old_command(text: str) -> str:
    """`##[…]`, `##vso[…]`, `##teamcity[…]`: services look for these anywhere in a line."""
    return _OLD_COMMAND.sub("# #", text) if "##" in text else text


def json_text(value: Any, *, indent: int | None = None) -> str:
    """JSON in ASCII that any reader takes: no infinity, no NaN, no half of a surrogate pair."""
    return json.dumps(_readable(value), indent=indent, allow_nan=False)


def _readable(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return _SURROGATE.sub(REPLACED, value)
    if isinstance(value, dict):
        return {_readable(key): _readable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_readable(item) for item in value]
    return value
