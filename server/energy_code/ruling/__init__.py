"""The engine behind the substitution rules; the rules themselves are the files of `energy_code.rules`."""

from energy_code.ruling.place import Edit, Match, Place
from energy_code.ruling.rule import (
    EAGER,
    EVERYWHERE,
    NOT_JIT,
    Category,
    Change,
    Finding,
    Rule,
    Safety,
)
from energy_code.ruling.workload import Array, Workload

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
    "Place",
    "Rule",
    "Safety",
    "Workload",
]
