"""The evidence behind a rule as a page of Markdown: why it saves, and what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from energy_lsp.presentation.markup import Markdown
from energy_lsp.presentation.wording import evidence_line

if TYPE_CHECKING:
    from energy_code.rules import Rule
    from energy_data.model import RuleEvidence


def evidence_page(rule: Rule, evidence: Sequence[RuleEvidence]) -> str:
    """The rule's own page, then the measured comparisons, newest and nearest first."""
    markup = Markdown()
    lines = [f"# {rule.name}", "", rule.page, "", "## Measured", ""]
    if not evidence:
        lines.append("Nothing was measured for this rule yet.")
    lines += ["- " + markup.text(evidence_line(one)) for one in evidence]
    return "\n".join(lines) + "\n"
