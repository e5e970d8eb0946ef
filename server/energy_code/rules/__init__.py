"""The substitution rules, one file each: a new file in this folder is a new rule, nothing else changes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from energy_code import advice
from energy_code.rule_engine.context import Edit
from energy_code.rule_engine.dispatch import index_of
from energy_code.rule_engine.finding import Finding
from energy_code.rule_engine.loading import load
from energy_code.rule_engine.rule import Rule
from energy_code.rule_engine.runner import find as _find

if TYPE_CHECKING:
    from energy_code.analysis.analysis import Analysis

__all__ = ["ALL", "Edit", "Finding", "Rule", "find"]

ALL = load((__path__, __name__), (advice.__path__, advice.__name__))
"""Every rule by name, the advice that does not save included."""
_EVERY = index_of(tuple(ALL.values()))


def find(analysis: Analysis, rules: Iterable[Rule] | None = None) -> list[Finding]:
    """What the rules (all of them, unless some are named) would write differently in a file."""
    return _find(analysis, _EVERY if rules is None else index_of(tuple(rules)))
