"""What the reader says of a file: calls of TensorFlow and Keras APIs, with exact places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

Mode = Literal["eager", "graph", "jit"]


class Point(NamedTuple):
    """A place in a text: 0-based row, column in bytes of UTF-8 (tree-sitter's own unit)."""

    row: int
    column: int


class Span(NamedTuple):
    """A stretch of a text, in bytes and in points; `Document` converts it to characters or LSP positions."""

    start_byte: int
    end_byte: int
    start: Point
    end: Point


class Argument(NamedTuple):
    """An argument as written: `keyword` is None for a positional one, `*` and `**` for unpacked ones."""

    keyword: str | None
    text: str
    span: Span


class Runs(NamedTuple):
    """How often a call runs each time its function is entered, where the source tells."""

    times: int
    """Product of the constant loops around the call."""
    in_unknown_loop: bool
    """True when a loop around the call has no constant length: `times` is then per pass of that loop."""
    epochs: int = 1
    """Constant epochs of the call itself (`fit`); one call runs them all, so they are no part of `times`."""


@dataclass(slots=True, unsafe_hash=True)
class Call:
    """One call expression that reaches a TensorFlow or Keras API. Never changed: only not frozen, as making frozen ones
    takes four times as long and a keystroke may move thousands of them."""

    api: str
    """Canonical name: nearest public class of the receiver for methods, e.g. `keras.Sequential.fit`."""
    span: Span
    """The whole call expression."""
    name: Span
    """The callee's last identifier: where a hover or an inlay hint belongs."""
    arguments: Sequence[Argument]
    function: str
    """Qualified name of the function it stands in, empty at module level."""
    confidence: float
    """1.0 when every step of the resolution is certain; lower for branches, annotations and guesses."""
    runs: Runs
    mode: Mode
    """`graph` inside a tf.function (also through callers in the project), `jit` with jit_compile=True."""
    decorator: bool = False
    """True for `@tf.function` without parentheses: a use that Python calls though no call is written."""


class Definition(NamedTuple):
    """A function or class of the file."""

    name: str
    """Qualified: `Trainer.fit`."""
    kind: Literal["function", "class"]
    span: Span
