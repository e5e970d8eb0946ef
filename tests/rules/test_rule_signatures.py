"""The parameters that patterns rely on are those of the installed TensorFlow and Keras."""

from __future__ import annotations

import inspect

import pytest

from energy_code import rules
from energy_code.rule_engine.patterns.signatures import SIGNATURES, parse

STATED = {**SIGNATURES, **dict(pair for rule in rules.ALL.values() for pair in rule.signatures)}


def resolve(name):
    import keras
    import tensorflow as tf

    found = {"tf": tf, "keras": keras}[name.partition(".")[0]]
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    return found


@pytest.mark.tensorflow
@pytest.mark.xdist_group("rules-tensorflow")
@pytest.mark.parametrize("name", sorted(STATED))
def test_a_stated_signature_is_the_real_one(name):
    real = list(inspect.signature(resolve(name)).parameters.values())
    stated = parse(STATED[name])
    assert list(stated) == [parameter.name for parameter in real][: len(stated)]
    for (parameter, default), actual in zip(stated.items(), real, strict=False):
        assert (default is None) == (actual.default is inspect.Parameter.empty), parameter
        if default in ("None", "True", "False"):
            assert repr(actual.default) == default, parameter
