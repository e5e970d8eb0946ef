"""Lowered pieces of a program: functions and classes with positions counted from their own first byte.

Because positions are relative, an unchanged function keeps its lowered form wherever an edit pushes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from energy_code.interpreter.domain.values import Value
from energy_code.ir.nodes import Expression, Statement

ParameterKind = Literal["plain", "keyword", "args", "kwargs"]


class Code:
    """A stretch of program with positions of its own; `parts` are the codes inside it and where they start."""

    __slots__ = ("end", "name", "parts", "qualname")

    def __init__(self, name: str, qualname: str, end: int) -> None:
        self.name = name
        self.qualname = qualname
        self.end = end
        self.parts: list[tuple[int, Code]] = []

    def let_go(self) -> None:
        """It is no longer part of a text. What it is made of leads back to it, and would wait for the collector."""
        self.parts = []


class TopLevelStatement(Code):
    """One statement of a module's top level."""

    __slots__ = ("__weakref__", "binds", "statements")

    def __init__(self, end: int) -> None:
        super().__init__("", "", end)
        self.binds: set[str] = set()
        """Names that the statement binds; `*` for a star import."""
        self.statements: tuple[Statement, ...] = ()

    def let_go(self) -> None:
        """Nobody runs it again."""
        super().let_go()
        self.statements = ()


@dataclass(slots=True)
class Parameter:
    """A parameter as written."""

    name: str
    kind: ParameterKind
    annotation: Expression | None = None
    default: Expression | None = None


class FunctionCode(Code):
    """A function or lambda."""

    __slots__ = (
        "attributes",
        "blank",
        "body",
        "generator",
        "globals",
        "local_names",
        "nonlocals",
        "parameters",
        "returns",
        "value",
    )

    def __init__(self, name: str, qualname: str, end: int) -> None:
        super().__init__(name, qualname, end)
        self.parameters: tuple[Parameter, ...] = ()
        self.blank: dict[str, Value] | None = None
        """The parameters before anything is given; None when one of them has an annotation or takes many arguments."""
        self.body: tuple[Statement, ...] = ()
        self.value: Expression | None = None
        """The body of a lambda."""
        self.returns: Expression | None = None
        self.local_names: set[str] = set()
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.attributes: set[str] = set()
        """Names of attributes that the body sets on anything: where to look for those of `self`."""
        self.generator = False

    def let_go(self) -> None:
        """Nobody evaluates it again."""
        super().let_go()
        self.body, self.value, self.returns = (), None, None


class ClassCode(Code):
    """A class: its bases and its body."""

    __slots__ = ("bases", "body", "keywords", "local_names")

    def __init__(self, name: str, qualname: str, end: int) -> None:
        super().__init__(name, qualname, end)
        self.bases: tuple[Expression, ...] = ()
        self.keywords: tuple[tuple[str, Expression], ...] = ()
        self.body: tuple[Statement, ...] = ()
        self.local_names: set[str] = set()

    def let_go(self) -> None:
        """Nobody runs it again."""
        super().let_go()
        self.bases, self.keywords, self.body = (), (), ()


class CallSite(Expression):
    """A call as written. It is the only thing that is ever reported, so all who keep what was seen know it."""

    __slots__ = ("enclosing_code", "function", "keywords", "positional")

    function: Expression
    enclosing_code: Code
    positional: tuple[Expression, ...]
    keywords: tuple[tuple[str, Expression], ...]
    """Keyword (`**` for unpacked mappings) and value."""
