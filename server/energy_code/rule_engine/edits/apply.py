"""Carrying fixes out on a text."""

from __future__ import annotations

from collections.abc import Iterable

from energy_code.rule_engine.context import Edit
from energy_code.rule_engine.finding import Finding


def apply_edits(source: str, edits: Iterable[Edit]) -> str:
    """The text with the edits applied; they must not overlap."""
    data = source.encode()
    pieces: list[bytes] = []
    end = 0
    for edit in sorted(set(edits)):
        if edit.start_byte < end:
            raise ValueError(f"edits overlap at byte {edit.start_byte}")
        pieces += [data[end : edit.start_byte], edit.text.encode()]
        end = edit.end_byte
    pieces.append(data[end:])
    return b"".join(pieces).decode()


def compatible(findings: Iterable[Finding]) -> list[Edit]:
    """Edits of all findings that fit together, earlier and outer ones first; equal imports are made once."""
    chosen: list[Edit] = []
    for finding in findings:
        edits = finding.edits()
        if not any(_overlap(edit, other) for edit in edits for other in chosen):
            chosen += [edit for edit in edits if edit not in chosen]
    return sorted(chosen)


def _overlap(one: Edit, other: Edit) -> bool:
    if one == other:
        return False
    if one.start_byte == one.end_byte or other.start_byte == other.end_byte:
        return one.start_byte < other.end_byte and other.start_byte < one.end_byte
    return max(one.start_byte, other.start_byte) < min(one.end_byte, other.end_byte)
