"""Exploring candidates, then proving those that look good on fresh runs.

Exploring makes no claims: each round runs the program as it is and every candidate left once, in random order, and keeps
the better half. What is left is confirmed in interleaved rounds with a control, with Holm over the confirming tests alone.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from energy_measure.comparison.pairs import Comparison, NotResolvedError, compare
from energy_measure.comparison.windows import Metered
from energy_measure.problems import MeasureProblem
from energy_measure.statistics import holm
from energy_measure.tuning.candidate import Candidate, together
from energy_measure.tuning.likeness import Results, Tolerance, judged, same_output
from energy_measure.tuning.workshop import Outcome, Version, Workshop, stopped

Verdict = Literal["saves", "no difference", "dearer", "failed"]
PROMISING = 0.97
"""Energy of a candidate over that of the program, above which exploring lets it go."""
FEWEST, MOST = 6, 15
"""Confirming rounds: with fewer than six no test can tell, more than fifteen are not worth the time."""
SINGLES = 2
"""How many are confirmed singly beside all of them together, where there is time."""
REST_SECONDS = 0.3
LONGEST_RUN = 1 / 8
"""Part of the budget that a run may take: with less than eight runs nothing can be said."""

Progress = Callable[[str, float, float], None]
"""Hears what is done, how far (0 to 1), and about how many seconds are left."""


@dataclass(slots=True)
class Trial:
    """What is known of one candidate."""

    candidate: Candidate
    ratios: list[float] = field(default_factory=list)
    """Energy over that of the program, while exploring."""
    seconds: float | None = None
    results: Results | None = None
    verdict: Verdict = "no difference"
    comparison: Comparison | None = None
    p_value: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Tuned:
    """What tuning found."""

    trials: Sequence[Trial]
    chosen: Sequence[Candidate]
    """The equal ones, proven together: what the patch holds."""
    before: Comparison | None
    """The program against its version with all that was chosen; None when nothing was confirmed."""
    joules: float
    """Of one run of the program as it is."""
    seconds: float
    meter: str
    estimated: bool
    machine: str
    interrupted: bool
    seeded: bool
    """Seeds were set from outside, because the program prints something else each time."""


class Tuning:
    """One search through the candidates of a program."""

    def __init__(
        self, workshop: Workshop, metered: Metered, budget: float, tolerance: Tolerance, progress: Progress
    ) -> None:
        self._workshop, self._metered, self._progress = workshop, metered, progress
        self._tolerance = tolerance
        self._budget, self._begin = budget, time.monotonic()
        self._chance = random.Random(0)
        self._seed: int | None = None
        self._base: list[tuple[Outcome, float]] = []

    def run(self, candidates: Sequence[Candidate]) -> Tuned:
        """Everything, as far as the time goes; Ctrl-C gives what is known by then."""
        trials = [Trial(candidate) for candidate in candidates]
        chosen: list[Candidate] = []
        before: Comparison | None = None
        interrupted = False
        try:
            self._look_at_program()
            kept = self._explore(trials)
            if kept:
                before, chosen = self._confirm(kept)
        except KeyboardInterrupt:
            if not self._base:
                raise
            interrupted = True
        for trial in trials:
            if not trial.ratios and trial.verdict == "no difference" and not trial.note:
                trial.note = "not tried: no time was left"
        joules = float(np.mean([joules for _, joules in self._base]))
        seconds = float(np.median([outcome.seconds for outcome, _ in self._base]))
        return Tuned(
            trials,
            chosen,
            before,
            before.joules_before if before is not None else joules,
            before.seconds_before if before is not None else seconds,
            self._metered.meter,
            self._metered.estimated,
            self._metered.machine.label,
            interrupted,
            self._seed is not None,
        )

    # the program as it is ----------------------------------------------------------------------------------------

    def _look_at_program(self) -> None:
        """Two runs: does it come to its end, how long does it take, does it print the same again?"""
        self._tell("running the program as it is", 0.0)
        for _ in range(2):
            self._base += self._round([Version()])
        if not same_output(self._base[0][0], self._base[1][0], self._tolerance):
            self._seed = 0
            self._base = []
            for _ in range(2):
                self._base += self._round([Version()], seed=0)

    def _left(self) -> float:
        return self._budget - (time.monotonic() - self._begin)

    def _runs_left(self) -> int:
        return int(self._left() / (self._run_seconds() + REST_SECONDS))

    def _run_seconds(self) -> float:
        return float(np.median([outcome.seconds for outcome, _ in self._base]))

    # exploring ---------------------------------------------------------------------------------------------------

    def _explore(self, trials: Sequence[Trial]) -> list[Trial]:
        left = list(trials)
        for number in range(2):
            room = max(0, self._runs_left() - 3 * FEWEST) - 1  # confirming comes first
            if number and len(left) <= 1:
                break
            left = left[: max(room, 1 if self._runs_left() > 3 * FEWEST + 2 else 0)]
            if not left:
                break
            self._try_each(left, number)
            left = [trial for trial in left if trial.verdict != "failed" and self._average(trial) < PROMISING]
            left.sort(key=self._average)
            left = left[: max(1, math.ceil(len(left) / 2))] if len(left) > 3 else left
        return left

    def _try_each(self, left: Sequence[Trial], number: int) -> None:
        """One round: the program, and every candidate, each once."""
        versions = [Version(), *(_version([trial.candidate]) for trial in left)]
        self._tell(f"exploring {len(left)} candidates, round {number + 1}", 0.1 + 0.2 * number)
        found = self._round(versions, seed=self._seed, failing=True)
        base, joules = found[0]
        self._base.append(found[0])
        for trial, (outcome, taken) in zip(left, found[1:], strict=True):
            problem = stopped(outcome, self._workshop.entry)
            if problem:
                trial.verdict, trial.note = "failed", f"the changed program fails: {outcome.error}"
                continue
            trial.ratios.append(taken / joules)
            trial.seconds = outcome.seconds
            if same_output(base, outcome, self._tolerance):
                trial.results = trial.results or "equal"
            elif self._seed is None and not trial.candidate.changes_results:
                trial.results = None  # to be judged over seeds, if it is worth it

    def _average(self, trial: Trial) -> float:
        return float(np.mean(trial.ratios)) if trial.ratios else math.inf

    # confirming --------------------------------------------------------------------------------------------------

    def _confirm(self, kept: Sequence[Trial]) -> tuple[Comparison | None, list[Candidate]]:
        """Equal ones together (and singly, where there is time), on fresh runs."""
        for trial in kept:
            if trial.results != "equal":
                self._judge_over_seeds(trial)
        # What a patch cannot hold (the environment) is proven by itself, or the patch would claim its saving too.
        equal = [trial for trial in kept if trial.results == "equal" and trial.candidate.edits]
        others = [trial for trial in kept if trial.results is not None and trial not in equal]
        groups: list[list[Trial]] = [equal] if equal else []
        singles = [[trial] for trial in (*equal, *others)] if len(equal) != 1 or others else []
        for group in singles[: SINGLES + len(others)]:
            if group not in groups and self._runs_left() >= (3 + len(groups)) * (FEWEST + 1):
                groups.append(group)
        if not groups or self._runs_left() < 3 * FEWEST // 2:
            for trial in kept:
                trial.note = "looked promising, but no time was left to prove it: give --budget more minutes"
            return None, []
        compared = self._compare(groups)
        for trial in kept:
            if trial.comparison is None and not trial.note:
                trial.note = "tried with the others, not alone"
        whole = compared[0] if equal else None
        if whole is None or not whole.differs or whole.ratio >= 1:
            return None, []
        for trial in equal:
            if trial.comparison is None:
                trial.verdict, trial.note = "saves", "proven together with the others"
        return whole, [trial.candidate for trial in equal if trial.verdict == "saves"]

    def _judge_over_seeds(self, trial: Trial) -> None:
        before, after = [], []
        for seed in range(1, 4):
            if self._runs_left() < 2 * FEWEST:
                break
            self._tell(f"{trial.candidate.name}: results over seeds", 0.5)
            found = self._round([Version(), _version([trial.candidate])], seed=seed, failing=True)
            if found[1][0].status != 0:
                trial.verdict, trial.note = "failed", f"the changed program fails: {found[1][0].error}"
                return
            before.append(found[0][0])
            after.append(found[1][0])
        if len(before) > 1:
            trial.results = judged(before, after, trial.candidate.changes_results, self._tolerance)

    def _compare(self, groups: Sequence[Sequence[Trial]]) -> list[Comparison | None]:
        """Interleaved rounds of the program, its control, and each group."""
        versions = [
            Version(),
            Version(),
            *(_version([trial.candidate for trial in group]) for group in groups),
        ]
        rounds = min(MOST, max(FEWEST, self._runs_left() // len(versions)))
        found: list[list[tuple[Outcome, float]]] = []
        for number in range(rounds):
            if number >= FEWEST and self._runs_left() < len(versions):
                break
            self._tell(f"confirming, round {number + 1} of {rounds}", 0.6 + 0.4 * number / rounds)
            seed = None if self._seed is None else 100 + number
            found.append(self._round(versions, seed=seed, failing=True))
            self._base += found[-1][:2]
        results = [self._result(group, number + 2, found) for number, group in enumerate(groups)]
        corrected = holm([result.p_value if result is not None else 1.0 for result in results])
        for group, result, p_value in zip(groups, results, corrected, strict=True):
            if len(group) == 1:
                _settle(group[0], result, p_value)
        return [
            result if result is not None and p_value < 0.05 else None
            for result, p_value in zip(results, corrected, strict=True)
        ]

    def _result(
        self, group: Sequence[Trial], place: int, found: Sequence[Sequence[tuple[Outcome, float]]]
    ) -> Comparison | None:
        if any(one[place][0].status != 0 for one in found):
            return None
        equal = all(trial.results == "equal" for trial in group)
        if equal and not all(same_output(one[0][0], one[place][0], self._tolerance) for one in found):
            for trial in group:
                trial.note = "prints something else in some runs"
                trial.results = "different"
            return None
        columns = [[one[index][1] for one in found] for index in (0, place, 1)]
        seconds = [float(np.median([one[index][0].seconds for one in found])) for index in (0, place)]
        try:
            return compare(columns[0], columns[1], columns[2], (seconds[0], seconds[1]))
        except NotResolvedError:
            return None

    # running -----------------------------------------------------------------------------------------------------

    def _round(
        self, versions: Sequence[Version], *, seed: int | None = None, failing: bool = False
    ) -> list[tuple[Outcome, float]]:
        """Each version once, in random order; outcomes and joules in the order of the versions."""
        order = self._chance.sample(range(len(versions)), len(versions))
        outcomes: dict[int, Outcome] = {}
        for index in order:
            self._metered.rest(REST_SECONDS)
            longest = self._budget * LONGEST_RUN if not self._base else max(60.0, 10 * self._run_seconds())
            outcomes[index] = self._workshop.run(versions[index], seed=seed, timeout=longest)
            problem = stopped(outcomes[index], self._workshop.entry)
            if problem and not (failing and index):
                raise MeasureProblem(problem)
        self._metered.rest(REST_SECONDS)
        joules = self._metered.joules([outcomes[index].window for index in range(len(versions))])
        return [(outcomes[index], float(joules[index])) for index in range(len(versions))]

    def _tell(self, what: str, part: float) -> None:
        self._progress(what, part, max(0.0, self._left()))


def _version(candidates: Sequence[Candidate]) -> Version:
    edits, environment = together(candidates)
    return Version(edits, environment)


def _settle(trial: Trial, result: Comparison | None, p_value: float) -> None:
    """The verdict of a candidate that was confirmed by itself."""
    trial.comparison, trial.p_value = result, p_value
    if result is None:
        return
    trial.seconds = result.seconds_after
    if result.differs and p_value < 0.05:
        trial.verdict = "saves" if result.ratio < 1 else "dearer"
