"""NumPy's functions, and `train_test_split`."""

from __future__ import annotations

from typing import Any

from energy_code.static_shapes.libraries import numpy_parameters, python_calls
from energy_code.static_shapes.operations import arrays, rules
from energy_code.static_shapes.operations.creating import NUMPY_RANDOM
from energy_code.static_shapes.values.kinds import (
    UNKNOWN,
    Array,
    Items,
    Name,
)
from energy_code.static_shapes.values.structures import (
    has_unknown,
)

GENERATORS = ("numpy.random.default_rng", "numpy.random.RandomState", "numpy.random.Generator")


def called(dotted: str, given: list[Any], named: dict[str, Any]) -> Any:
    """What a function of NumPy gives."""
    if dotted in GENERATORS:
        return Name("numpy.random")
    name = dotted.rpartition(".")[2]
    random = dotted.startswith("numpy.random.")
    names = numpy_parameters.PARAMETERS.get(f"random.{name}" if random else name, ())
    bound = {names[at] if at < len(names) else f"#{at}": value for at, value in enumerate(given)} | named
    if any(
        has_unknown(value) for key, value in bound.items() if key not in ("low", "high", "loc", "scale", "p")
    ):
        return UNKNOWN
    if random:
        rule = NUMPY_RANDOM.get(name)
        return UNKNOWN if rule is None else rule(name, bound, True)
    if name in ("float32", "float64", "int32", "int64", "uint8") and given:
        return arrays.array_of(given[0], name)
    if name == "ceil" and given and isinstance(given[0], (int, float)):
        return python_calls.FUNCTIONS["math.ceil"](given, {})
    if name in ("prod",) and given and isinstance(given[0], tuple):
        return python_calls.FUNCTIONS["math.prod"](given, {})
    return rules.result("eye" if name == "identity" else name, bound, True)


def train_test_split(given: list[Any], named: dict[str, Any]) -> Any:
    """`sklearn.model_selection.train_test_split`."""
    tested, trained = named.get("test_size"), named.get("train_size")
    found = Items()
    for each in given:
        count = each.shape[0]
        if count is None:
            parts: list[int | None] = [None, None]
        elif isinstance(tested, int):
            parts = [count - tested, tested]
        else:
            share = (
                tested if isinstance(tested, float) else 1 - trained if isinstance(trained, float) else 0.25
            )
            test = -int(-count * share // 1)
            parts = [count - test, test]
        found += [Array(each.dtype, (part, *each.shape[1:]), True) for part in parts]
    return found
