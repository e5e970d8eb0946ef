"""What the parts of a walk ask of each other."""

from __future__ import annotations

import ast
from typing import Any, Protocol

from energy_code.static_shapes.context import Context
from energy_code.static_shapes.values.kinds import (
    Function,
    Instance,
    Scope,
)


class Walk(Protocol):
    """The way back: expressions hold calls, calls enter functions, functions hold statements, those expressions.

    A part is given the parts below it by name, and this for what stands above it.
    """

    context: Context

    def value(self, node: ast.expr | None, scope: Scope) -> Any:
        """What an expression is."""

    def run(self, statements: list[ast.stmt], scope: Scope) -> str:
        """Go through statements; how they end: `return`, `break`, `continue`, `raise`, or nothing."""

    def assign(self, target: ast.expr, value: Any, scope: Scope) -> None:
        """Bind a value to what stands on the left."""

    def attribute(self, owner: Any, name: str) -> Any:
        """What a member is."""

    def item(self, owner: Any, index: Any) -> Any:
        """An element or a slice."""

    def combined(self, sign: str, left: Any, right: Any) -> Any:
        """Two values under an operator."""

    def call(self, node: ast.Call, scope: Scope) -> Any:
        """What a call in the source gives."""

    def invoke(self, function: Any, given: list[Any], named: dict[str, Any]) -> Any:
        """What a call of a value gives."""

    def enter(self, function: Function, given: list[Any], named: dict[str, Any]) -> Any:
        """What a function of the program gives."""

    def symbolic(self, function: Any, given: list[Any], named: dict[str, Any]) -> Any:
        """What a call with tensors of a functional model gives."""

    def start(self, owner: Instance, given: list[Any], named: dict[str, Any]) -> None:
        """`super().__init__(…)` of a class that comes from a library."""
