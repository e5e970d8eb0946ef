"""`energy_lsp.span`: marks a phase of a program, such as training or inference, for who measures it.

When nobody does, it is a context that does nothing. Launchers give it to programs whose interpreter has no energy-lsp.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import time
import types
from contextlib import nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from types import TracebackType

VARIABLE = "ENERGY_LSP_SPANS"
"""The file that phases are noted in; set by who measures."""
_NOTHING: AbstractContextManager[None] = nullcontext()
_FILE = os.environ.get(VARIABLE, "")


class _Marked:
    __slots__ = ("name", "start")

    def __init__(self, name: str) -> None:
        self.name = " ".join(str(name).split()) or "unnamed"
        self.start = 0

    def __enter__(self) -> None:
        self.start = time.monotonic_ns()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        end = time.monotonic_ns()
        try:
            # One short write to a file opened for appending: lines of several processes do not mix.
            with open(_FILE, "a", encoding="utf-8", errors="backslashreplace") as stream:
                stream.write(f"{self.start} {end} {self.name}\n")
        except OSError:
            return  # the program goes on as if nobody measured


def span(name: str) -> AbstractContextManager[None]:
    """Mark a phase: `with energy_lsp.span("inference"): model.predict(x)`."""
    return _Marked(name) if _FILE else _NOTHING


def provide_span() -> None:
    """Let a program mark its phases where energy-lsp is not installed."""
    if importlib.util.find_spec("energy_lsp") is None:
        module = types.ModuleType("energy_lsp", "What a measured program may use of energy-lsp.")
        vars(module)["span"] = span
        sys.modules["energy_lsp"] = module
