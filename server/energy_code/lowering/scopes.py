"""Scopes while a text is lowered: which code a node stands in, and the names that code assigns."""

from __future__ import annotations

from energy_code.interpreter.domain.values import UNKNOWN, Value
from energy_code.ir.code import Code, FunctionCode, Parameter


class ScopeBindings:
    """Answers where positions count from, and gathers the names that a function or class assigns."""

    __slots__ = ("attributes", "base", "code", "generator", "globals", "names", "nonlocals", "prefix")

    def __init__(self, code: Code, base: int, prefix: str) -> None:
        self.code = code
        self.base = base
        """The first byte of the code: positions in it count from there."""
        self.prefix = prefix
        """What the qualified names of the codes inside begin with."""
        self.names: set[str] = set()
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.attributes: set[str] = set()
        self.generator = False

    def comprehension(self) -> ScopeBindings:
        """The scope of a comprehension: its names are its own, the attributes that it sets are not."""
        inner = ScopeBindings(self.code, self.base, self.prefix)
        inner.attributes = self.attributes
        return inner

    def close(self) -> None:
        """All of the code has been seen: it knows its names now."""
        code = self.code
        if isinstance(code, FunctionCode):
            names = self.names
            names.update([parameter.name for parameter in code.parameters])
            code.blank = blank(code.parameters)
            names -= self.globals
            names -= self.nonlocals
            code.local_names = names
            code.globals, code.nonlocals = self.globals, self.nonlocals
            code.attributes = self.attributes
            code.generator = self.generator


def blank(parameters: tuple[Parameter, ...]) -> dict[str, Value] | None:
    """Parameters of which nothing is known; None when one of them has an annotation or takes many arguments."""
    names: dict[str, Value] = {}
    for parameter in parameters:
        if parameter.annotation is not None or parameter.kind == "args" or parameter.kind == "kwargs":
            return None
        names[parameter.name] = UNKNOWN
    return names
