"""Runs of a program's versions under the meters, within the time that there is."""

from __future__ import annotations

import math
import random
import statistics
import time
from collections.abc import Sequence

from energy_measure.comparison.windows import MeteredProcess
from energy_measure.host.processes import was_killed
from energy_measure.problems import MeasureProblem
from energy_measure.tuning.trial import Progress, Run
from energy_measure.tuning.workshop import Version, VersionRun, Workshop, stopped

REST_SECONDS = 0.3
LONGEST_RUN = 1 / 8
"""Part of the budget that a run may take: with less than eight runs nothing can be said."""
SLOWER, AT_LEAST = 3.0, 30.0
"""How many times longer than the program a changed one may take by the clock, beside so many seconds."""


GRACE = 0.02
"""Part of the budget that the last round may take beyond it."""
TO_PROVE = 20
"""Runs with which a few candidates can be explored and the best of them proven."""


class ProgramFailed(Exception):  # noqa: N818
    """The program as it is did not come to its end this time, though it did before, or the time was over."""


class Runner:
    """Counts the time, and keeps what the program as it is took."""

    def __init__(
        self, workshop: Workshop, metered: MeteredProcess, budget: float, progress: Progress
    ) -> None:
        self.workshop, self.metered = workshop, metered
        self._progress, self._budget, self._begin = progress, budget, time.monotonic()
        self._chance = random.Random(0)
        self._told = ("", 0.0)
        self.base: list[Run] = []
        """All runs of the program as it is."""

    @property
    def left(self) -> float:
        """Seconds."""
        return self._budget - (time.monotonic() - self._begin)

    @property
    def run_seconds(self) -> float:
        """Of one run, with what comes with it, as things are now: the load of a machine changes."""
        return statistics.median(outcome.seconds for outcome, _ in self.base[-5:]) + REST_SECONDS

    @property
    def runs_left(self) -> int:
        """How many runs there is time for."""
        return max(0, int(self.left / self.run_seconds))

    @property
    def enough_minutes(self) -> int:
        """A budget that should do, as long as runs take now; more than there was."""
        return math.ceil(max(TO_PROVE * self.run_seconds, 1.25 * self._budget) / 60)

    @property
    def cpu_seconds(self) -> float:
        """CPU time of one run."""
        return statistics.median(outcome.cpu_seconds for outcome, _ in self.base)

    def tell(self, what: str, part: float) -> None:
        """Say what comes next."""
        self._told = (what, part)
        self.remind()

    def remind(self) -> None:
        """Say again what is being done, with the time that is left now."""
        self._progress(*self._told, max(0.0, self.left))

    def first(self, seed: int | None) -> Run:
        """A run of the program as it is. Raises MeasureProblem when it does not come to its end."""
        [run] = self._runs([Version()], seed, self._budget * LONGEST_RUN, 0.0)
        if problem := stopped(run[0], self.workshop.entry):
            raise MeasureProblem(problem)
        self.base.append(run)
        return run

    def round(self, versions: Sequence[Version], *, seed: int | None, most: float = 0.0) -> list[Run]:
        """The program and other versions, each once in random order; the order of the answer is theirs.

        `most`: times the program's CPU time after which a changed version is stopped. Raises ProgramFailed.
        """
        longest = AT_LEAST + SLOWER * self.run_seconds
        found = self._runs([Version(), *versions], seed, longest, most)
        if stopped(found[0][0], self.workshop.entry):
            raise ProgramFailed
        self.base += [
            run for run, version in zip(found, [Version(), *versions], strict=True) if version == Version()
        ]
        return found

    def _runs(self, versions: Sequence[Version], seed: int | None, longest: float, most: float) -> list[Run]:
        outcomes: dict[int, VersionRun] = {}
        for index in self._chance.sample(range(len(versions)), len(versions)):
            self.metered.rest(REST_SECONDS)
            cpu = most * self.cpu_seconds if most and versions[index] != Version() else None
            left = self.left + GRACE * self._budget
            outcomes[index] = outcome = self.workshop.run(
                versions[index],
                seed=seed,
                timeout=max(0.0, min(longest, left)),
                cpu_seconds=cpu,
                remind=self.remind,
            )
            if was_killed(outcome.status) and left < longest:
                raise ProgramFailed
            self.remind()
        self.metered.rest(REST_SECONDS)
        joules = self.metered.joules([outcomes[index].window for index in range(len(versions))])
        return [(outcomes[index], float(joules[index])) for index in range(len(versions))]
