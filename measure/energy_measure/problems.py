"""What a user can mend: told in one sentence that says what to do next."""

from __future__ import annotations

from energy_data.problems import Problem


class MeasureProblem(Problem):
    """A measurement cannot begin; the message says why and what to do."""
