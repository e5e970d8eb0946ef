"""`check --fix`: apply what is safe until nothing safe is left."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from energy_lsp.edits import applied, combine

if TYPE_CHECKING:
    from energy_lsp.pages import Page

ROUNDS = 10
"""A fix can make room for another one; no two rules may chase each other for ever."""

ReadPages = Callable[[], "list[Page]"]


def fix_file(path: Path, read: ReadPages) -> tuple[list[Page], int]:
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


def _write(path: Path, pages: list[Page], sources: list[bytes]) -> None:
    if path.suffix != ".ipynb":
        replace_file(path, sources[0])
        return
    notebook = json.loads(path.read_text("utf-8"))
    for page, source in zip(pages, sources, strict=True):
        text = source.decode("utf-8")
        cell = notebook["cells"][page.cell_number - 1]
        cell["source"] = text.splitlines(keepends=True) if isinstance(cell["source"], list) else text
    text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    replace_file(path, text.encode("utf-8"))


def replace_file(path: Path, content: bytes) -> None:
    """Write a file in one step, so that no half of it is ever seen; its permissions stay."""
    beside = path.with_name(f".{path.name}.energy-lsp")
    beside.write_bytes(content)
    os.chmod(beside, path.stat().st_mode)
    os.replace(beside, path)
