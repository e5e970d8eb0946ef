"""What a finding is worth in a program that never ran: predicted, as a part of all that is predicted of the program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from energy_lsp.predicting.in_editor import Foretold, foretold, prediction_of
from energy_lsp.presentation.reports.impact import Impact, impact_of, saving

if TYPE_CHECKING:
    from energy_code.rules import Finding
    from energy_lsp.presentation.figures.hints import Hint
    from energy_lsp.presentation.reports.file import FileReport


class Foreseen:
    """What is predicted of a program, worked out when the first finding asks; the cells of a notebook are one program."""

    def __init__(self, reports: Sequence[FileReport]) -> None:
        self._reports = reports
        self._costs: list[tuple[FileReport, Hint, float, float, float]] | None = None

    def impact(self, report: FileReport, finding: Finding) -> Impact | None:
        """What a finding is worth: proven, measured, else predicted; None where that is not known."""
        return measured_impact(report, finding) or self.predicted(report, finding)

    def predicted(self, report: FileReport, finding: Finding) -> Impact | None:
        """The joules that calls would take which the finding changes, by the curve of its evidence.

        What a call costs once, for tracing, is in the whole and not in what can be saved.
        """
        verdict = report.verdict_of(finding)
        if verdict.evidence is None or any(one.program_joules is not None for one in self._reports):
            return None
        if self._costs is None:
            self._costs = [
                (one, hint, *_joules(found), _in_layers(found))
                for one in self._reports
                for hint in one.hints
                if (found := foretold(one, hint)) is not None
            ]
        touched = {hint.call.span for hint in report.calls_changed_by(finding)}
        whole = sum(once + each * hint.times for _, hint, once, each, _ in self._costs)
        changed = [
            (hint.times, each, work)
            for place, hint, _, each, work in self._costs
            if place is report and hint.call.span in touched
        ]
        spent = sum(times * each for times, each, _ in changed)
        if spent <= 0.0:
            return None
        work = sum(times * each for times, _, each in changed)
        calls = max(times for times, _, _ in changed)
        saved, at_most = saving(finding, verdict.sizes, spent, calls, work, untraced=True)
        return Impact(saved, whole, "predicted", True, at_most=at_most)


def measured_impact(report: FileReport, finding: Finding) -> Impact | None:
    """What a finding is worth by what was measured, without what the layers of a model take as they are predicted."""

    def work(hints: Sequence[Hint]) -> float:
        known = [(hint.times, prediction_of(report, hint)) for hint in hints]
        return sum(times * _in_layers(found) for times, found in known if found is not None)

    return impact_of(report, finding, work if finding.rule.around_model else lambda hints: 0.0)


def predicted_impact(report: FileReport, finding: Finding) -> Impact | None:
    """What a finding in a script is worth by prediction; a cell alone is no program."""
    return None if report.is_cell else Foreseen([report]).predicted(report, finding)


def _joules(found: Foretold) -> tuple[float, float]:
    """What the first run costs beside the others, and what each costs; of several shapes on average."""
    shapes = [prediction for _, prediction in found.asked]
    once = sum(one.first_joules for one in shapes) / len(shapes)
    return once, sum(one.joules - one.first_joules for one in shapes) / len(shapes)


def _in_layers(found: Foretold) -> float:
    """What the layers of a model take in one call; of several shapes on average."""
    each = [one.steps * one.epochs * sum(layer.joules for layer in one.layers) for _, one in found.asked]
    return sum(each) / len(each)
