"""What is around a code of a module: the function it belongs to, and the mode it runs in."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from energy_code.ir.code import Code, FunctionCode
from energy_code.model import Mode

if TYPE_CHECKING:
    from energy_code.incremental.module_summary import ModuleSummary
    from energy_code.ir.expressions import CallExpression

Home = tuple[int, int, Code, Code | None]
"""Absolute start and end of a code, the code, and the one around it."""


class Surroundings:
    """Apart from the analysis, which holds the calls: with a way back from them, no analysis would be freed."""

    def __init__(self, homes: Sequence[Home], survey: ModuleSummary) -> None:
        self._homes = homes
        self._survey = survey
        self._known: dict[Code, tuple[str, Mode]] = {}

    @cached_property
    def parents(self) -> dict[Code, Code | None]:
        """The code around each code."""
        return {code: parent for _, _, code, parent in self._homes}

    def of_call(self, expression: CallExpression) -> tuple[str, Mode]:
        """The function around a call and the mode it runs in."""
        home = expression.home
        known = self._known.get(home)
        if known is None:
            known = self._known[home] = (self._function_name(home), self.mode(home))
        return known

    def _function_name(self, home: Code | None) -> str:
        """The named function around a code."""
        while home is not None:
            if isinstance(home, FunctionCode) and home.name != "<lambda>":
                return home.qualname
            home = self.parents.get(home)
        return ""

    def mode(self, home: Code | None) -> Mode:
        """The mode of a code: its own, or that of the function around it."""
        modes = self._survey.modes
        while home is not None:
            if isinstance(home, FunctionCode) and home in modes:
                return modes[home]
            if isinstance(home, FunctionCode) and home.name != "<lambda>" and self._survey.callers.get(home):
                return "eager"
            home = self.parents.get(home)
        return "eager"
