"""Which pieces a text is made of, and which of them an edit lets be read anew."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from energy_code.syntax.pieces import Piece, line_end, pieces_from

_AT_MARGIN = re.compile(rb"\n(?!(?:else|elif|except|finally)\b)(?=[^\s#)\]}])")
"""Before a line that may begin a statement."""


class Region(NamedTuple):
    """What is read anew: the pieces as they are now, in place of all between two places of the text before."""

    pieces: Sequence[Piece]
    start: int
    old_end: int


class Outline:
    """The pieces of a text; of most only where they begin is kept."""

    def __init__(self, starts: list[int], special: list[Piece]) -> None:
        self._starts = starts
        self.special = special
        """Pieces with repairs, and such as were distinguished from others by what stands far behind them."""

    @classmethod
    def of_whole(cls, source: bytes, statements: Iterable[int]) -> Outline:
        """Of a text without errors, whose statements are known."""
        ends = [(start, source[max(start - 2, 0) : start]) for start in statements if start]
        return cls([0, *[start for start, end in ends if end[-1:] == b"\n" and end != b"\\\n"]], [])

    @classmethod
    def of_text(cls, source: bytes) -> tuple[Outline, list[Piece]]:
        """Of any text, with its pieces."""
        pieces = [piece for run in pieces_from(source, 0) for piece in run]
        return cls([piece.start for piece in pieces], special_among(source, pieces)), pieces

    def edited(self, source: bytes, head: int, old_end: int, by: int) -> tuple[Outline, Region]:
        """The outline after an edit between two places, behind which everything stands further down."""
        starts, first = self._starts, self._first_changed(source, head)
        behind = {start + by for start in starts[bisect_left(starts, old_end) :]}
        pieces: list[Piece] = []
        end = len(source)
        for run in pieces_from(source, starts[first]):
            pieces += run
            if run[-1].end in behind and run[-1].end >= old_end + by:
                end = run[-1].end
                break
        last = bisect_left(starts, end - by) if end < len(source) else len(starts)
        known = {piece.start: piece for piece in self.special}
        new = special_among(source, pieces)
        special = {piece.start: piece for piece in new}
        place = first
        while (  # those before the edit that are what they were
            pieces
            and pieces[0].end <= head
            and place + 1 < len(starts)
            and starts[place + 1] == pieces[0].end
            and known.get(pieces[0].start) == special.get(pieces[0].start)
        ):
            del pieces[0]
            place += 1
        start, stop = starts[first], end - by if end < len(source) else len(source) - by
        outline = Outline(
            [*starts[:place], *[piece.start for piece in pieces], *[start + by for start in starts[last:]]],
            [
                *[piece for piece in self.special if piece.start < start],
                *new,
                *[piece.moved(by) for piece in self.special if piece.start >= stop],
            ],
        )
        begun = pieces[0].start if pieces else end
        return outline, Region(pieces, begun, stop)

    def _first_changed(self, source: bytes, head: int) -> int:
        """The number of the first piece that may be another one after an edit at a place."""
        starts = self._starts
        first = max(bisect_right(starts, head) - 1, 0)
        before = source[starts[first] : head].lstrip(b" \t\f\r\n\\")
        if first and b"\n" not in before:
            first -= 1  # whether a statement begins there is told by its first line
        reaching = [
            piece.start for piece in self.special if piece.start < starts[first] and piece.reach >= head
        ]
        return bisect_left(starts, reaching[0]) if reaching else first


def are_pieces(source: bytes, statements: Sequence[tuple[int, int]]) -> bool:
    """Whether statements of a text without errors, by where they begin and end, are what its tokens tell.

    A parser may take two lines at the margin for one statement, as in `x = a.` with `b` on the next one. As soon as
    something else in the text is broken, they are two.
    """
    starts = [start for start, _ in statements]
    looked_at = -1
    for line in _AT_MARGIN.finditer(source):
        number = bisect_right(starts, line.end()) - 1
        if number in (-1, looked_at) or starts[number] == line.end() or statements[number][1] <= line.end():
            continue
        looked_at = number
        run = next(pieces_from(source, starts[number]))
        if len(run) > 1 or run[0].repairs or run[0].end < statements[number][1]:
            return False
    return True


def special_among(source: bytes, pieces: Iterable[Piece]) -> list[Piece]:
    """Those with repairs, or that were distinguished from others by what stands far behind them."""
    return [piece for piece in pieces if piece.repairs or piece.reach > line_end(source, piece.end)]
