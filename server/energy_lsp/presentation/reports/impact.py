"""What a finding is worth in this program: joules a run, and which part of the run's energy that is.

Proven by a trial in this very program, or worked out from what the calls that it would change were measured to take. A
saving depends on the size at hand: the evidence of a rule's three sizes is a curve over what one call takes, and what lies
above it saves no more joules a call than the largest did, unless the sizes show that savings grow. What only the first call
costs, and what is spent on tracing, stays. A rule that saves what surrounds the work cannot be told from evidence of dearer
calls how much of a cheap one surrounds it: there the saving is an upper bound.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from energy_code.rule_engine.evidence.verdict import NEARLY_ALL, brief, brief_parts
from energy_data.program_evidence import at_place
from energy_lsp.presentation.figures.account import Account, counts
from energy_lsp.presentation.notation.units import fine_percent, joules, percent

if TYPE_CHECKING:
    from energy_code.rules import Finding
    from energy_data.model import RuleEvidence
    from energy_lsp.presentation.figures.hints import Hint
    from energy_lsp.presentation.reports.file import FileReport
    from energy_lsp.workspace.settings import Severity


FINE_BELOW = 0.1
"""Below this part of a run a saving's percentage has a decimal."""


class Impact(NamedTuple):
    """A saving in one run of the program."""

    joules: float
    """Net joules a run; below zero for what was tried and is dearer."""
    of: float
    """Net joules of one run of the program."""
    origin: Literal["proven", "measured", "predicted"]
    estimated: bool
    differs: bool = True
    """False for a trial that could not tell the two sides apart."""
    at_most: bool = False
    """True for an upper bound: a part of it, not known, stays."""

    @property
    def share(self) -> float:
        """Of the run's energy."""
        return self.joules / self.of

    def is_below(self, smallest: float) -> bool:
        """Whether it is no problem here."""
        return not self.differs or self.share < smallest

    def text(self, smallest: float) -> str:
        """`saves ≈ 1.90 J of 13.4 J a run, 14%`."""
        return self._said(
            f"{self._mark}{joules(self.joules)} of {joules(self.of)} a run, {self._percent}", smallest
        )

    def line(self, smallest: float) -> str:
        """The same for a line that may be cut: `saves 14% of a run, ≈ 1.9 J`."""
        return self._said(f"{self._percent} of a run, {self._mark}{joules(self.joules, 2)}", smallest)

    @property
    def _percent(self) -> str:
        return fine_percent(self.share) if self.share < FINE_BELOW else percent(self.share)

    @property
    def _mark(self) -> str:
        return "≈ " if self.estimated or self.origin != "proven" else ""

    def _said(self, how: str, smallest: float) -> str:
        """What is known of the saving, in words around its figures."""
        if not self.differs:
            return "no measurable difference when tried here"
        if self.joules < 0:
            return f"costs {self._mark}{joules(-self.joules)} more of {joules(self.of)} a run when tried here"
        if self.origin == "proven":
            return f"✓ proven here: saves {how}"
        how += ", as predicted" if self.origin == "predicted" else ""
        saves = "saves at most" if self.at_most else "saves"
        return f"negligible here ({how})" if self.share < smallest else f"{saves} {how}"

    def as_json(self) -> dict[str, Any]:
        """As docs/reference/json.md says."""
        return {
            "saved_joules": self.joules if self.differs else None,
            "saved_share": self.share if self.differs else None,
            "program_joules": self.of,
            "saving_origin": self.origin,
            "saving_at_most": self.at_most,
        }


def impact_of(
    report: FileReport, finding: Finding, work: Callable[[Sequence[Hint]], float] = lambda hints: 0.0
) -> Impact | None:
    """What a finding is worth; None where that is not known.

    `work`: joules in a run that the layers of models take in some calls, as far as somebody can tell.
    """
    verdict = report.verdict_of(finding)
    tried = None
    if verdict.proven:
        row = report.row(finding.span.start_byte)
        tried = at_place(verdict.proven, report.folder.project_ids(), report.file, report.line(row))
    if tried is not None:
        saved = tried.joules_before * (1 - tried.ratio)
        return Impact(saved, tried.joules_before, "proven", tried.estimated, tried.differs)
    whole, evidence = report.program_joules, verdict.evidence
    if whole is None or evidence is None or whole <= 0:
        return None
    touched = [hint for hint in report.calls_changed_by(finding) if counts(hint.figure)]
    account = Account.of((hint.figure, hint.times) for hint in touched)
    once = sum(max(0.0, hint.figure.surplus) for hint in touched if hint.figure is not None)
    spent = min(account.joules, whole) - once
    in_steps = _in_steps(report, touched) if finding.rule.tracing_stays else math.inf
    spent = min(spent, in_steps)
    if not touched or spent <= 0:
        return None
    calls = max(hint.times for hint in touched)
    found = saving(finding, verdict.sizes, spent, calls, work(touched), in_steps < math.inf)
    return Impact(found.joules, whole, "measured", account.estimated, at_most=found.at_most)


