"""Exploring makes no claims: each candidate runs once, and what is left of the better half once more."""

from __future__ import annotations

import math
from collections.abc import Sequence

from energy_measure.host.processes import ran_out_of_cpu
from energy_measure.tuning.candidate import Candidate, together
from energy_measure.tuning.likeness import Tolerance, comparable, same_output
from energy_measure.tuning.runner import ProgramFailed, Runner
from energy_measure.tuning.trial import Trial
from energy_measure.tuning.workshop import Version, stopped

PROMISING, CLEAR = 0.97, 0.9
"""Energy of a candidate over that of the program, above which exploring lets it go; below which it needs no second look."""
DEARER = 1.25
"""From here on the note says that a candidate looked dearer; the verdict is for what was confirmed."""
LOOKED_DEARER = "looked dearer in a first run, which is not proven"
STOPPED_AT = 1.5
"""Times the program's CPU time: a version that takes more is not run to its end."""
AT_ONCE = 4
"""Candidates between two runs of the program as it is: the load of a machine changes."""
KEPT = 5


def version_of(candidates: Sequence[Candidate]) -> Version:
    """The program with some candidates."""
    return Version(*together(candidates))


def explore(
    runner: Runner, trials: Sequence[Trial], seed: int | None, tolerance: Tolerance, reserve: int
) -> list[Trial]:
    """Those worth proving, the best first; `reserve` runs are left for proving them."""
    waiting = list(trials)
    while waiting and (room := runner.runs_left - reserve - 1) > 0:
        # With little time in small groups: how long runs take may change meanwhile.
        group = waiting[: max(1, min(AT_ONCE, room // 2))]
        del waiting[: len(group)]
        _try(runner, group, seed, tolerance, f"exploring {_names(group)}", 0.1)
    left = _promising(trials)
    left = left[: max(3, math.ceil(len(left) / 2))]
    unclear = [trial for trial in left if trial.explored > CLEAR]
    if unclear and runner.runs_left - reserve > len(unclear):
        _try(runner, unclear, seed, tolerance, f"exploring {_names(unclear)} again", 0.3)
    return _promising(left)[:KEPT]


def _promising(trials: Sequence[Trial]) -> list[Trial]:
    good = [trial for trial in trials if trial.verdict != "failed" and trial.explored < PROMISING]
    return sorted(good, key=lambda trial: trial.explored)


def _names(trials: Sequence[Trial]) -> str:
    return ", ".join(trial.candidate.name for trial in trials)


def _try(
    runner: Runner, group: Sequence[Trial], seed: int | None, tolerance: Tolerance, what: str, part: float
) -> None:
    """The program, and each of some candidates, once."""
    runner.tell(what, part)
    versions = [version_of([trial.candidate]) for trial in group]
    try:
        found = runner.round(versions, seed=seed, most=STOPPED_AT)
    except ProgramFailed:
        return  # as if there had been no time
    base, joules = found[0]
    for trial, (outcome, taken) in zip(group, found[1:], strict=True):
        if ran_out_of_cpu(outcome.status):
            trial.note = f"{LOOKED_DEARER}: stopped at {STOPPED_AT:g} times the program's CPU time"
            trial.ratios.append(STOPPED_AT)
        elif stopped(outcome, runner.workshop.entry):
            trial.verdict, trial.note = "failed", f"the changed program fails: {outcome.error}"
        else:
            trial.ratios.append(taken / joules)
            trial.seconds = outcome.seconds
            trial.note = LOOKED_DEARER if trial.explored >= DEARER else ""
            same = comparable(base) and same_output(base, outcome, tolerance)
            trial.results = "equal" if same and (trial.results == "equal" or len(trial.ratios) == 1) else None
