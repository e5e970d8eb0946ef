"""Edits in bytes, as rules make them, and what becomes of them: text, comments."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from energy_code.analysis.ignore_comments import comment_for

if TYPE_CHECKING:
    from energy_code.rules import Edit
    from energy_lsp.presentation.reports.file import FileReport


def combine(groups: Iterable[list[Edit]]) -> list[Edit]:
    """Edits of several fixes in ascending order; a fix that overlaps an earlier one is left out."""
    taken: list[Edit] = []
    for group in groups:
        if any(_overlap(new, old) for new in group for old in taken if new != old):
            continue
        taken += [edit for edit in group if edit not in taken]
    return sorted(taken)


def _overlap(one: Edit, other: Edit) -> bool:
    if one.start_byte == one.end_byte == other.start_byte == other.end_byte:
        return True
    return one.start_byte < other.end_byte and other.start_byte < one.end_byte


def applied(report: FileReport, edits: Iterable[Edit]) -> bytes:
    """A report's text after the edits."""
    source = report.source
    for edit in sorted(edits, reverse=True):
        start, end = edit.start_byte - report.base, edit.end_byte - report.base
        source = source[:start] + edit.text.encode("utf-8") + source[end:]
    return source


def ignore_edit(report: FileReport, row: int, rule: str) -> Edit:
    """A comment that silences a rule on one line, or one more name in the comment that is there."""
    from energy_code.rules import Edit

    line = report.lines.line(row)
    start = report.base + report.lines.starts[row]
    first, last, text = comment_for(line, rule)
    return Edit(start + first, start + last, text)
