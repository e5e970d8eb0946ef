"""A program's candidates from the first run to what is proven."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from energy_measure.comparison.windows import MeteredProcess
from energy_measure.tuning.candidate import Candidate
from energy_measure.tuning.confirming import FEWEST, Confirmed, confirm
from energy_measure.tuning.exploring import explore
from energy_measure.tuning.likeness import Tolerance, comparable, same_output
from energy_measure.tuning.runner import Runner
from energy_measure.tuning.trial import Progress, Trial, Tuned
from energy_measure.tuning.workshop import Workshop

RESERVE = 3 * FEWEST
"""Runs that proving one candidate takes."""
NOT_COMPARED = (
    "the program prints no result and trains nothing with fit, so nothing could be compared and nothing is applied: "
    "print a result"
)


class Tuning:
    """One search through the candidates of a program."""

    def __init__(
        self,
        workshop: Workshop,
        metered: MeteredProcess,
        budget: float,
        tolerance: Tolerance,
        progress: Progress,
    ) -> None:
        self._metered, self._tolerance = metered, tolerance
        self._runner = Runner(workshop, metered, budget, progress)
        self._seed: int | None = None

    def run(self, candidates: Sequence[Candidate]) -> Tuned:
        """Everything, as far as the time goes; Ctrl-C gives what is known by then."""
        trials = [Trial(candidate) for candidate in candidates]
        found = Confirmed()
        interrupted = False
        try:
            self._look_at_program()
            kept = explore(self._runner, trials, self._seed, self._tolerance, RESERVE)
            if not any(trial.ratios or trial.verdict == "failed" for trial in trials):
                kept = trials[:1]  # no time to explore: prove the one that pays most often
            if kept:
                found = confirm(self._runner, kept, self._seed is not None, self._tolerance)
        except KeyboardInterrupt:
            if not self._runner.base:
                raise
            interrupted = True
        for trial in trials:
            if not trial.ratios and trial.verdict == "no difference" and not trial.note:
                trial.note = "not tried: no time was left"
        base = self._runner.base
        if not any(comparable(outcome) for outcome, _ in base):
            for trial in trials:
                if trial.verdict != "failed" and trial.results is None:
                    trial.note = "; ".join(filter(None, (trial.note, NOT_COMPARED)))
        whole = found.whole.comparison if found.whole is not None else None
        return Tuned(
            trials,
            found.whole.candidates if found.whole is not None else (),
            whole,
            whole.joules_before if whole is not None else statistics.fmean(joules for _, joules in base),
            whole.seconds_before if whole is not None else statistics.median(run.seconds for run, _ in base),
            self._metered.meter,
            self._metered.estimated,
            self._metered.machine().label,
            interrupted or found.interrupted,
            self._seed is not None,
            found.equal.candidates if found.equal is not None else (),
        )

    def _look_at_program(self) -> None:
        """Does it come to its end, how long does it take, and does it print the same again, with a seed if need be?"""
        self._runner.tell("running the program as it is", 0.0)
        own, _ = self._runner.first(None)
        self._runner.tell("running the program as it is once more", 0.05)
        seeded, _ = self._runner.first(0)
        if not same_output(own, seeded, self._tolerance.rounding):
            self._seed = 0
