"""Both sides of every rule on real TensorFlow: outputs and gradients, eager and traced, odd inputs too."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from energy_code import rules
from energy_code.ruling.equality import difference
from energy_code.ruling.workload import SIZES, Array

pytestmark = [pytest.mark.tensorflow, pytest.mark.xdist_group("rules-tensorflow")]

RULES = [pytest.param(rule, id=name) for name, rule in rules.ALL.items()]
TRACED = [pytest.param(rule, id=name) for name, rule in rules.ALL.items() if rule.workload.graph]
WITH_GRADIENTS = [pytest.param(rule, id=name) for name, rule in rules.ALL.items() if rule.workload.gradients]
SAFE = [
    pytest.param(rule, id=name)
    for name, rule in rules.ALL.items()
    if rule.has_fix and rule.safety == "safe" and rule.workload.vary
]
REVIEWED = [
    pytest.param(rule, id=name)
    for name, rule in rules.ALL.items()
    if rule.has_fix and rule.safety == "review" and rule.workload.vary
]
ODD_FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 3.25, -2.5, 1e-30, 1e4, np.nan, np.inf, -np.inf)
TAME_FLOATS = (0.0, 1.0, -1.0, 0.5, 3.25, -2.5, 0.125, 7.0)


def check(rule, one, other):
    words = difference(one, other, rule.workload.tolerance, rule.workload.absolute)
    assert not words, f"{rule.name}: {words}"


@pytest.mark.parametrize("rule", RULES)
def test_both_sides_give_the_same(rule, sides):
    made = sides(rule)
    for size in SIZES if rule.workload.graph else SIZES[:2]:  # large pipelines and models only take longer
        check(rule, made.before(*made.inputs(size)), made.after(*made.inputs(size)))


@pytest.mark.parametrize("rule", TRACED)
def test_both_sides_give_the_same_inside_a_function(rule, sides):
    import tensorflow as tf

    made = sides(rule)
    before, after = (tf.function(side) for side in (made.before, made.after))
    for size in SIZES[:2]:
        check(rule, before(*made.inputs(size)), after(*made.inputs(size)))


def gradients(rule, function, inputs):
    import tensorflow as tf

    names = list(rule.workload.inputs)
    watched = [inputs[names.index(name)] for name in rule.workload.gradients]
    with tf.GradientTape() as tape:
        tape.watch(watched)
        result = function(*inputs)
        flat = [tf.reduce_sum(part) for part in tf.nest.flatten(result) if part.dtype.is_floating]
        loss = tf.add_n(flat)
    found = tape.gradient(loss, watched)
    return [None if part is None else tf.convert_to_tensor(part) for part in found]


def check_gradients(rule, made, inputs, others):
    limit = rule.workload.gradient_tolerance
    one, other = gradients(rule, made.before, inputs), gradients(rule, made.after, others)
    words = difference(one, other, limit, limit)
    assert not words, f"{rule.name}: gradients {words}"


@pytest.mark.parametrize("rule", WITH_GRADIENTS)
def test_both_sides_have_the_same_gradients(rule, sides):
    made = sides(rule)
    for size in SIZES[:2]:
        check_gradients(rule, made, made.inputs(size), made.inputs(size))


@st.composite
def arguments(draw, rule, floats, smallest):
    """Inputs of the workload with other sizes and values; axes that share a letter share a length."""
    import tensorflow as tf

    smallest = max(smallest, rule.workload.smallest)
    letters = {letter: draw(st.integers(smallest, smallest + 4)) for letter in rule.workload.sizes}
    precise = rule.safety == "safe" and "float32" not in rule.workload.before and draw(st.booleans())
    made = []
    for spec in rule.workload.inputs.values():
        if not isinstance(spec, Array):
            made.append(letters[spec])
            continue
        shape = tuple(letters[side] if isinstance(side, str) else side for side in spec.shape)
        arrays = [draw_array(draw, spec, shape, floats) for _ in range(spec.count or 1)]
        holders = {"tensor": tf.constant, "variable": tf.Variable, "numpy": lambda value, dtype: value}
        dtype = "float64" if precise and spec.dtype == "float32" else spec.dtype
        held = [holders[spec.kind](value.astype(dtype), dtype=dtype) for value in arrays]
        made.append(held if spec.count is not None else held[0])
    return made


def draw_array(draw, spec, shape, floats):
    size = int(np.prod(shape))
    if spec.below is not None:
        values = st.integers(0, spec.below - 1)
    elif spec.dtype == "bool":
        values = st.booleans()
    else:
        usable = (
            [v for v in floats if v > 0] if spec.values == "positive" and floats is TAME_FLOATS else floats
        )
        values = st.sampled_from(usable)
    few = draw(st.lists(values, min_size=min(size, 12), max_size=min(size, 12)))
    return np.resize(np.asarray(few), shape).astype(spec.dtype) if size else np.zeros(shape, spec.dtype)


def agree(rule, made, data, floats, smallest):
    drawn = data.draw(arguments(rule, floats, smallest))
    copies = [type(value)(value) if "Variable" in type(value).__name__ else value for value in drawn]
    check(rule, made.before(*drawn), made.after(*copies))
    if rule.safety == "safe" and rule.workload.gradients and rule.under_tape:
        check_gradients(rule, made, drawn, copies)


BOUNDED = settings(
    max_examples=12, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


@pytest.mark.parametrize("rule", SAFE)
def test_safe_fixes_hold_for_odd_values_and_empty_tensors(rule, sides):
    made = sides(rule)

    @BOUNDED
    @given(st.data())
    def holds(data):
        agree(rule, made, data, ODD_FLOATS, 0)

    holds()


@pytest.mark.parametrize("rule", REVIEWED)
def test_reviewed_fixes_hold_for_plain_values(rule, sides):
    made = sides(rule)

    @BOUNDED
    @given(st.data())
    def holds(data):
        agree(rule, made, data, TAME_FLOATS, 1)

    holds()


@pytest.mark.parametrize("rule", [p for p in RULES if p.values[0].has_fix])
def test_a_fix_says_when_both_sides_are_equal(rule):
    assert "**Equal" in rule.page or "**Not equal" in rule.page
