"""The evidence behind a rule as a page of Markdown: why it saves, and what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from energy_lsp.presentation.notation.markup import Markdown
from energy_lsp.presentation.notation.pictures import evidence_picture
from energy_lsp.presentation.notation.units import bar
from energy_lsp.presentation.words.calls import evidence_line

if TYPE_CHECKING:
    from energy_code.rules import Rule
    from energy_data.model import RuleEvidence

MOST_DRAWN = 12


def evidence_page(rule: Rule, evidence: Sequence[RuleEvidence], *, picture: bool = True) -> str:
    """The rule's own page, then the measured comparisons, newest and nearest first, with a picture of them.

    Without `picture`, for clients that open Markdown as text, the bars are letters.
    """
    markup = Markdown()
    lines = [f"# {rule.name}", ""]
    if evidence and picture:
        lines += [evidence_picture(evidence[:MOST_DRAWN]), ""]
    elif evidence:
        lines += [markup.block([_bars(one) for one in evidence[:MOST_DRAWN]]), ""]
    lines += [rule.page, ""]
    for before, after in rule.examples[:1]:
        lines += ["```python", before, "```", "becomes", "```python", after, "```", ""]
    lines += ["## Measured", ""]
    if not evidence:
        lines.append("Nothing was measured for this rule yet.")
    lines += ["- " + markup.text(evidence_line(one)) for one in evidence]
    return "\n".join(lines) + "\n"


def _bars(one: RuleEvidence) -> str:
    return f"{one.size:>8}, {one.mode:5}  before {bar(1.0)}  after {bar(one.ratio)} {one.ratio:.0%}"
