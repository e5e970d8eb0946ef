"""The engine behind the substitution rules; the rules themselves are the files of `energy_code.rules`."""

from energy_code.rule_engine.context import Edit, Match, RuleContext
from energy_code.rule_engine.evidence.workload import Array, Workload
from energy_code.rule_engine.finding import Finding
from energy_code.rule_engine.rule import (
    EAGER,
    EVERYWHERE,
    NOT_JIT,
    Category,
    Change,
    Rule,
    Safety,
)

__all__ = [
    "EAGER",
    "EVERYWHERE",
    "NOT_JIT",
    "Array",
    "Category",
    "Change",
    "Edit",
    "Finding",
    "Match",
    "Rule",
    "RuleContext",
    "Safety",
    "Workload",
]