def _in_steps(report: FileReport, hints: Sequence[Hint]) -> float:
    """Joules that some calls took at most when nothing was traced; infinite where nobody noted it."""
    known = report.program.calls if report.program is not None else {}
    return sum(known.get(api, math.inf) for api in {hint.call.api for hint in hints})


class Saving(NamedTuple):
    """Joules that a rule saves of some calls, or at most."""

    joules: float
    at_most: bool


def saving(
    finding: Finding,
    sizes: Sequence[RuleEvidence],
    spent: float,
    calls: int,
    work: float = 0.0,
    untraced: bool = False,
) -> Saving:
    """What a finding's rule saves of the joules that so many calls take, by its evidence of single calls.

    `work`: what the layers of models take of it; `untraced`: it is known to hold no tracing.
    """
    repeats = finding.rule.workload.repeats
    points = [replace(one, joules_before=one.joules_before / repeats) for one in sizes]
    each = spent / max(1, calls)
    saved = spent * (1 - ratio_at(points, each))
    around = finding.rule.around_model and work > 0.0
    if around:
        saved = min(saved, spent - work)
    traced = finding.rule.tracing_stays and not untraced
    return Saving(max(0.0, saved), traced or (not around and is_bound(points, each)))


def is_bound(sizes: Sequence[RuleEvidence], size: float) -> bool:
    """Whether evidence of what surrounds the work is of calls that took more than this one: some of it may be work."""
    known = [one for one in sizes if one.joules_before > 0]
    return bool(known) and all(
        one.ratio < NEARLY_ALL and size < one.joules_before * (1 - one.ratio) for one in known
    )


def finding_line(report: FileReport, finding: Finding, impact: Impact | None) -> str:
    """One line about a finding: what it saves, then what to do, as lists of problems cut what is long.

    The hover says why, and what the saving rests on.
    """
    saving, by_size = brief_parts(report.verdict_of(finding))
    behind = f" ({by_size})" if by_size and impact is None else ""
    said = impact.line(report.folder.settings.smallest_share) if impact is not None else saving
    return f"{_capital(said)}: {finding.rule.advice}{behind}"


def finding_in_full(report: FileReport, finding: Finding, impact: Impact | None) -> str:
    """A finding where there is room and no hover: what it saves, why, and what that rests on."""
    measured = brief(report.verdict_of(finding))
    if impact is None:
        return f"{_capital(measured)}: {finding.message}"
    # What was tried in this very program needs no word from elsewhere.
    rests = "" if impact.origin == "proven" else f" ({measured})"
    return f"{_capital(impact.text(report.folder.settings.smallest_share))}: {finding.message}{rests}"


def severity_of(report: FileReport, impact: Impact | None) -> Severity:
    """How loudly a finding is shown: what saves next to nothing here is a hint."""
    settings = report.folder.settings
    small = impact is not None and impact.is_below(settings.smallest_share)
    return "hint" if small else settings.rule_severity


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def ratio_at(sizes: Sequence[RuleEvidence], size: float) -> float:
    """Energy after / before at a size, in joules of the side before; 1 for what was not distinguished."""
    points = sorted((one.joules_before, one.ratio if one.differs else 1.0) for one in sizes)
    points = [point for point in points if point[0] > 0]
    if not points or size <= 0:
        return 1.0
    if size <= points[0][0]:
        return points[0][1]
    for (low, first), (high, second) in itertools.pairwise(points):
        if size <= high:
            part = math.log(size / low) / math.log(high / low) if high > low else 1.0
            return first + (second - first) * part
    largest, ratio = points[-1]
    saved = largest * (1 - ratio)
    growth: float = (size / largest) ** _growth(points)
    return 1 - saved * growth / size


def _growth(points: Sequence[tuple[float, float]]) -> float:
    """With which power of the size savings grow beyond the largest: 0 for a fixed saving, 1 for a fixed part."""
    (before, ratio), (after, last) = points[-2:] if len(points) > 1 else (points[0], points[0])
    small, large = before * (1 - ratio), after * (1 - last)
    if last < NEARLY_ALL or small <= 0 or large <= 0 or after <= before * 1.2:
        return 0.0
    return min(1.0, max(0.0, math.log(large / small) / math.log(after / before)))
