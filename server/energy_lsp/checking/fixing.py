"""`check --fix`: apply what is safe until nothing safe is left."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from energy_code.workspace.notebook_text import with_sources
from energy_data.untrusted.reading import LARGEST_NOTEBOOK, read_text
from energy_data.untrusted.writing import write_file
from energy_lsp.presentation.reports.edits import applied, combine

if TYPE_CHECKING:
    from energy_lsp.presentation.reports.file import FileReport

ROUNDS = 10
"""A fix can make room for another one; no two rules may chase each other for ever."""

ReadPages = Callable[[], "list[FileReport]"]


def fix_file(path: Path, read: ReadPages) -> tuple[list[FileReport], int]:
    """Fix a file on disk. Returns its reports afterwards and how many places were fixed."""
    fixed = 0
    reports = read()
    for _ in range(ROUNDS):
        safe = [[finding for finding in report.findings if finding.safety() == "safe"] for report in reports]
        edits = [combine(finding.edits() for finding in findings) for findings in safe]
        if not any(edits):
            break
        sources = [applied(report, some) for report, some in zip(reports, edits, strict=True)]
        before = sum(map(len, safe))
        _write(path, reports, sources)
        reports = read()
        after = sum(finding.safety() == "safe" for report in reports for finding in report.findings)
        fixed += max(0, before - after)
    return reports, fixed


def _write(path: Path, reports: list[FileReport], sources: list[bytes]) -> None:
    if path.suffix != ".ipynb":
        write_file(path, sources[0], exact=True)
        return
    changed = {
        report.cell_number - 1: source.decode("utf-8")
        for report, source in zip(reports, sources, strict=True)
        if source != report.source
    }
    write_file(path, with_sources(read_text(path, LARGEST_NOTEBOOK), changed), exact=True)
