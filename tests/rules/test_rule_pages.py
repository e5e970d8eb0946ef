"""The documentation of rules is made from them, and is up to date."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from energy_code import rules
from energy_code.rule_engine.evidence.pages import advice_page, rule_page

ROOT = Path(__file__).resolve().parents[2]


def test_the_pages_are_up_to_date():
    result = subprocess.run(
        [sys.executable, "tools/build_rule_docs.py", "--check"], cwd=ROOT, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout + result.stderr


def test_every_rule_links_to_a_page_that_is_there():
    for rule in rules.ALL.values():
        if rule.saves:
            assert (ROOT / "docs" / "rules" / rule.url.rpartition("/")[2]).is_file()


def test_a_page_shows_examples_and_how_to_switch_off():
    page = rule_page(rules.ALL["stack-sum"], ())
    assert "total = tf.add_n(losses)" in page
    assert "# energy: ignore[stack-sum]" in page
    assert "Not measured yet." in page


def test_advice_that_does_not_save_has_one_page():
    page = advice_page(rules.ALL, {})
    for rule in rules.ALL.values():
        assert (f"## {rule.title}" in page) == (not rule.saves)
