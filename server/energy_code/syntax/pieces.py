"""Where the statements of a module begin, told by its tokens alone, so that a broken one ends before the next.

A parser takes everything behind an unclosed bracket for a part of it. Here a text is cut into pieces, each a statement
of the top level: at a line that begins at the margin with no bracket and no string open, or with a bracket open that is
never closed. In Python `def`, `class`, `import` and other words never stand inside brackets: where one of them does, the
brackets are unclosed, and each line at the margin since then begins a statement. A string of several lines ends before a
definition when what follows its closing quotes can be no code, but a documentation string.

What is missing is put in, or what is too much blanked out (`Piece.repairs`), and never moves a byte: what stands behind the
broken place in the same piece, as in a long class, is read as it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from energy_code.process import budget

TOKEN = re.compile(
    rb"""
      (?P<line> \n (?: [ \t\f]* \\ \r? \n )* [ \t\f]* (?=[^\s\#]) )
    | \# [^\n]*
    | (?P<triple> \"\"\" | ''' )
    | (?P<string> " [^"\\\n]* (?: \\. [^"\\\n]* )* " | ' [^'\\\n]* (?: \\. [^'\\\n]* )* ' )
    | (?P<open> [(\[{] )
    | (?P<close> [)\]}] )
    | (?P<quote> ["'] [^\\\n]* (?: \\. [^\\\n]* )* )
    | (?P<joined> \\ \r? \n )
    """,
    re.VERBOSE | re.DOTALL,
)
NEVER_IN_BRACKETS = re.compile(
    rb"(?:def|class|import|while|with|try|return|raise|assert|del|global|nonlocal|pass|break|continue"
    rb"|elif|except|finally|async[ \t]+(?:def|with)|from[ \t]+[\w.]+[ \t]+import)\b"
)
BEGINS_STATEMENT = re.compile(rb"[\w@\x80-\xff]")
CONTINUES_STATEMENT = re.compile(rb"(?:else|elif|except|finally)\b|[)\]}]")
DEFINITION = re.compile(rb"(?:async[ \t]+)?(?:def|class)\b|@")
DEFINITION_LINE = re.compile(
    rb"^[ \t]*(?:(?:async[ \t]+)?def[ \t]+\w+[ \t]*\(|class[ \t]+\w+[ \t]*[(:]|@\w[\w.]*(?:\(.*)?\r?$)",
    re.MULTILINE,
)
HEADER_BEFORE = re.compile(
    rb"(?:^|\n)[ \t]*(?:async[ \t]+)?(?:def|class)\b[^\n]*:[ \t\r]*(?:\n[ \t\r]*)*\n[ \t]+\w*\Z"
)
FOLLOWS_STRING = re.compile(
    rb"[ \t\f]*(?:\r?\n|\Z|[-+*/%@&|^<>=!)\]},.:;\#\\\[(\"'`]"
    rb"|(?:if|else|for|in|and|or|not|is|as|async)\b|[rRbBuUfFtT]{1,2}[\"'])"
)
CLOSERS = {ord("("): b")", ord("["): b"]", ord("{"): b"}"}
OPENERS = {ord(")"): ord("("), ord("]"): ord("["), ord("}"): ord("{")}
FOREVER = 1 << 60
"""Reaches behind the end of any text."""
MANY_UNCLOSED = 64
"""From so many unclosed brackets on, they are blanked out without a look for where they could be closed."""
DEEP = 200
"""So many open brackets are looked through for the one that a bracket closes."""
HEADER_ROOM = 400
"""Bytes before a string in which the header of a function would stand."""


class Repair(NamedTuple):
    """Bytes that are read in place of others."""

    place: int
    text: bytes


class Piece(NamedTuple):
    """A statement of the top level with what stands behind it, up to the next one."""

    start: int
    end: int
    reach: int
    """How far the text was looked at to tell this."""
    repairs: tuple[Repair, ...] = ()

    def moved(self, by: int) -> Piece:
        """The same piece further down."""
        repairs = tuple([Repair(place + by, text) for place, text in self.repairs])
        return Piece(self.start + by, self.end + by, self.reach + by, repairs)


class OpenBracket(NamedTuple):
    """A bracket that is open."""

    place: int
    letter: int
    indent: int
    """How far the line is indented that it stands in."""


class Line(NamedTuple):
    """A line that begins a statement if the brackets that are open there are never closed."""

    start: int
    indent: int
    depth: int
    innermost: int
    """The place of the innermost bracket."""


def pieces_from(source: bytes, start: int) -> Iterator[list[Piece]]:
    """The pieces from a place on where one begins; those that were distinguished together come together."""
    while True:
        run = StatementRun(source, start).pieces()
        yield run
        start = run[-1].end
        if start >= len(source):
            return


def repaired(source: bytes, pieces: Iterable[Piece]) -> bytes:
    """A text as it is read."""
    repairs = [repair for piece in pieces for repair in piece.repairs]
    if not repairs:
        return source
    text = bytearray(source)
    for place, new in repairs:
        text[place : place + len(new)] = new
    return bytes(text)


class StatementRun:
    """One statement, or several when brackets or a string in them are not closed."""

    def __init__(self, source: bytes, start: int) -> None:
        self.source = source
        self.starts = [start]
        self.decorated = source.startswith(b"@", start)
        """True while the last of them has decorators alone."""
        self.repairs: list[Repair] = []
        self.reach = 0
        self._stack: list[OpenBracket] = []
        self._lines: list[Line] = []
        """Since the stack was empty."""
        self._indent = 0

    def pieces(self) -> list[Piece]:
        """The pieces, one behind the other."""
        source = self.source
        end = self._end()
        repairs = sorted(self.repairs)
        found: list[Piece] = []
        first = 0
        for start, stop in zip(self.starts, [*self.starts[1:], end], strict=True):
            last = first
            while last < len(repairs) and repairs[last].place < stop:
                last += 1
            reach = max(self.reach, line_end(source, stop))
            found.append(Piece(start, stop, reach, tuple(repairs[first:last])))
            first = last
        return found

    def _end(self) -> int:
        """Where the next statement begins, or the text ends."""
        source, place = self.source, self.starts[0]
        while (match := TOKEN.search(source, place)) is not None:
            budget.check()
            place = match.end()
            kind = match.lastgroup
            if kind == "line":
                if self._ends_at(match.start() + 1, place):
                    return match.start() + 1
            elif kind == "open":
                start = match.start()
                self._stack.append(OpenBracket(start, source[start], self._indent))
            elif kind == "close":
                self._close(match.start())
            elif kind == "quote":
                place = self._close_quote(match.start(), match.end())
            elif kind == "triple":
                place = self._string_end(match.start())
        self._give_up(len(source))
        return len(source)

    def _ends_at(self, start: int, place: int) -> bool:
        """Whether the statement ends before a line, whose first word stands at a place."""
        source = self.source
        self._indent = indent_of(source[start:place])
        if self._stack:
            if not NEVER_IN_BRACKETS.match(source, place):
                if BEGINS_STATEMENT.match(source, place):
                    innermost = self._stack[-1].place
                    self._lines.append(Line(start, self._indent, len(self._stack), innermost))
                return False
            self._give_up(start)
        return self._indent == 0 and self._begins(place)

    def _begins(self, start: int) -> bool:
        """Whether a line at the margin, in no bracket, begins a statement."""
        if CONTINUES_STATEMENT.match(self.source, start):
            return False
        if self.decorated and DEFINITION.match(self.source, start):
            self.decorated = self.source.startswith(b"@", start)
            return False
        return True

    # brackets -------------------------------------------------------------------------------------------------

    def _close(self, place: int) -> None:
        """A closing bracket: of brackets of another kind that are open inside it, none is closed any more."""
        stack, wanted = self._stack, OPENERS[self.source[place]]
        if stack and stack[-1].letter == wanted:
            stack.pop()
        elif any(opened.letter == wanted for opened in stack[-DEEP:]):
            while (opened := stack.pop()).letter != wanted:
                self.repairs.append(Repair(opened.place, b" "))
        else:
            self.repairs.append(Repair(place, b" "))
        if not stack:
            self._lines.clear()

    def _give_up(self, end: int) -> None:
        """The brackets that are open are never closed: the statements that begin in them end before a place."""
        stack, lines = self._stack, self._lines
        if not stack:
            return
        self.reach = max(self.reach, line_end(self.source, end))
        standing = [
            line
            for line in lines
            if line.depth <= len(stack) and stack[line.depth - 1].place == line.innermost
        ]
        self._close_all(stack, standing, end)
        for line in standing:
            if line.indent == 0 and self._begins(line.start):
                self.starts.append(line.start)
                self.decorated = self.source.startswith(b"@", line.start)
        stack.clear()
        lines.clear()

    def _close_all(self, stack: list[OpenBracket], lines: list[Line], end: int) -> None:
        """Put closing brackets where the statements end, where there is room, or else take the opening ones away."""
        by_end: dict[int, list[OpenBracket]] = {}
        if len(stack) > MANY_UNCLOSED:
            by_end[-1] = stack
        else:
            for opened in stack:
                behind = (
                    line.start for line in lines if line.start > opened.place and line.indent <= opened.indent
                )
                by_end.setdefault(next(behind, end), []).append(opened)
        for stop, unclosed in by_end.items():
            place = len(self.source[unclosed[-1].place : stop].rstrip()) + unclosed[-1].place
            needed = len(unclosed) + (stop < len(self.source))
            if (
                stop - place >= needed
                and self.source.rfind(b"#", self.source.rfind(b"\n", 0, place) + 1, place) < 0
            ):
                closers = b"".join(CLOSERS[opened.letter] for opened in reversed(unclosed))
                self.repairs.append(Repair(place, closers))
            elif stop < len(self.source):
                self.repairs += [Repair(opened.place, b" ") for opened in unclosed]

    # strings --------------------------------------------------------------------------------------------------

    def _close_quote(self, start: int, end: int) -> int:
        """A string that is not closed in its line: its last character gives way to the closing quote."""
        source = self.source
        while end > start + 1 and source[end - 1] in b"\r\n":
            end -= 1
        last = end - 1
        while last > start and (source[last] & 0xC0 == 0x80):
            last -= 1
        backslashes = len(source[start:last]) - len(source[start:last].rstrip(b"\\"))
        last -= backslashes
        if last > start:
            quote = source[start : start + 1]
            self.repairs.append(Repair(last, quote + b" " * (end - last - 1)))
        else:
            self.repairs.append(Repair(start, b" " * (end - start)))
        return end

    def _string_end(self, start: int) -> int:
        """Where a string of several lines ends: at its closing quotes, unless a definition shows that it has none."""
        source = self.source
        quotes = source[start : start + 3]
        close = closing(source, quotes, start + 3)
        definition = DEFINITION_LINE.search(source, start + 3, close if close >= 0 else len(source))
        if close >= 0 and (definition is None or self._is_closed(close)):
            return close + 3
        end = definition.start() if definition is not None else len(source)
        self.reach = max(self.reach, line_end(source, close) if close >= 0 else FOREVER)
        room = end - 4
        if room >= start + 3:
            while room > start + 3 and (source[room] & 0xC0 == 0x80 or source[room - 1 : room] == b"\\"):
                room -= 1
            self.repairs.append(Repair(room, quotes + b" " * (end - 4 - room)))
        else:
            self.repairs.append(Repair(start, b"   "))
        return end - 1 if end < len(source) else end  # the line end before it is looked at next

    def _is_closed(self, close: int) -> bool:
        """False when the closing quotes of a string, in which a definition stands, begin a documentation string."""
        source = self.source
        if FOLLOWS_STRING.match(source, close + 3) is None:
            return False
        return HEADER_BEFORE.search(source[max(close - HEADER_ROOM, 0) : close]) is None


def indent_of(margin: bytes) -> int:
    """How far a line is indented; of lines that end in a backslash and hold nothing else the first that is counts."""
    if b"\\" not in margin:
        return len(margin)
    return next((len(line) for line in re.split(rb"\\\r?\n", margin) if line), 0)


def closing(source: bytes, quotes: bytes, place: int) -> int:
    """Where the quotes are that close a string; -1 for none."""
    while (place := source.find(quotes, place)) >= 0:
        before = place
        while source[before - 1 : before] == b"\\":
            before -= 1
        if (place - before) % 2 == 0:
            return place
        place += 1
    return -1


def line_end(source: bytes, place: int) -> int:
    """Behind the end of the line that a place is in."""
    end = source.find(b"\n", place)
    return len(source) if end < 0 else end + 1
