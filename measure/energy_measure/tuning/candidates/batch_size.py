"""Twice the batch: fewer steps, other results."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from energy_code.rule_engine.context import Edit
from energy_measure.tuning.candidate import Candidate, ProgramFile

ORDER = 60
_WRITTEN = re.compile(
    rb"(?<![\w.])(?:batch_size|BATCH_SIZE|batchsize|BATCH)\s*=\s*(\d+)(?![\w.])|\.batch\(\s*(\d+)(?![\w.])"
)
MOST = 4096


def find(sources: Sequence[ProgramFile]) -> Iterator[Candidate]:
    """All sizes of batches that a file writes as a number, doubled together."""
    for source in sources:
        edits, line = [], 0
        for found in _WRITTEN.finditer(source.text):
            group = 1 if found.group(1) else 2
            size = int(found.group(group))
            if 1 < size <= MOST:
                edits.append(Edit(found.start(group), found.end(group), str(2 * size)))
                line = line or source.text.count(b"\n", 0, found.start()) + 1
        if edits:
            yield Candidate(
                "batch-size", "twice the batch", source.name, line, {source.name: edits}, changes_results=True
            )
