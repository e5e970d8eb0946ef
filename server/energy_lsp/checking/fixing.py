"""`check --fix`: apply what is safe until nothing safe is left."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from energy_data.untrusted.reading import LARGEST_NOTEBOOK, read_text
from energy_data.untrusted.writing import write_file
from energy_lsp.checking.notebook_text import with_sources
from energy_lsp.presentation.edits import applied, combine

if TYPE_CHECKING:
    from energy_lsp.presentation.file_report import FileReport

ROUNDS = 10
"""A fix can make room for another one; no two rules may chase each other for ever."""

ReadPages = Callable[[], "list[FileReport]"]


def fix_file(path: Path, read: ReadPages) -> tuple[list[FileReport], int]:
    """Fix a file on disk. Returns its pages afterwards and how many places were fixed."""
    fixed = 0
    pages = read()
    for _ in range(ROUNDS):
        safe = [[finding for finding in page.findings if finding.safety == "safe"] for page in pages]
        edits = [combine(finding.edits() for finding in findings) for findings in safe]
        if not any(edits):
            break
        sources = [applied(page, some) for page, some in zip(pages, edits, strict=True)]
        before = sum(map(len, safe))
        _write(path, pages, sources)
        pages = read()
        after = sum(finding.safety == "safe" for page in pages for finding in page.findings)
        fixed += max(0, before - after)
    return pages, fixed


def _write(path: Path, pages: list[FileReport], sources: list[bytes]) -> None:
    if path.suffix != ".ipynb":
        write_file(path, sources[0], exact=True)
        return
    changed = {
        page.cell_number - 1: source.decode("utf-8")
        for page, source in zip(pages, sources, strict=True)
        if source != page.source
    }
    write_file(path, with_sources(read_text(path, LARGEST_NOTEBOOK), changed), exact=True)
