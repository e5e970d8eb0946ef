"""The functions and classes of an analysis as objects, made when somebody looks at them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from energy_code.ir.code import ClassCode, Code
from energy_code.model import Definition
from energy_code.text.lines import Lines


class Functions(Sequence[Definition]):
    """All functions and classes by place."""

    def __init__(self, found: list[tuple[int, int, Code]], lines: Lines) -> None:
        self._found = found
        self._lines = lines

    def __len__(self) -> int:
        return len(self._found)

    @overload
    def __getitem__(self, index: int) -> Definition: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Definition]: ...
    def __getitem__(self, index: int | slice) -> Definition | Sequence[Definition]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        start, end, code = self._found[index]
        span = self._lines.span(start, end)
        return Definition(code.qualname, "class" if isinstance(code, ClassCode) else "function", span)
