"""Where in the program's own code something comes from, in the project's own interpreter (Python 3.8 to 3.13).

Looked for from the innermost frame outwards: the first frame of the program's own files is it, unless a probe is met
before, because what runs inside a recorded call belongs to that call.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import CodeType, FrameType
    from typing import Any

DEPTH = 60
"""Frames that are looked through at most."""


class OwnCode:
    """Tells the program's own files from those of packages."""

    def __init__(self, project: str, files: Iterable[str], cells: Iterable[str], hidden: str) -> None:
        self.project = os.path.join(os.path.realpath(project), "")
        self.files = frozenset(files)
        self.hidden = hidden
        self.packages = tuple(
            os.path.join(os.path.realpath(folder), "")
            for folder in {sys.prefix, sys.base_prefix, sys.exec_prefix}
        )
        self.known = dict.fromkeys(cells, True)

    def holds(self, filename: str) -> bool:
        """Whether a file of this name is the program's own."""
        known = self.known.get(filename)
        if known is None:
            known = self.known[filename] = self._holds(os.path.realpath(filename))
        return known

    def _holds(self, path: str) -> bool:
        if path in self.files:
            return True
        if not path.startswith(self.project) or not os.path.exists(path):
            return False
        inside = path[len(self.project) :].split(os.sep)
        return not path.startswith(self.packages) and not {"site-packages", "dist-packages"} & set(inside)

    def caller(self, frame: FrameType | None) -> FrameType | None:
        """The innermost frame of the program from here outwards; None where a recorded call is met before."""
        for _ in range(DEPTH):
            if frame is None or frame.f_code.co_filename == self.hidden:
                return None
            if self.holds(frame.f_code.co_filename):
                return frame
            frame = frame.f_back
        return None

    def function(self, function: Any) -> Any:
        """The function of the program behind wrappers and methods; None where it is somebody else's."""
        for _ in range(8):
            inner = getattr(function, "__wrapped__", None) or getattr(function, "__func__", None)
            inner = inner or getattr(function, "func", None)
            if inner is None:
                break
            function = inner
        code = getattr(function, "__code__", None)
        return function if code is not None and self.holds(code.co_filename) else None


def place(frame: FrameType) -> dict[str, Any]:
    """File, line and, where Python knows it, columns (in bytes, from 0) of what a frame is at."""
    code, line, column, end_line, end_column = frame.f_code, frame.f_lineno, -1, 0, -1
    found = position(code, frame.f_lasti)
    if found is not None:
        line, end_line, column, end_column = found
    return {
        "file": code.co_filename,
        "line": line,
        "column": column,
        "end_line": end_line,
        "end_column": end_column,
        "function": getattr(code, "co_qualname", code.co_name),
    }


def position(code: CodeType, instruction: int) -> tuple[int, int, int, int] | None:
    """Line, last line, column and last column of an instruction (Python 3.11 and newer)."""
    if sys.version_info < (3, 11):
        return None
    for number, found in enumerate(code.co_positions()):
        if 2 * number == instruction:
            return None if None in found else found  # type: ignore[return-value]
    return None
