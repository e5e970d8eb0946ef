"""Several steps per call: pays for small dense models; costs in convolutional, recurrent and text models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from energy_measure.tuning.candidate import Candidate, ProgramFile
from energy_measure.tuning.candidates.rule_fixes import fixes_of
from energy_measure.tuning.compile_calls import IN_LAYERS, with_compile_argument

ORDER = 40
STEPS = 16


def find(sources: Sequence[ProgramFile]) -> Iterator[Candidate]:
    """Where the rule sees such a model, else for a file that has no layer for which it is known to be dearer."""
    by_rule = list(fixes_of(sources, ("steps-per-execution",)))
    yield from by_rule
    for source in sources:
        if not by_rule and IN_LAYERS.search(source.text) is None:
            argument = f"steps_per_execution={STEPS}"
            yield from with_compile_argument(
                source, argument, "steps-per-execution", "several steps per call"
            )
