"""Evidence that was measured in one program: `tune` proves a change there, and the finding at that place says so.

It is kept beside the evidence of rules, with the place in the field `size`: project, file, and the line as it is written, so
that it is found again after lines have moved, and no more once the place has changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from energy_data.model import RuleEvidence

_BEGIN, _BETWEEN = "program", "\t"
LONGEST_LINE = 200


def in_program(project_id: str, file: str, line: str) -> str:
    """The `size` of evidence that was measured at a place of a program."""
    return _BETWEEN.join((_BEGIN, project_id, file, " ".join(line.split())[:LONGEST_LINE]))


def is_of_program(evidence: RuleEvidence) -> bool:
    """True for what was measured in one program: it says nothing of others."""
    return evidence.size.startswith(_BEGIN + _BETWEEN)


def at_place(
    evidence: Iterable[RuleEvidence], project_ids: Sequence[str], file: str, line: str
) -> RuleEvidence | None:
    """The newest evidence of a place of a program; None where nothing was tried there."""
    wanted = {in_program(project_id, file, line) for project_id in project_ids}
    found = [one for one in evidence if one.size in wanted]
    return max(found, key=lambda one: one.measured, default=None)


def place_text(evidence: RuleEvidence) -> str:
    """Where evidence comes from, for people: its size of inputs, or the file of the program."""
    parts = evidence.size.split(_BETWEEN)
    return f"the program {parts[2]}" if is_of_program(evidence) and len(parts) > 2 else evidence.size
