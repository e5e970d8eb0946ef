"""Proving what exploring left: interleaved rounds with a control on fresh runs, Holm over these tests alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from energy_measure.comparison.marks import printed_metrics
from energy_measure.comparison.pairs import Comparison, NotResolvedError, compare
from energy_measure.statistics import holm, median_interval, randomisation
from energy_measure.tuning.candidate import Candidate, fitting
from energy_measure.tuning.exploring import version_of
from energy_measure.tuning.likeness import Results, Tolerance, judged
from energy_measure.tuning.runner import ProgramFailed, Runner
from energy_measure.tuning.trial import Run, Trial
from energy_measure.tuning.workshop import Version, VersionRun, stopped

FEWEST, MOST = 3, 12
"""Rounds: fewer than three cannot tell (at best 1/27), more than twelve are not worth the time."""
ALPHA = 0.05
FAINT, SMALL = 0.93, 0.85
"""Energy over that of the program, as explored, above which more rounds are needed to tell."""
SPARE, AT_LEAST = 1.4, 0.75
"""Before more than one group is proven, there has to be time for runs that take so much longer. A single one is tried with
less time than it should take: the load of a machine changes, and nothing else is left to do with the time."""
NO_TIME = "looked promising, but no time was left to prove it: give --budget {} minutes"


@dataclass(slots=True)
class CandidateGroup:
    """Candidates that are tried together."""

    trials: Sequence[Trial]
    comparison: Comparison | None = None
    p_value: float = 1.0
    results: Results | None = None

    @property
    def candidates(self) -> list[Candidate]:
        """What is changed."""
        return [trial.candidate for trial in self.trials]

    @property
    def proven(self) -> bool:
        """Whether it saves, with the chance of error of all tests together."""
        found = self.comparison
        return found is not None and found.differs and self.p_value < ALPHA and found.ratio < 1

    @property
    def keeps_results(self) -> bool:
        """Whether a patch may hold it."""
        return self.results in ("equal", "seeds") and not any(one.environment for one in self.candidates)


@dataclass(frozen=True, slots=True)
class Confirmed:
    """What was proven."""

    whole: CandidateGroup | None = None
    """The cheapest version that a patch may hold."""
    equal: CandidateGroup | None = None
    """The cheapest of those whose results are equal."""
    interrupted: bool = False


def confirm(runner: Runner, kept: Sequence[Trial], seeded: bool, tolerance: Tolerance) -> Confirmed:
    """Prove candidates together, and singly where time allows."""
    groups = _groups(kept)
    while groups and _rounds(runner, groups, SPARE if len(groups) > 1 else AT_LEAST) < _needed(len(groups)):
        groups.pop()
    if not groups:
        for trial in kept:
            trial.note = NO_TIME.format(runner.enough_minutes)
        return Confirmed()
    unequal = any(trial.results != "equal" for group in groups for trial in group.trials)
    found, interrupted = _run(runner, groups, seeds=seeded or unequal)
    del groups[len(found[0]) - 2 if found else 1 :]  # there was no time for the others
    for number, group in enumerate(groups):
        _judge(runner, group, [[*one[:2], one[number + 2]] for one in found], tolerance)
    for group, p_value in zip(groups, holm([group.p_value for group in groups]), strict=True):
        group.p_value = p_value
    for group in groups:
        if len(group.trials) == 1:
            _decide(group)
    whole = _cheapest([group for group in groups if group.proven and group.keeps_results])
    equal = _cheapest(
        [group for group in groups if group.proven and group.results == "equal" and group.keeps_results]
    )
    _tell_of_the_rest(kept, groups, whole, NO_TIME.format(runner.enough_minutes))
    return Confirmed(whole, equal, interrupted)


def _groups(kept: Sequence[Trial]) -> list[CandidateGroup]:
    """What is proven, the most wanted first. What a patch cannot hold is proven by itself."""
    fixes = [trial for trial in kept if trial.candidate.edits and not trial.candidate.changes_results]
    fixes = fitting(fixes)
    equal = [trial for trial in fixes if trial.results == "equal"]
    together = [group for group in (fixes, equal) if group]
    wanted = together if len(fixes) != len(equal) else together[:1]
    wanted += [[trial] for trial in (*fixes, *(trial for trial in kept if trial not in fixes))]
    return [CandidateGroup(group) for number, group in enumerate(wanted) if group not in wanted[:number]]


def _needed(tests: int) -> int:
    """The fewest rounds with which so many tests could tell at all."""
    rounds = FEWEST
    while tests / 3**rounds >= ALPHA:
        rounds += 1
    return rounds


def _rounds(runner: Runner, groups: Sequence[CandidateGroup], spare: float = 1.0) -> int:
    """How many rounds are worth it, and there is time for, if all of them take so many times longer."""
    explored = [min(trial.explored for trial in group.trials) for group in groups]
    faintest = max((one for one in explored if one < 1.0), default=0.0)
    more = 4 if faintest > FAINT else 2 if faintest > SMALL else 1
    wanted = min(MOST, _needed(len(groups)) + more)
    return min(wanted, int(runner.left / (spare * _round_seconds(runner, groups))))


def _round_seconds(runner: Runner, groups: Sequence[CandidateGroup]) -> float:
    """The program, its control, and each group, which takes no longer than its slowest part did while exploring."""
    one = runner.run_seconds
    taken = [max(trial.seconds or one for trial in group.trials) for group in groups]
    return 2 * one + sum(min(one, seconds) for seconds in taken)


def _run(runner: Runner, groups: Sequence[CandidateGroup], *, seeds: bool) -> tuple[list[list[Run]], bool]:
    """Rounds of the program, its control and each group; how many is decided before the first.

    Where rounds take longer than expected, the least wanted groups are given up, by the clock alone: with all of them no
    test might have the rounds that it needs. The answer has the runs of those that are left.
    """
    left = list(groups)
    rounds = max(_needed(len(left)), _rounds(runner, left))
    found: list[list[Run]] = []
    try:
        for number in range(rounds):
            while len(left) > 1 and _is_short_of_time(runner, left, len(found)):
                left.pop()
            if runner.left < AT_LEAST * _round_seconds(runner, left):
                break
            runner.tell(f"confirming, round {number + 1} of {rounds}", 0.4 + 0.6 * number / rounds)
            versions = [Version(), *(version_of(group.candidates) for group in left)]
            try:
                found.append(runner.round(versions, seed=number + 1 if seeds else None))
            except ProgramFailed:
                continue
    except KeyboardInterrupt:
        return _without_given_up(found, left), True
    return _without_given_up(found, left), False


def _is_short_of_time(runner: Runner, groups: Sequence[CandidateGroup], done: int) -> bool:
    """Whether the time is not enough for the rounds that so many tests need."""
    missing = _needed(len(groups)) - done
    return missing > 0 and runner.left < missing * _round_seconds(runner, groups)


def _without_given_up(found: Sequence[Sequence[Run]], left: Sequence[CandidateGroup]) -> list[list[Run]]:
    return [list(one[: 2 + len(left)]) for one in found]


def _judge(
    runner: Runner, group: CandidateGroup, found: Sequence[Sequence[Run]], tolerance: Tolerance
) -> None:
    """Energy and results of a group, from rounds of the program, its control and the group."""
    whole = [one for one in found if not stopped(one[1][0], runner.workshop.entry)]
    failed = next((one[2][0] for one in whole if stopped(one[2][0], runner.workshop.entry)), None)
    if failed is not None:
        for trial in group.trials if len(group.trials) == 1 else ():
            trial.verdict, trial.note = "failed", f"the changed program fails: {failed.error}"
        return
    if len(whole) < FEWEST:
        return
    may_change = any(trial.candidate.changes_results for trial in group.trials)
    before, after = [one[0][0] for one in whole], [one[2][0] for one in whole]
    group.results = judged(before, after, may_change, tolerance)
    if len(group.trials) == 1:
        group.trials[0].metrics = (_means(before), _means(after))
    columns = [[one[index][1] for one in whole] for index in range(3)]
    seconds = [float(np.median([one[index][0].seconds for one in whole])) for index in (0, 2)]
    try:
        group.comparison = compared(columns[0], columns[2], columns[1], (seconds[0], seconds[1]))
        group.p_value = group.comparison.p_value
    except NotResolvedError:
        return


def compared(
    before: Sequence[float], after: Sequence[float], control: Sequence[float], seconds: tuple[float, float]
) -> Comparison:
    """Each changed run against both runs of the program in its round."""
    plain = compare(before, after, control, seconds)
    both = (np.asarray(before) + np.asarray(control)) / 2
    ratios = np.asarray(after) / both
    interval = median_interval(ratios)
    return replace(
        plain,
        before=tuple(both.tolist()),
        ratio=float(np.median(ratios)),
        low=interval.low,
        high=interval.high,
        p_value=randomisation(after, before, control),
    )


def _means(runs: Sequence[VersionRun]) -> dict[str, float]:
    """Of the metrics that all runs gave, else of the numbers that they printed with a name."""
    results = [dict(run.named) or printed_metrics(run.output) for run in runs]
    names = [name for name in results[0] if all(name in one for one in results)]
    means = {name: float(np.mean([one[name] for one in results])) for name in names}
    return {name: mean for name, mean in means.items() if np.isfinite(mean)}


def _decide(group: CandidateGroup) -> None:
    """The verdict of a candidate that was confirmed by itself."""
    [trial], found = group.trials, group.comparison
    trial.results = group.results or trial.results
    if found is None:
        return
    trial.comparison, trial.p_value, trial.seconds = found, group.p_value, found.seconds_after
    trial.verdict = "no difference"
    if found.differs and group.p_value < ALPHA:
        trial.verdict = "saves" if found.ratio < 1 else "dearer"


def _cheapest(groups: Sequence[CandidateGroup]) -> CandidateGroup | None:
    return min(groups, key=lambda group: group.comparison.ratio if group.comparison else 1.0, default=None)


def _tell_of_the_rest(
    kept: Sequence[Trial], groups: Sequence[CandidateGroup], whole: CandidateGroup | None, no_time: str
) -> None:
    """What is known of candidates that were not proven singly."""
    for trial in kept:
        if trial.comparison is not None or trial.verdict == "failed" or trial.note:
            continue
        if whole is not None and trial in whole.trials:
            trial.verdict, trial.note = "saves", "proven together with the others"
            trial.results = whole.results
        elif any(trial in group.trials and group.comparison is not None for group in groups):
            trial.note = "tried with the others, not alone"
        else:
            trial.note = no_time
