"""What the functions that lower a text share: the text, where they stand in it, and the way to each other.

`Lowering` is made of parts: the scope (`scopes.py`), the codes of earlier versions (`KnownCode`), and two tables that say
which function lowers which kind of node. A function that lowers a node takes the lowering and the node, and lowers what
stands inside by `lowering.expression` and `lowering.statement`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from sys import intern

from energy_code.ir.code import Code, TopLevelStatement
from energy_code.ir.expressions import (
    NOTHING,
    Group,
    Literal,
    Name,
)
from energy_code.ir.nodes import Expression, Statement
from energy_code.lowering.scopes import ScopeBindings
from energy_code.process import budget
from energy_code.syntax.node_kinds import ERROR, PLAIN_IDENTIFIER, Node, code_children

STEPS_AT_ONCE = 256
"""Expressions that are lowered before somebody asks whether there is time left."""

Cache = dict[tuple[str, int, bytes], Code]
"""Codes by their name, the column that they start in, and their text."""


class KnownCode:
    """Answers what was lowered before from the same text in the same place.

    `fresh` holds what the text is made of now or was a moment ago, `old` what may be forgotten.
    """

    __slots__ = ("fresh", "old")

    def __init__(self, fresh: Cache | None = None, old: Cache | None = None) -> None:
        self.fresh = fresh if fresh is not None else {}
        self.old = old if old is not None else {}

    def find(self, key: tuple[str, int, bytes]) -> Code | None:
        """The code; from now on it is fresh."""
        code = self.fresh.get(key)
        if code is None and (code := self.old.get(key)) is not None:
            self.fresh[key] = code
        return code

    def keep(self, key: tuple[str, int, bytes], code: Code) -> None:
        """It was lowered now."""
        self.fresh[key] = code


class Lowering:
    """One text that is being lowered."""

    __slots__ = (
        "depth",
        "expressions",
        "integers",
        "known",
        "letters",
        "scope",
        "source",
        "statements",
        "steps",
        "texts",
    )

    def __init__(
        self,
        source: bytes,
        expressions: Sequence[ExpressionHandler],
        statements: Sequence[StatementHandler] = (),
        known: KnownCode | None = None,
    ) -> None:
        self.source = source
        self.letters = source.decode("latin-1")
        """The source with a character for each byte: cheap to take plain names from."""
        self.expressions = expressions
        """What lowers an expression, by its kind; the last one is for errors."""
        self.statements = statements
        """What lowers a statement, likewise."""
        self.known = known if known is not None else KnownCode()
        self.scope = ScopeBindings(TopLevelStatement(0), 0, "")
        self.steps = 0
        """How many expressions were lowered."""
        self.depth = 0
        """How deep statements are nested here; expressions too, while depth is bounded."""
        self.integers: dict[str, Literal] = {}
        self.texts: dict[str, Literal] = {}
        """Literals of this text: one that stands in it often is one object."""

    def expression(self, node: Node) -> Expression:
        """Lower any expression."""
        kind = node.kind_id
        if kind == PLAIN_IDENTIFIER:  # by far the most frequent
            return self.name(node)
        self.steps += 1
        if not self.steps % STEPS_AT_ONCE:
            budget.check()
        return self.expressions[kind if kind != ERROR else -1](self, node)

    def statement(self, node: Node) -> Statement | None:
        """Lower any statement; None for those without meaning here."""
        kind = node.kind_id
        return self.statements[kind if kind != ERROR else -1](self, node)

    def name(self, node: Node) -> Name:
        """A variable."""
        start, end, base = node.start_byte, node.end_byte, self.scope.base
        text = self.letters[start:end]
        result = Name()
        result.start = start - base
        result.end = end - base
        result.id = intern(text if text.isascii() else utf8(text))
        return result

    def nothing(self, node: Node) -> Expression:
        """A leaf without meaning here."""
        return NOTHING

    def group(self, node: Node) -> Expression:
        """A node whose own meaning is not followed."""
        children = code_children(node)
        if not children:
            return NOTHING
        return Group(tuple([self.expression(child) for child in children]))

    def only(self, node: Node) -> Expression:
        """The expression inside a wrapper."""
        children = code_children(node)
        return self.expression(children[0]) if len(children) == 1 else self.group(node)

    def text(self, node: Node) -> str:
        """The text of a node."""
        text = self.letters[node.start_byte : node.end_byte]
        return text if text.isascii() else utf8(text)

    def enter(self, code: Code, start: int) -> ScopeBindings:
        """Start a code of its own, whose positions count from `start`; the scope to go back to."""
        outer = self.scope
        outer.code.parts.append((start - outer.base, code))
        self.scope = ScopeBindings(code, start, f"{code.qualname}.")
        return outer

    def leave(self, outer: ScopeBindings) -> None:
        """Finish it, and go on in the scope around it."""
        scope = self.scope
        self.scope = outer
        scope.close()


ExpressionHandler = Callable[[Lowering, Node], Expression]
StatementHandler = Callable[[Lowering, Node], Statement | None]


def utf8(letters: str) -> str:
    """The text whose bytes stand in a string as a character each."""
    return letters.encode("latin-1").decode("utf-8", "replace")
