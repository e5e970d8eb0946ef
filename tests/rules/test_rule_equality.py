"""Both sides of every rule on real TensorFlow: outputs and gradients, eager and traced, odd inputs too."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from energy_code import rules
from energy_code.rule_engine.evidence.equality import difference
from energy_code.rule_engine.evidence.workload import SIZES, Array

pytestmark = [pytest.mark.tensorflow, pytest.mark.xdist_group("rules-tensorflow")]

RULES = [pytest.param(rule, id=name) for name, rule in rules.ALL.items()]
TRACED = [pytest.param(rule, id=name) for name, rule in rules.ALL.items() if rule.workload.graph]
WITH_GRADIENTS = [pytest.param(rule, id=name) for name, rule in rules.ALL.items() if rule.workload.gradients]
VARIED = [
    pytest.param(rule, id=name) for name, rule in rules.ALL.items() if rule.has_fix and rule.workload.vary
]
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 3.25, -2.5, 1e-30)
ODD_FLOATS = {"nan": (np.nan,), "infinite": (np.inf, -np.inf), "huge": (1e4, -1e4)}


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
def arguments(draw, rule):
    """Inputs of the workload with other sizes and values; axes that share a letter share a length."""
    import tensorflow as tf

    workload = rule.workload
    smallest = max(1 if "empty" in workload.unequal else 0, workload.smallest)
    letters = {letter: draw(st.integers(smallest, smallest + 4)) for letter in workload.sizes}
    precise = rule.safety == "safe" and "float32" not in workload.before and draw(st.booleans())
    made = []
    for spec in workload.inputs.values():
        if not isinstance(spec, Array):
            made.append(letters[spec])
            continue
        shape = tuple(letters[side] if isinstance(side, str) else side for side in spec.shape)
        arrays = [draw_array(draw, spec, shape, floats_of(rule, spec)) for _ in range(spec.count or 1)]
        holders = {"tensor": tf.constant, "variable": tf.Variable, "numpy": lambda value, dtype: value}
        dtype = "float64" if precise and spec.dtype == "float32" else spec.dtype
        held = [holders[spec.kind](value.astype(dtype), dtype=dtype) for value in arrays]
        made.append(held if spec.count is not None else held[0])
    return made


def floats_of(rule, spec):
    """All kinds of numbers, those left out for which the rule's page says that the sides differ."""
    unequal = rule.workload.unequal
    odd = [value for kind, values in ODD_FLOATS.items() if kind not in unequal for value in values]
    floats = [*FLOATS, *odd]
    return [value for value in floats if not value <= 0] if needs_positive(rule, spec) else floats


def needs_positive(rule, spec):
    return spec.values == "positive" and rule.safety != "safe"


def draw_array(draw, spec, shape, floats):
    size = int(np.prod(shape))
    if spec.below is not None:
        values = st.integers(0, spec.below - 1)
    elif spec.dtype == "bool":
        values = st.booleans()
    else:
        values = st.sampled_from(floats)
    few = draw(st.lists(values, min_size=min(size, 12), max_size=min(size, 12)))
    return np.resize(np.asarray(few), shape).astype(spec.dtype) if size else np.zeros(shape, spec.dtype)


def bounded(examples):
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


def copied(values):
    return [type(value)(value) if "Variable" in type(value).__name__ else value for value in values]


@pytest.mark.parametrize("rule", VARIED)
def test_fixes_hold_for_odd_values_and_empty_tensors(rule, sides):
    made = sides(rule)

    @bounded(12)
    @given(arguments(rule))
    def holds(drawn):
        copies = copied(drawn)
        check(rule, made.before(*drawn), made.after(*copies))
        if rule.workload.gradients and rule.under_tape and "ties" not in rule.workload.unequal:
            check_gradients(rule, made, drawn, copies)

    holds()


@pytest.mark.parametrize("rule", [varied for varied in VARIED if varied in TRACED])
def test_fixes_hold_for_odd_values_inside_a_function(rule, sides):
    import tensorflow as tf

    made = sides(rule)

    @bounded(2)
    @given(arguments(rule))
    def holds(drawn):
        copies = copied(drawn)
        check(rule, tf.function(made.before)(*drawn), tf.function(made.after)(*copies))

    holds()


@pytest.mark.parametrize("rule", [p for p in RULES if p.values[0].has_fix])
def test_a_fix_says_when_both_sides_are_equal_and_when_not(rule):
    assert "**Equal" in rule.page or "**Not equal" in rule.page
    for odd, words in rule.workload.unequal.items():
        assert words in rule.page, f"the page does not say what happens with {odd} inputs"
    assert not (rule.safety == "safe" and rule.workload.unequal)
