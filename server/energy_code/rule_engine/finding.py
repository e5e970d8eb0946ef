"""What a rule finds at one place, with its fix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from energy_code.model import Call, Mode, Span
from energy_code.rule_engine.context import Edit, Match, RuleContext
from energy_code.rule_engine.rule import Rule, Safety
from energy_code.rule_engine.safety import safety_of

if TYPE_CHECKING:
    from energy_code.analysis.analysis import Analysis

Sight: TypeAlias = "tuple[RuleContext, Match] | None"
SeeAgain: TypeAlias = "Callable[[Analysis, Finding], Sight]"


@dataclass(slots=True, unsafe_hash=True)
class Finding:
    """One place that a rule would write differently. Never changed: only not frozen, as making frozen ones takes
    four times as long."""

    rule: Rule
    span: Span
    message: str
    call: Call | None
    """The API call the finding hangs on, for joules and runs."""
    mode: Mode
    related: tuple[Span, ...]
    _analysis: Analysis = field(repr=False, compare=False)
    _seen: Sight | SeeAgain = field(repr=False, compare=False)
    """What it was made of; a finding that was kept over an edit looks for it again when its fix is asked for."""
    _safety: Safety | None = field(default=None, repr=False, compare=False)

    def safety(self) -> Safety:
        """How far the fix can be trusted at this very place."""
        if self._safety is None:
            seen = self._sight() if self.rule.has_fix else None
            self._safety = safety_of(self.rule, *seen) if seen is not None else "none"
        return self._safety

    @property
    def sight(self) -> Sight:
        """What it was made of, unless it was kept over an edit."""
        return None if callable(self._seen) else self._seen

    def edits(self) -> list[Edit]:
        """The fix, as replacements of bytes in ascending order; empty when there is none."""
        seen = self._sight() if self.safety() != "none" else None
        if seen is None:
            return []
        # libcst loads only when a fix is asked for: it takes 0.2 s
        from energy_code.rule_engine.edits.rewrite import edits_for

        return edits_for(self._analysis, seen[1])

    def _sight(self) -> Sight:
        if callable(self._seen):
            self._seen = self._seen(self._analysis, self)
        return self._seen
