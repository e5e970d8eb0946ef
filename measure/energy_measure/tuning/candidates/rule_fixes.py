"""The fixes of the substitution rules, safe ones and those to review: a trial is the review."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from energy_code import rules
from energy_code.rule_engine.edits.apply import compatible
from energy_measure.tuning.candidate import Candidate, ProgramFile

ORDER = 10
PAYS_MOST = ("predict-loop", "fit-rows", "missing-function", "call-rows", "run-eagerly", "batch-map")
"""In ordinary programs, the first of them most; the others come behind them."""
PAYS_SELDOM = frozenset({"steps-per-execution"})
"""They have a place of their own behind what pays more often."""


def find(sources: Sequence[ProgramFile]) -> Iterator[Candidate]:
    """One candidate for each rule in each file: its places are changed together."""
    yield from fixes_of(sources, frozenset(rules.ALL) - PAYS_SELDOM)


def fixes_of(sources: Sequence[ProgramFile], names: Collection[str]) -> Iterator[Candidate]:
    """The same for some rules."""
    for source in sources:
        by_rule: dict[str, list[rules.Finding]] = {}
        for finding in rules.find(source.analysis):
            if finding.rule.has_fix and finding.safety() != "none" and finding.rule.name in names:
                by_rule.setdefault(finding.rule.name, []).append(finding)
        for _, findings in sorted(by_rule.items(), key=lambda item: _rank(item[0])):
            whole = _candidate(source, findings)
            if whole is not None:
                alone = [_candidate(source, [finding]) for finding in findings]
                yield replace(whole, places=[one for one in alone if one is not None])


def _candidate(source: ProgramFile, findings: Sequence[rules.Finding]) -> Candidate | None:
    edits = compatible(findings)
    if not edits:
        return None
    first = findings[0]
    places = "" if len(findings) == 1 else f"{len(findings)} places"
    line = first.span.start.row + 1
    return Candidate(first.rule.name, first.message, source.name, line, {source.name: edits}, note=places)


def _rank(rule: str) -> int:
    if rule in PAYS_MOST:
        return PAYS_MOST.index(rule)
    return len(PAYS_MOST)
