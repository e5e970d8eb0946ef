"""All fixes at once over real programs: they still compile, and still print the same."""

from __future__ import annotations

import contextlib
import io
import sys
from pathlib import Path

import pytest

from energy_code import rules
from energy_code.rule_engine.edits.apply import apply_edits, compatible
from energy_code.rule_engine.evidence.programs import HEADER
from energy_code.workspace.document import Document

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
CORPUS = sorted((ROOT / "tests" / "code" / "corpus").glob("*.py"))


def fix_all(source, path):
    """Apply every fix, again and again until none is left (a fix may make room for another)."""
    applied = []
    for _ in range(5):
        findings = [f for f in rules.find(Document(source, path=path).analyse()) if f.safety() != "none"]
        edits = compatible(findings)
        if not edits:
            return source, applied
        applied += [finding.rule.name for finding in findings]
        source = apply_edits(source, edits)
    raise AssertionError(f"fixes of {path.name} do not come to an end: {applied[-3:]}")


def test_all_examples_of_all_rules_in_one_file_come_to_an_end():
    """Names are assigned again and again there: whoever follows them must not follow each path."""
    saving = [rule for rule in rules.ALL.values() if rule.saves]
    pieces = [
        code
        for rule in saving
        for code in (*(before for before, _ in rule.examples), *rule.reports, *rule.leave_alone)
    ]
    found = rules.find(Document("\n".join([HEADER, *pieces])).analyse())
    # Some are rightly silent there: a helper of one example reads what the loop of another changes.
    assert len({finding.rule.name for finding in found}) > len(saving) * 0.75


@pytest.mark.parametrize("path", [*EXAMPLES, *CORPUS], ids=lambda path: path.name)
def test_a_program_still_compiles_with_all_fixes(path):
    fixed, _ = fix_all(path.read_text("utf-8"), path)
    compile(fixed, str(path), "exec")


def run(source, path, monkeypatch):
    printed = io.StringIO()
    monkeypatch.setattr(sys, "argv", [str(path)])
    with contextlib.redirect_stdout(printed):
        exec(compile(source, str(path), "exec"), {"__name__": "__main__", "__file__": str(path)})
    return printed.getvalue()


@pytest.mark.tensorflow
@pytest.mark.xdist_group("rules-tensorflow")
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_prints_the_same_with_all_fixes(path, monkeypatch):
    source = path.read_text("utf-8").replace("ROWS = 20_000", "ROWS = 1_000")  # sooner done, same code
    fixed, applied = fix_all(source, path)
    assert applied, f"no rule finds anything in {path.name}: it shows nothing here"
    assert run(fixed, path, monkeypatch) == run(source, path, monkeypatch)
