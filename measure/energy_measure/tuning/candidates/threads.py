"""One thread instead of a pool: small operations take longer to share out than to do. Costs time where they are large."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from energy_measure.tuning.candidate import Candidate, ProgramFile

ORDER = 30
ONE = {"TF_NUM_INTRAOP_THREADS": "1", "TF_NUM_INTEROP_THREADS": "1", "OMP_NUM_THREADS": "1"}


def find(sources: Sequence[ProgramFile]) -> Iterator[Candidate]:
    """For every program that does not set its threads itself."""
    if not any(b"threading.set_in" in source.text or b"OP_THREADS" in source.text for source in sources):
        yield Candidate(
            "one-thread",
            "one thread (environment)",
            "",
            0,
            environment=ONE,
            note="may take longer by the clock",
        )
