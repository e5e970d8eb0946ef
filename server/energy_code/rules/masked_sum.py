"""Sums over a mask."""

from energy_code.rule_engine import NOT_JIT, Array, Change, Rule, Workload


class MaskedSum(Rule):
    """Sum what a mask leaves without copying it out.

    `tf.boolean_mask` finds the true places and copies the elements there one by one; `tf.where` puts
    zeros in the other places in one pass, and zeros do not change the sum.

    **Equal when** the mask has the shape of the tensor and both sides may round differently: the order of
    summation is another one.
    """

    message = "a sum over `tf.where(mask, x, 0)` saves copying the masked elements out"
    category = "memory"
    examples = (
        (
            "s = tf.reduce_sum(tf.boolean_mask(x, m))",
            "s = tf.reduce_sum(tf.where(m, x, tf.zeros_like(x)))",
        ),
    )
    leave_alone = (
        "s = tf.reduce_mean(tf.boolean_mask(x, m))",
        "s = tf.reduce_sum(tf.boolean_mask(x, m), axis=0)",
        "s = tf.reduce_sum(tf.boolean_mask(x, m, axis=1))",
    )
    workload = Workload(
        "tf.reduce_sum(tf.boolean_mask(x, m))",
        {"x": Array("n"), "m": Array("n", dtype="bool")},
        {"n": (100, 10_000, 1_000_000)},
        tolerance=1e-4,
        absolute=1e-3,
        gradients=("x",),
    )
    safety = "review"
    modes = NOT_JIT
    changes = (
        Change(
            "tf.reduce_sum(tf.boolean_mask($x, $m))",
            "tf.reduce_sum(tf.where($m, $x, tf.zeros_like($x)))",
        ),
    )
