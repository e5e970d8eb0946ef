"""What is known of one candidate, and of all of them in the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from energy_measure.comparison.pairs import Comparison
from energy_measure.tuning.candidate import Candidate
from energy_measure.tuning.likeness import Results
from energy_measure.tuning.workshop import VersionRun

Verdict = Literal["saves", "no difference", "dearer", "failed"]
Run = tuple[VersionRun, float]
"""A run of a version, with its joules."""
Progress = Callable[[str, float, float], None]
"""Hears what is done, how far (0 to 1), and at most how many seconds are left."""


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
    metrics: tuple[Mapping[str, float], Mapping[str, float]] | None = None
    """What training gave, or else what was printed with a name, on average, before and after."""
    note: str = ""

    @property
    def explored(self) -> float:
        """Energy over that of the program, on average; infinite where it was not tried."""
        return sum(self.ratios) / len(self.ratios) if self.ratios else float("inf")


@dataclass(frozen=True, slots=True)
class Tuned:
    """What tuning found."""

    trials: Sequence[Trial]
    chosen: Sequence[Candidate]
    """Proven together, with results equal or within the noise of seeds: what the patch holds."""
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
    equal: Sequence[Candidate] = ()
    """Those of the chosen that were proven with equal results: what `--apply` writes."""
