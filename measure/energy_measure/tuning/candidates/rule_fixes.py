"""The fixes of the substitution rules, safe ones and those to review: a trial is the review."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from energy_code import rules
from energy_code.rule_engine.edits.apply import compatible
from energy_measure.tuning.candidate import Candidate, Source

ORDER = 10


def find(sources: Sequence[Source]) -> Iterator[Candidate]:
    """One candidate for each rule in each file: its places are changed together."""
    for source in sources:
        by_rule: dict[str, list[rules.Finding]] = {}
        for finding in rules.find(source.analysis):
            if finding.rule.has_fix and finding.safety != "none":
                by_rule.setdefault(finding.rule.name, []).append(finding)
        for name, findings in by_rule.items():
            edits = compatible(findings)
            if edits:
                places = "" if len(findings) == 1 else f"{len(findings)} places"
                line = findings[0].span.start.row + 1
                yield Candidate(
                    name, findings[0].message, source.name, line, {source.name: edits}, note=places
                )
