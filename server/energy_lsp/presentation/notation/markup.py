"""Text for people in two dialects: Markdown where the client shows it, plain text elsewhere.

Whatever comes from a file or a database passes through `text` or `code`, which leave no character with a
meaning in Markdown: such content can form no link, no image, no HTML and no command.
"""

from __future__ import annotations

import re
from typing import Protocol

_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~&:])")
_ADDRESS = re.compile(r"https://[\w./~#%?=&+,:@-]+")
_FILE = re.compile(r"file:///[\w./~%+,:@-]+")


class Markup(Protocol):
    """How to write the few things that a hover is made of."""

    def text(self, content: str) -> str:
        """Foreign text, taken literally."""

    def prose(self, content: str) -> str:
        """The same, but what stands between backticks is code."""

    def code(self, content: str) -> str:
        """A name from the code."""

    def bold(self, content: str) -> str:
        """Emphasis on text of our own."""

    def link(self, label: str, url: str) -> str:
        """A link to a web page of a documentation."""

    def file_link(self, label: str, uri: str, row: int) -> str:
        """A link to a row, counted from 0, of a file that is open in the editor."""

    def block(self, lines: list[str]) -> str:
        """Lines in a fixed-width font."""


class Markdown:
    """CommonMark as editors render it."""

    def text(self, content: str) -> str:
        """Every character that Markdown gives a meaning is escaped; one line."""
        return _escaped(_one_line(content))

    def prose(self, content: str) -> str:
        """Every second part between backticks is code; a lone backtick is a character."""
        parts = _one_line(content).split("`")
        if len(parts) % 2 == 0 or "" in parts[1::2]:
            return self.text(content)
        return "".join(f"`{part}`" if place % 2 else _escaped(part) for place, part in enumerate(parts))

    def code(self, content: str) -> str:
        """A code span; a backtick inside becomes an apostrophe, as no escape works there."""
        return "`" + _one_line(content).replace("`", "'") + "`"

    def bold(self, content: str) -> str:
        """Two asterisks."""
        return f"**{content}**"

    def link(self, label: str, url: str) -> str:
        """Only https addresses without characters that could end the link."""
        if not _ADDRESS.fullmatch(url):
            return label
        return f"[{label}]({url})"

    def file_link(self, label: str, uri: str, row: int) -> str:
        """Only addresses of files without characters that could end the link."""
        return f"[{label}]({uri}#L{row + 1})" if _FILE.fullmatch(uri) else label

    def block(self, lines: list[str]) -> str:
        """A fenced block."""
        return "\n".join(["```text", *(line.replace("```", "'''") for line in lines), "```"])


class Plain:
    """For clients that show text as it is."""

    def text(self, content: str) -> str:
        """One line."""
        return _one_line(content)

    def prose(self, content: str) -> str:
        """One line; backticks are understood as they are."""
        return _one_line(content)

    def code(self, content: str) -> str:
        """The name itself."""
        return _one_line(content)

    def bold(self, content: str) -> str:
        """Nothing to add."""
        return content

    def link(self, label: str, url: str) -> str:
        """The address behind the label."""
        return f"{label}: {url}"

    def file_link(self, label: str, uri: str, row: int) -> str:
        """The label: where a file is says the editor."""
        return label

    def block(self, lines: list[str]) -> str:
        """The lines."""
        return "\n".join(lines)


def _escaped(line: str) -> str:
    return _SPECIAL.sub(r"\\\1", line)


def _one_line(content: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in content).split())
