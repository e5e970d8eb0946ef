"""The calls of an analysis as objects, made when somebody looks at them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, overload

import tree_sitter

from energy_code.interpreter.summary import ResolvedCall
from energy_code.ir.code import CallSite
from energy_code.ir.expressions import name_range
from energy_code.model import Argument, Call, Mode, Point, Runs, Span
from energy_code.process.budget import Budget, TooLongError
from energy_code.process.garbage_collection import collector_paused
from energy_code.syntax.pieces import Repair
from energy_code.syntax.tree import parse
from energy_code.text.lines import Lines

ONCE = Runs(1, False)

Found = tuple[int, int, CallSite, ResolvedCall]
"""Absolute start, negative absolute end, expression, what it reached: sorts by place, outermost first."""
Made = dict[CallSite, tuple[ResolvedCall, Mode, Call]]


class Renewed(NamedTuple):
    """The calls of an analysis that the next one takes over: all but some in the middle."""

    before: Sequence[Found]
    first: int
    """How many come before those in the middle."""
    last: int
    """The number of the first one behind them."""
    by: int
    """How much further down those behind them stand."""

    def around(self, middle: list[Found]) -> list[Found]:
        """All calls, with others in the middle."""
        by, behind = self.by, self.before[self.last :]
        if by:
            behind = [(start + by, end - by, expression, site) for start, end, expression, site in behind]
        return [*self.before[: self.first], *middle, *behind]


class Calls(Sequence[Call]):
    """All calls by place. `kept` are those of the analysis before; they count up to where the text is the same."""

    def __init__(
        self,
        found: list[Found],
        lines: Lines,
        about: Callable[[CallSite], tuple[str, Mode]],
        kept: Made,
        unchanged: int,
        repairs: Sequence[Repair] = (),
    ) -> None:
        self._found = found
        self._lines = lines
        self._about = about
        self._kept = kept
        self._unchanged = unchanged
        self._repairs = repairs
        self._calls: list[Call | None] = [None] * len(found)
        self.made: Made = {}

    @property
    def reached(self) -> Sequence[Found]:
        """The same calls before they are made into objects."""
        return self._found

    def function_of(self, place: int) -> str:
        """The qualified name of the function that a call stands in, empty at module level."""
        return self._about(self._found[place][2])[0]

    def __len__(self) -> int:
        return len(self._found)

    @overload
    def __getitem__(self, index: int) -> Call: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Call]: ...
    def __getitem__(self, index: int | slice) -> Call | Sequence[Call]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        call = self._calls[index]
        if call is None:
            call = self._calls[index] = self._make(self._found[index])
        return call

    def __iter__(self) -> Iterator[Call]:
        with collector_paused():
            calls = [self[place] for place in range(len(self._found))]
        return iter(calls)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))

    def _make(self, found: Found) -> Call:
        start, negative_end, expression, site = found
        end = -negative_end
        function, mode = self._about(expression)
        # What was repaired is the same code, but not the same text.
        is_repaired = any(start <= place < end for place, _ in self._repairs) if self._repairs else False
        known = self._kept.get(expression) if not is_repaired else None
        if known is not None and known[0] == site and known[1] == mode and known[2].function == function:
            call = known[2]
            if end > self._unchanged or call.span.start_byte != start:
                call = moved(call, self._lines, start)
                known = (site, mode, call)
            self.made[expression] = known
            return call
        lines = self._lines
        span = lines.span(start, end)
        name_start, name_end = name_range(expression)
        base = start - expression.start
        has_arguments = expression.positional or expression.keywords
        call = Call(
            site.api,
            span,
            lines.span(base + name_start, base + name_end),
            WrittenArguments(lines.source[start:end], span) if has_arguments else (),
            function,
            site.confidence,
            runs_of(site),
            mode,
            site.decorator,
        )
        if not is_repaired:
            self.made[expression] = (site, mode, call)
        return call


def moved(call: Call, lines: Lines, start: int) -> Call:
    """A call whose own text is as it was, at the place where it starts now."""
    span = lines.moved(call.span, start)
    name = lines.moved(call.name, call.name.start_byte + start - call.span.start_byte)
    arguments = call.arguments.at(span) if type(call.arguments) is WrittenArguments else ()
    return Call(
        call.api, span, name, arguments, call.function, call.confidence, call.runs, call.mode, call.decorator
    )


def runs_of(site: ResolvedCall) -> Runs:
    """How often the call runs."""
    if site.times == 1 and site.epochs == 1 and not site.in_unknown_loop:
        return ONCE
    return Runs(site.times, site.in_unknown_loop, site.epochs)


class WrittenArguments(Sequence[Argument]):
    """The arguments of a call as written, taken apart when somebody asks."""

    __slots__ = ("_items", "_span", "_text")

    def __init__(self, text: bytes, span: Span) -> None:
        self._text = text
        self._span = span
        self._items: tuple[Argument, ...] | None = None

    def at(self, span: Span) -> WrittenArguments:
        """The same arguments in another place."""
        return WrittenArguments(self._text, span)

    def items(self) -> tuple[Argument, ...]:
        """The arguments."""
        if self._items is None:
            self._items = tuple(arguments_in(self._text, self._span))
        return self._items

    @overload
    def __getitem__(self, index: int) -> Argument: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Argument, ...]: ...
    def __getitem__(self, index: int | slice) -> Argument | tuple[Argument, ...]:
        return self.items()[index]

    def __len__(self) -> int:
        return len(self.items())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self.items() == tuple(other)

    def __hash__(self) -> int:
        return hash(self.items())

    def __repr__(self) -> str:
        return repr(self.items())


def arguments_in(text: bytes, span: Span) -> Iterator[Argument]:
    """The arguments of a call, with places in the file that it was cut out of."""
    try:
        with Budget().reading():
            node = parse(text).root_node.named_child(0) if text else None
    except TooLongError:
        return
    while node is not None and node.type != "call" and node.named_child_count:
        node = node.named_child(0)
    inner = node.child_by_field_name("arguments") if node is not None and node.end_byte == len(text) else None
    if inner is None:
        return
    for child in [inner] if inner.type == "generator_expression" else inner.named_children:
        if child.type in ("comment", "line_continuation"):
            continue
        keyword: str | None = None
        written = text[child.start_byte : child.end_byte].decode("utf-8", "replace")
        if child.type == "keyword_argument":
            name, _, written = written.partition("=")
            keyword, written = name.strip(), written.lstrip()
        elif child.type in ("list_splat", "dictionary_splat"):
            stars = len(written) - len(written.lstrip("*"))
            keyword, written = "*" * stars, written[stars:].lstrip()
        yield Argument(keyword, written, place_in(child, span))


def place_in(node: tree_sitter.Node, span: Span) -> Span:
    """The span of a node of a piece that starts where `span` starts."""

    def point(place: tree_sitter.Point) -> Point:
        row, column = place
        return Point(span.start.row + row, column + (span.start.column if row == 0 else 0))

    return Span(
        span.start_byte + node.start_byte,
        span.start_byte + node.end_byte,
        point(node.start_point),
        point(node.end_point),
    )
