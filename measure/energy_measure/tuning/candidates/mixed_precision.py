"""bfloat16 where the processor has instructions for it; elsewhere it is slower."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from energy_code.rule_engine.context import Edit
from energy_measure.tuning.candidate import Candidate, ProgramFile

ORDER = 70


def find(sources: Sequence[ProgramFile]) -> Iterator[Candidate]:
    """A policy behind the imports of the entry point, where it sets none and the processor can."""
    entry = sources[0] if sources else None
    if entry is None or not _has_instructions() or any(b"set_global_policy" in one.text for one in sources):
        return
    keras = entry.analysis.spelling("keras")
    at = _after_imports(entry)
    if keras is None or at is None:
        return
    text = f'\n{keras}.mixed_precision.set_global_policy("mixed_bfloat16")'
    line = entry.text.count(b"\n", 0, at) + 2
    yield Candidate(
        "mixed-precision",
        "compute in bfloat16",
        entry.name,
        line,
        {entry.name: [Edit(at, at, text)]},
        changes_results=True,
    )


def _has_instructions() -> bool:
    try:
        words = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return "avx512_bf16" in words or "amx_bf16" in words


def _after_imports(entry: ProgramFile) -> int | None:
    ends = [
        statement.end_byte
        for statement in entry.analysis.tree().root_node.named_children
        if statement.type in ("import_statement", "import_from_statement", "future_import_statement")
    ]
    return ends[-1] if ends else None
