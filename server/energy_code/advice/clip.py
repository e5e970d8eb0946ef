"""Clipping."""

from energy_code.rule_engine import Array, Rule, Workload


class Clip(Rule):
    """Use `tf.clip_by_value` for minimum and maximum.

    `tf.clip_by_value` checks its arguments in Python first and runs the same two operations (or one
    that is no faster).
    """

    message = "`tf.clip_by_value` is no cheaper than `tf.minimum` and `tf.maximum`"
    category = "arithmetic"
    workload = Workload(
        "tf.minimum(tf.maximum(x, -1.0), 1.0)",
        {"x": Array("n")},
        {"n": (100, 10_000, 1_000_000)},
        after="tf.clip_by_value(x, -1.0, 1.0)",
        vary=False,
    )
    safety = "none"
    saves = False
