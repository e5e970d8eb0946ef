"""XLA, last: compiling takes seconds, and on a CPU it has not paid in any of nine programs (1.09 to 3.1 times)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from energy_measure.machine.describe import describe
from energy_measure.tuning.candidate import Candidate, ProgramFile
from energy_measure.tuning.compile_calls import IN_LAYERS, with_compile_argument

ORDER = 90


def find(sources: Sequence[ProgramFile]) -> Iterator[Candidate]:
    """Where a program compiles a model and says nothing of it; on a CPU not for layers that were dearer every time."""
    for source in sources:
        if IN_LAYERS.search(source.text) is None or describe().gpu:
            yield from with_compile_argument(source, "jit_compile=True", "jit-compile", "compile with XLA")
