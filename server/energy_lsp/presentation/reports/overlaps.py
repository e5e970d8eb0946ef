"""Findings about the same calls: what one of them saves there, another cannot save once more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from energy_code.rules import Finding
    from energy_lsp.presentation.reports.file import FileReport
    from energy_lsp.presentation.reports.impact import Impact


def overlaps(
    report: FileReport, worth: Sequence[tuple[Finding, Impact | None]]
) -> Mapping[tuple[str, int], Finding]:
    """For each finding (its rule and first byte) that shares a call with one that saves more, that one."""

    def rank(one: tuple[Finding, Impact | None]) -> tuple[float, bool, int]:
        finding, impact = one
        saved = impact.joules if impact is not None and impact.differs else 0.0
        return -saved, not finding.rule.has_fix, finding.span.start_byte

    claimed: dict[int, Finding] = {}
    found = {}
    for finding, _ in sorted(worth, key=rank) if len(worth) > 1 else ():
        calls = {hint.call.span.start_byte for hint in report.calls_changed_by(finding)}
        first = next((claimed[call] for call in sorted(calls & claimed.keys())), None)
        if first is not None:
            found[key(finding)] = first
        else:
            claimed.update(dict.fromkeys(calls, finding))
    return found


def key(finding: Finding) -> tuple[str, int]:
    """What tells findings of one text apart."""
    return finding.rule.name, finding.span.start_byte


def not_in_addition(finding: Finding | None) -> str:
    """Said behind a finding about the same calls as another one that saves more."""
    return f"; not in addition to `{finding.rule.name}`" if finding is not None else ""
