"""What all places of one file share, and what was looked at beyond a statement."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

    from energy_code.rule_engine.queries.shapes import Shape


_WORD = frozenset([*b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", *range(0x80, 0x100)])
"""Bytes of names."""
_WORDS = re.compile(rb"[0-9A-Za-z_\x80-\xff]+")
_NOT_CODE = re.compile(
    rb"#[^\n]*"
    rb"|(?P<prefix>[A-Za-z]{0,2})(?:\"\"\"(?:\\.|[^\\])*?(?:\"\"\"|\\?\Z)|'''(?:\\.|[^\\])*?(?:'''|\\?\Z)"
    rb"|\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?)",
    re.DOTALL,
)
"""Comments and strings. One that is not closed fits too, so that none is searched for its end again and again."""
_LONG = 16_384
"""Bytes from which on a search through a text counts."""
_SEARCHES = 200
"""After so many of them all words of the text are put into an index: a file with many functions is searched for each one's
name, which would take time in proportion to the square of its length. For fewer the index would take longer."""


class FileContext:
    """What all places of one file look up again and again."""

    __slots__ = (
        "_code",
        "_index",
        "_searches",
        "_source",
        "aliases",
        "ancestors",
        "apis",
        "arguments",
        "asked",
        "assignments",
        "bound",
        "calls",
        "dtypes",
        "for_graphs",
        "functions",
        "graph_signs",
        "handed",
        "looked_anywhere",
        "looked_for",
        "loops",
        "mentioned",
        "run_once",
        "shapes",
        "traced_functions",
        "words",
    )

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._code: bytes | None = None
        self._searches = 0
        self._index: dict[bytes, list[int]] | None = None
        self.words: dict[bytes, bool] = {}
        """Words asked for so far, and whether the file contains them."""
        self.aliases: dict[str, str | None] = {}
        """Modules asked for so far, and how the file calls them."""
        self.apis: dict[int, str | None] = {}
        """Calls asked about so far, and which API they reach."""
        self.arguments: dict[int, tuple[list[Node], dict[str, Node | None]]] = {}
        """Calls asked about so far, and their arguments by position and by keyword."""
        self.ancestors: dict[int, list[Node]] = {}
        """Nodes asked about so far, and what is around them within their function, the nearest first."""
        self.for_graphs: bool | None = None
        """Whether the file is written for graphs alone; None until somebody asks."""
        self.graph_signs = False
        """Whether that was told from calls anywhere in the file."""
        self.handed: frozenset[str] | None = None
        """Names that the file gives to functions of libraries which trace; None until somebody asks."""
        self.loops: dict[tuple[int, bool], Node | None] = {}
        """Nodes asked about so far, with comprehensions or without, and the loop around them."""
        self.functions: dict[int, Node | None] = {}
        """Nodes asked about so far, and the function around them."""
        self.assignments: dict[tuple[int, str], list[Node]] = {}
        """Scope and name → where it is assigned."""
        self.bound: dict[tuple[int, int], dict[str, Node] | None] = {}
        """Call and signature → its arguments by parameter name."""
        self.calls: dict[int, list[Node]] = {}
        """Functions that were asked about, and where they are called by their names."""
        self.mentioned: dict[tuple[str, str], list[Node]] = {}
        """Name, and what stands behind it → where the file has it."""
        self.traced_functions: dict[int, bool] = {}
        """Functions that were asked about, and whether a library traces them."""
        self.run_once: dict[int, bool] = {}
        """Functions that were asked about, and whether they run once for each object."""
        self.shapes: dict[int, Shape | None] = {}
        """Nodes that were asked about, and their shapes."""
        self.asked = False
        """Whether a rule had to look at the syntax of the statement."""
        self.dtypes: dict[int, str | None] = {}
        """Nodes that were asked about, and the types of their elements."""
        self.looked_for: set[bytes] = set()
        """Words that were looked for beyond the statement of the module that holds the place."""
        self.looked_anywhere = False
        """Set by whoever answers from what is not told by words, or not in this file."""

    def look_afresh(self) -> None:
        """Begin with another statement of the module."""
        self.asked = False
        self.looked_for.clear()
        self.looked_anywhere = False

    def has(self, word: bytes) -> bool:
        """Whether the file contains a word at all."""
        known = self.words.get(word)
        if known is None:
            known = self.words[word] = word in self._source
        return known

    def code(self) -> bytes:
        """The text with blanks for comments and strings, at the same places: what neither of them says is done."""
        if self._code is None:
            self._code = _NOT_CODE.sub(_blank, self._source)
        return self._code

    def occurrences(self, name: bytes, after: bytes, start: int, end: int) -> Iterator[int]:
        """Where a stretch of the text has a whole word, with some text right behind it."""
        if end - start < _LONG or _WORDS.fullmatch(name) is None:
            return occurrences(self._source, name, after, start, end)
        if self._searches < _SEARCHES:
            self._searches += 1
            return occurrences(self._source, name, after, start, end)
        if self._index is None:
            self._index = {}
            for word in _WORDS.finditer(self._source):
                self._index.setdefault(word.group(), []).append(word.start())
        places = self._index.get(name, [])
        first, last, size = (
            bisect_left(places, start),
            bisect_left(places, end - len(name + after) + 1),
            len(name),
        )
        source = self._source
        return (place for place in places[first:last] if source.startswith(after, place + size))

    def alias(self, module: str) -> str | None:
        """How the file calls an imported module."""
        if module not in self.aliases:
            self.aliases[module] = alias_in(self._source, module)
        return self.aliases[module]


def _blank(found: re.Match[bytes]) -> bytes:
    """A formatted string stays, as it holds code."""
    text = found.group()
    return text if b"f" in (found["prefix"] or b"").lower() else b" " * len(text)


def occurrences(source: bytes, name: bytes, after: bytes, start: int, end: int) -> Iterator[int]:
    """Where a stretch of text has a whole word; plain searching is much faster than a regular expression."""
    needle = name + after
    if not name:  # tree-sitter puts names without letters where broken code lacks one
        return
    place = source.find(needle, start, end)
    while place >= 0:
        last = place + len(needle)
        if not (place and source[place - 1] in _WORD) and (
            after or last == len(source) or source[last] not in _WORD
        ):
            yield place
        place = source.find(needle, last, end)


def alias_in(source: bytes, module: str, *, everywhere: bool = True) -> str | None:
    """The name that a text imports a module by; only at its top level unless everywhere."""
    name = module.encode()
    if name not in source:
        return None
    others = rb"(?:[\w.]+(?:[ \t]+as[ \t]+\w+)?[ \t]*,[ \t]*)*"
    written = (
        rb"^[ \t]*import[ \t]+" + others + re.escape(name) + rb"(?:[ \t]+as[ \t]+(\w+))?[ \t]*(?:[,;#].*)?$"
    )
    found = re.search(written, source, re.MULTILINE)
    if found is None:
        return None
    return found.group(1).decode() if found.group(1) else module
