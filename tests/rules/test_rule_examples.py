"""Every rule's own examples: rewritten as stated, reported, or left alone."""

from __future__ import annotations

import pytest

from energy_code import rules
from energy_code.rule_engine.edits.apply import apply_edits
from energy_code.rule_engine.evidence.programs import HEADER
from energy_code.workspace.document import Document

SAVING = [rule for rule in rules.ALL.values() if rule.saves]
EXAMPLES = [
    pytest.param(rule, before, after, id=f"{rule.name}-{number}")
    for rule in SAVING
    for number, (before, after) in enumerate(rule.examples)
]
REPORTS = [
    pytest.param(rule, code, id=f"{rule.name}-{number}")
    for rule in SAVING
    for number, code in enumerate(rule.reports)
]
LEFT_ALONE = [
    pytest.param(rule, code, id=f"{rule.name}-{number}")
    for rule in SAVING
    for number, code in enumerate(rule.leave_alone)
]


def find(code, rule):
    return rules.find(Document(code).analyse(), [rule])


@pytest.mark.parametrize(("rule", "before", "after"), EXAMPLES)
def test_the_code_before_becomes_the_code_after(rule, before, after):
    source = f"{HEADER}\n{before}\n"
    found = find(source, rule)
    assert len(found) == 1, f"{rule.name} finds {len(found)} places"
    assert found[0].safety() in ("safe", "review")
    rewritten = apply_edits(source, found[0].edits())
    assert rewritten == f"{HEADER}\n{after}\n"
    compile(rewritten, "after", "exec")
    assert [finding for finding in find(rewritten, rule) if finding.safety() != "none"] == []


@pytest.mark.parametrize(("rule", "code"), REPORTS)
def test_what_has_no_fix_is_reported_without_one(rule, code):
    found = find(f"{HEADER}\n{code}\n", rule)
    assert len(found) == 1
    assert found[0].safety() == "none"
    assert found[0].edits() == []


@pytest.mark.parametrize(("rule", "code"), LEFT_ALONE)
def test_what_must_be_left_alone_is(rule, code):
    assert find(f"{HEADER}\n{code}\n", rule) == []
