"""Both sides of a rule as functions: the side after is what the rule's own fix makes of the side before."""

from __future__ import annotations

import functools
import os
from types import SimpleNamespace

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")


@functools.cache
def _sides(name):
    from energy_code import rules
    from energy_code.ruling.programs import program

    source = program(rules.ALL[name])
    namespace: dict[str, object] = {"__name__": f"workload_{name}"}
    exec(compile(source, f"<workload of {name}>", "exec"), namespace)
    return SimpleNamespace(**namespace, source=source)


@pytest.fixture(scope="session")
def sides():
    """`sides(rule)` has `inputs(size, seed)`, `before(…)` and `after(…)`."""
    return lambda rule: _sides(rule.name)
