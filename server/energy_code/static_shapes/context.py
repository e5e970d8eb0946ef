"""Where a walk through a program stands, and how much of it is left."""

from __future__ import annotations

from energy_code.static_shapes.limits import STEPS


class OutOfBudgetError(Exception):
    """The program is too large to be gone through in the time of a hover."""


class Context:
    """Answers how certain it is that what is looked at happens, for whom it is looked at, and whether time is left."""

    def __init__(self, steps: int = STEPS) -> None:
        self.steps = steps
        self.uncertain = 0
        """Depth of what may or may not happen: branches of unknown tests, bodies of unknown loops."""
        self.inside = 0
        """Depth of methods of models whose layers are gone through."""
        self.silent = 0
        """Depth of what is gone through only to know what it gives."""
        self.turns = 1
        """How often what is looked at happens: turns of loops that are not gone through one by one; 0 for a second look."""
        self.at = ("", 0)
        """The file and line of the call that is under way."""

    def step(self) -> None:
        """Count what was looked at."""
        self.steps -= 1
        if self.steps < 0:
            raise OutOfBudgetError
