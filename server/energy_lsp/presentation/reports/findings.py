"""Third stage: what the rules find, what was measured about it, and what a comment keeps quiet."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from energy_code.analysis.analysis import Analysis
    from energy_code.model import Mode
    from energy_code.rule_engine.evidence.verdict import Verdict
    from energy_code.rules import Finding
    from energy_lsp.workspace.folders import Folder

logger = logging.getLogger(__name__)

Verdicts = Mapping[tuple[str, "Mode"], "Verdict"]
"""What the measurements say of rules, in the mode they apply in."""


def findings_of(analysis: Analysis, folder: Folder, path: Path | None) -> tuple[list[Finding], Verdicts]:
    """What is suggested for a file, in the order of the text, and what was measured about it."""
    left_out = folder.leaves_out(path)
    found = [
        finding for finding in find_all(analysis, folder) if left_out.isdisjoint((finding.rule.name, "*"))
    ]
    verdicts = verdicts_of(found, folder)
    # What was measured to make no difference, here or else where it was measured, is not suggested.
    findings = [finding for finding in found if verdicts[finding.rule.name, finding.mode].suggested]
    findings.sort(key=lambda finding: finding.span.start_byte)
    return findings, verdicts


def find_all(analysis: Analysis, folder: Folder) -> list[Finding]:
    """Findings of the selected rules; a rule that raises is left out, and the user notified once."""
    from energy_code import rules

    if folder.settings.rule_severity == "off":
        return []
    chosen = folder.rules()
    try:
        return list(rules.find(analysis, chosen))
    except Exception:
        logger.exception("A rule failed; running them one by one")
    findings: list[Finding] = []
    for rule in chosen:
        try:
            findings += rules.find(analysis, [rule])
        except Exception as problem:
            logger.exception("Rule %s failed", rule.name)
            folder.notify([f"Rule {rule.name} failed on some code and was left out there ({problem!r})."])
    return findings


def verdicts_of(findings: Sequence[Finding], folder: Folder) -> dict[tuple[str, Mode], Verdict]:
    """What was measured for the rules of some findings: here, else by the team, else shipped."""
    known = folder.known.verdicts
    wanted = {(finding.rule.name, finding.mode) for finding in findings}
    for name, mode in wanted - known.keys():
        from energy_code.rule_engine.evidence.verdict import verdict

        known[name, mode] = verdict(folder.evidence(name), mode)
    return {key: known[key] for key in wanted}
