"""What differs between two measured runs: the whole, its phases, its calls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from energy_data.model import PHASES, Measurement, Phase
from energy_lsp.runs.history import of_run, same_call


@dataclass(frozen=True, slots=True)
class Difference:
    """Something in two runs; None where it is in one of them alone, or not resolved."""

    name: str
    place: str
    before: float | None
    after: float | None

    @property
    def difference(self) -> float:
        """Joules that the second run took more."""
        return (self.after or 0.0) - (self.before or 0.0)


def phase_changes(before: Sequence[Phase], after: Sequence[Phase]) -> list[Difference]:
    """The phases of both, in their order."""
    first = {phase.name: phase.joules for phase in before}
    second = {phase.name: phase.joules for phase in after}
    return [
        Difference(name, "", first.get(name), second.get(name))
        for name in PHASES
        if first.get(name) or second.get(name)
    ]


def call_changes(before: Iterable[Measurement], after: Iterable[Measurement]) -> list[Difference]:
    """The calls of both, those that changed most first; a call that moved is the same call."""
    left = list(before)
    found = []
    for call in after:
        old = next((one for one in left if same_call(one, call)), None)
        if old is not None:
            left.remove(old)
        found.append(
            Difference(call.api, f"{call.file}:{call.line}", of_run(old) if old else None, of_run(call))
        )
    found += [Difference(call.api, f"{call.file}:{call.line}", of_run(call), None) for call in left]
    known = [change for change in found if change.before is not None or change.after is not None]
    return sorted(known, key=lambda change: -abs(change.difference))
