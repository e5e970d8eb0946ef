"""What a user can mend: told in one sentence that says what to do next."""

from __future__ import annotations


class MeasureProblem(Exception):  # noqa: N818
    """A measurement cannot begin; the message says why and what to do."""
