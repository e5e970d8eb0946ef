"""How safe a fix is at one place: found out when somebody asks for fixes, as it takes longer than to find the place."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from energy_code.rule_engine.context import Match, RuleContext
    from energy_code.rule_engine.rule import Rule, Safety

log = logging.getLogger(__name__)


def safety_of(rule: Rule, place: RuleContext, match: Match) -> Safety:
    """Whether a match has a fix, and one that needs no look; a rule that fails here gives none."""
    if rule.safety == "none" or (match.template is None and match.edits is None):
        return "none"
    if match.edits is None and _loses_comment(place, match):
        return "none"
    if place.call is not None and place.call.confidence < 1.0:
        return "review"
    place.captures = match.captures
    try:
        safe = (rule.safety == "safe" or rule.proven(place)) and (
            match.is_proven is None or match.is_proven()
        )
    except Exception as problem:
        log.warning("rule %s offers no fix here: %s: %s", rule.name, type(problem).__name__, problem)
        return "none"
    return "safe" if safe else "review"


def _loses_comment(place: RuleContext, match: Match) -> bool:
    source = place.analysis.source[match.node.start_byte : match.node.end_byte]
    return b"#" in source and b"\n" in source
