"""Runs a program as it is and notes when Keras trains and when it infers (Python 3.8 to 3.13).

Started as `PYTHON marked_run.py FILE SCRIPT [ARGUMENTS]`, with the standard library alone. FILE gets the lines that
`energy_lsp.span` writes, one for each outermost call of `fit`, `predict` and their like; calls that follow each other
closely, as batches of a loop do, are one line. Where energy-lsp is not installed, `import energy_lsp` gives its `span`.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import runpy
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from energy_measure.injected.import_hook import AfterImport
    from energy_measure.injected.phase_marks import provide_span
else:  # beside this file, which is started by its path
    from import_hook import AfterImport
    from phase_marks import provide_span

PHASES = {
    "fit": "training",
    "train_on_batch": "training",
    "predict": "inference",
    "predict_on_batch": "inference",
    "evaluate": "evaluation",
    "test_on_batch": "evaluation",
}
CLOSELY_NS = 50_000_000


class Marks:
    """What Keras was doing, and when."""

    def __init__(self) -> None:
        self.lines: list[list[Any]] = []
        self.thread = threading.local()

    def marking(self, method: Any, phase: str) -> Any:
        """A method that is noted, unless another one called it: `fit` evaluates by itself."""

        @functools.wraps(method)
        def call(*arguments: Any, **keywords: Any) -> Any:
            if getattr(self.thread, "inside", False):
                return method(*arguments, **keywords)
            self.thread.inside = True
            start = time.monotonic_ns()
            try:
                return method(*arguments, **keywords)
            finally:
                self.add(start, time.monotonic_ns(), phase)
                self.thread.inside = False

        return call

    def add(self, start: int, end: int, phase: str) -> None:
        """Note a call."""
        last = self.lines[-1] if self.lines else None
        if last is not None and last[2] == phase and 0 <= start - last[1] < CLOSELY_NS:
            last[1] = end
        else:
            self.lines.append([start, end, phase])

    def write(self, path: str) -> None:
        """Write all lines; a folder that is gone is nobody's concern."""
        with contextlib.suppress(OSError), open(path, "w", encoding="utf-8") as stream:
            stream.writelines(f"{start} {end} {phase}\n" for start, end, phase in self.lines)


def main() -> None:
    """Set the program up as Python itself would, and run it."""
    path, script = sys.argv[1], sys.argv[2]
    marks = Marks()
    atexit.register(marks.write, path)

    def then(keras: Any) -> None:
        for name, phase in PHASES.items():
            method = getattr(keras.Model, name, None)
            if method is not None:
                setattr(keras.Model, name, marks.marking(method, phase))

    sys.argv = sys.argv[2:]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    provide_span()
    sys.meta_path.insert(0, AfterImport({"keras": then, "tf_keras": then}))
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main()
