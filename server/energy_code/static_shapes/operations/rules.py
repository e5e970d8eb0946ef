"""Which rule says what an operation gives, by its short name: NumPy's, TensorFlow's and Keras' agree on most of them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from energy_code.static_shapes.operations import (
    choosing,
    contracting,
    creating,
    elementwise,
    images,
    rearranging,
    texts,
)
from energy_code.static_shapes.operations.arguments import Given, Rule
from energy_code.static_shapes.values.kinds import (
    UNKNOWN,
)

RULES: Mapping[str, Rule] = {
    **elementwise.RULES,
    **creating.RULES,
    **rearranging.RULES,
    **choosing.RULES,
    **contracting.RULES,
    **images.RULES,
    **texts.RULES,
}


def result(name: str, bound: Given, numpy: bool, before: Mapping[str, Rule] = MappingProxyType({})) -> Any:
    """The value of a call; UNKNOWN where that is not known. `before`: rules that come before those here."""
    rule = before.get(name) or RULES.get(name)
    if rule is None:
        return UNKNOWN
    try:
        return rule(name, bound, numpy)
    except (ValueError, TypeError, LookupError, ZeroDivisionError, OverflowError, AttributeError):
        return UNKNOWN
