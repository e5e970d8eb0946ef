"""What is around a code of a module: the function it belongs to, and the mode it runs in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from energy_code.ir.code import Code, FunctionCode
from energy_code.model import Mode

if TYPE_CHECKING:
    from energy_code.incremental.module_summary import ModuleSummary
    from energy_code.ir.code import CallSite

EnclosingCode = tuple[int, int, Code, Code | None]
"""Absolute start and end of a code, the code, and the one around it."""


class EnclosingFunctions:
    """Apart from the analysis, which holds the calls: with a way back from them, no analysis would be freed."""

    def __init__(self, enclosing_codes: Sequence[EnclosingCode], module_summary: ModuleSummary) -> None:
        self._enclosing_codes = enclosing_codes
        self._module_summary = module_summary
        self._known: dict[Code, tuple[str, Mode]] = {}
        self._parents: dict[Code, Code | None] | None = None

    def parents(self) -> dict[Code, Code | None]:
        """The code around each code."""
        if self._parents is None:
            self._parents = {code: parent for _, _, code, parent in self._enclosing_codes}
        return self._parents

    def of_call(self, expression: CallSite) -> tuple[str, Mode]:
        """The function around a call and the mode it runs in."""
        enclosing_code = expression.enclosing_code
        known = self._known.get(enclosing_code)
        if known is None:
            known = self._known[enclosing_code] = (
                self._function_name(enclosing_code),
                self.mode(enclosing_code),
            )
        return known

    def _function_name(self, enclosing_code: Code | None) -> str:
        """The named function around a code."""
        while enclosing_code is not None:
            if isinstance(enclosing_code, FunctionCode) and enclosing_code.name != "<lambda>":
                return enclosing_code.qualname
            enclosing_code = self.parents().get(enclosing_code)
        return ""

    def mode(self, enclosing_code: Code | None) -> Mode:
        """The mode of a code: its own, or that of the function around it."""
        modes = self._module_summary.modes()
        while enclosing_code is not None:
            if isinstance(enclosing_code, FunctionCode) and enclosing_code in modes:
                return modes[enclosing_code]
            if (
                isinstance(enclosing_code, FunctionCode)
                and enclosing_code.name != "<lambda>"
                and self._module_summary.callers.get(enclosing_code)
            ):
                return "eager"
            enclosing_code = self.parents().get(enclosing_code)
        return "eager"
