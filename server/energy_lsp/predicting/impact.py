"""What a finding is worth in a program that never ran: predicted, as a part of all that is predicted of the program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from energy_lsp.predicting.in_editor import Foretold, foretold
from energy_lsp.presentation.reports.impact import Impact, impact_of, ratio_at

if TYPE_CHECKING:
    from energy_code.rules import Finding
    from energy_lsp.presentation.figures.hints import Hint
    from energy_lsp.presentation.reports.file import FileReport


class Foreseen:
    """What is predicted of a program, worked out when the first finding asks; the cells of a notebook are one program."""

    def __init__(self, reports: Sequence[FileReport]) -> None:
        self._reports = reports
        self._costs: list[tuple[FileReport, Hint, float, float]] | None = None

    def impact(self, report: FileReport, finding: Finding) -> Impact | None:
        """What a finding is worth: proven, measured, else predicted; None where that is not known."""
        return impact_of(report, finding) or self.predicted(report, finding)

    def predicted(self, report: FileReport, finding: Finding) -> Impact | None:
        """The joules that calls would take which the finding changes, by the curve of its evidence.

        What a call costs once, for tracing, is in the whole and not in what can be saved.
        """
        verdict = report.verdict_of(finding)
        if verdict.evidence is None or any(one.program_joules is not None for one in self._reports):
            return None
        if self._costs is None:
            self._costs = [
                (one, hint, *_joules(found))
                for one in self._reports
                for hint in one.hints
                if (found := foretold(one, hint)) is not None
            ]
        touched = {hint.call.span for hint in report.calls_changed_by(finding)}
        whole = sum(once + each * hint.times for _, hint, once, each in self._costs)
        changed = [
            (hint, each)
            for place, hint, _, each in self._costs
            if place is report and hint.call.span in touched
        ]
        spent = sum(each * hint.times for hint, each in changed)
        if spent <= 0.0:
            return None
        passes = max(1, *(hint.times for hint, _ in changed))
        saved = spent * (1 - ratio_at(verdict.sizes, spent / passes))
        return Impact(max(0.0, saved), whole, "predicted", True)


def predicted_impact(report: FileReport, finding: Finding) -> Impact | None:
    """What a finding in a script is worth by prediction; a cell alone is no program."""
    return None if report.is_cell else Foreseen([report]).predicted(report, finding)


def _joules(found: Foretold) -> tuple[float, float]:
    """What the first run costs beside the others, and what each costs; of several shapes on average."""
    shapes = [prediction for _, prediction in found.asked]
    once = sum(one.first_joules for one in shapes) / len(shapes)
    return once, sum(one.joules - one.first_joules for one in shapes) / len(shapes)
