"""Measured evidence for substitution rules: both sides at several sizes, eager and as a graph."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from energy_data.model import RuleEvidence
from energy_measure.comparison.pairs import PAIRS, Comparison, compare_callables
from energy_measure.comparison.windows import MeteredProcess
from energy_measure.statistics import holm

Mode = Literal["eager", "graph"]


class UnequalOutputsError(Exception):
    """The two sides do not compute the same: their comparison would be no evidence."""


@dataclass(frozen=True, slots=True)
class RuleCase:
    """Two callables without arguments that should do the same, one cheaper."""

    rule: str
    size: str
    mode: Mode
    before: Callable[[], Any]
    after: Callable[[], Any]


def measure_case(
    case: RuleCase,
    metered: MeteredProcess,
    *,
    pairs: int = PAIRS,
    tensorflow: str = "",
    finish: Callable[[], object] | None = None,
    difference: Callable[[Any, Any], str] | None = None,
) -> RuleEvidence:
    """Compare the sides of one case. `difference` says in words where outputs differ, empty if they do
    not."""
    if difference is not None and (words := difference(case.before(), case.after())):
        raise UnequalOutputsError(f"{case.rule} ({case.size}, {case.mode}): the outputs differ, {words}")
    found = compare_callables(case.before, case.after, metered, pairs=pairs, finish=finish)
    return evidence(case, found, metered, tensorflow)


def evidence(case: RuleCase, found: Comparison, metered: MeteredProcess, tensorflow: str) -> RuleEvidence:
    """A comparison as the database keeps it."""
    return RuleEvidence(
        rule=case.rule,
        size=case.size,
        mode=case.mode,
        pairs=found.pairs,
        ratio=found.ratio,
        low=found.low,
        high=found.high,
        p_value=found.p_value,
        a12=found.a12,
        control_ratio=found.control_ratio,
        joules_before=found.joules_before,
        machine=metered.machine().label,
        meter=metered.meter,
        estimated=metered.estimated,
        measured=datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        tensorflow=tensorflow,
    )


def corrected(rows: Sequence[RuleEvidence]) -> list[RuleEvidence]:
    """The same rows with p values that hold for all of them together (Holm)."""
    p_values = holm([row.p_value for row in rows])
    return [replace(row, p_value=p_value) for row, p_value in zip(rows, p_values, strict=True)]
