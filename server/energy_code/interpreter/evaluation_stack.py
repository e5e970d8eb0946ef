"""Which evaluations are under way, and which of them a cycle leads back to."""

from __future__ import annotations

from energy_code.interpreter.summary import Summary
from energy_code.process.budget import Budget

NO_CYCLE = 1 << 30


class EvaluationStack:
    """Answers how deep evaluations are nested, who asks, and how far up the stack a cycle reaches."""

    __slots__ = ("asked", "asker", "budget", "cycle_head", "depth")

    def __init__(self) -> None:
        self.depth = 0
        self.asked = 0
        """How many kept evaluations are being asked their questions again, each because of the one before."""
        self.budget = Budget()
        self.asker: Summary | None = None
        """The evaluation that runs, or whose questions are asked again."""
        self.cycle_head = NO_CYCLE
        """The depth of the outermost running evaluation whose unfinished result somebody above it has used."""

    @property
    def in_cycle(self) -> bool:
        """True while results rest on one that is not finished."""
        return self.cycle_head != NO_CYCLE

    def use_unfinished(self, summary: Summary) -> None:
        """Somebody looks at an evaluation that runs: all between them is provisional."""
        self.cycle_head = min(self.cycle_head, summary.provisional)
