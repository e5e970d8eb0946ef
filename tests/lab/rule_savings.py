"""A saving as `energy-lsp rules measure` stores it, for tests of what is said and suggested because of it."""

from __future__ import annotations

from energy_data.model import RuleEvidence

SAVES = RuleEvidence(
    rule="pow2",
    size="medium",
    mode="eager",
    pairs=15,
    ratio=0.59,
    low=0.56,
    high=0.62,
    p_value=0.0003,
    a12=0.02,
    control_ratio=1.0,
    joules_before=0.5,
    machine="Some CPU",
    meter="rapl",
    estimated=False,
    measured="2025-01-02T03:04:05+00:00",
    tensorflow="2.21.0",
)
