"""Both sides of a rule as functions: the side after is what the rule's own fix makes of the side before."""

from __future__ import annotations

import functools
import os

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")


@functools.cache
def _sides(name):
    from energy_code import rules
    from energy_measure.comparison.rule_cases import load

    return load(rules.ALL[name])


@pytest.fixture(scope="session")
def sides():
    """`sides(rule)` has `inputs(size, seed)`, `before(…)` and `after(…)`."""
    return lambda rule: _sides(rule.name)
