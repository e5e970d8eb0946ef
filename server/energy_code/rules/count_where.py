"""Listing places to count them."""

from energy_code.rule_engine import NOT_JIT, Array, Change, Rule, Workload


class CountWhere(Rule):
    """Count with `tf.math.count_nonzero`.

    `tf.shape(tf.where(mask))[0]` writes the coordinates of every true element to memory to learn how many
    there are; `tf.math.count_nonzero` adds up.

    **Equal** always: both count what is not zero, NaN included, and give a scalar `int32`.
    """

    message = "`tf.math.count_nonzero` counts without listing the places first"
    category = "memory"
    examples = (
        (
            "n = tf.shape(tf.where(mask))[0]",
            "n = tf.math.count_nonzero(mask, dtype=tf.int32)",
        ),
    )
    leave_alone = ("n = tf.shape(tf.where(mask))[1]", "n = tf.shape(tf.where(mask, a, b))[0]")
    workload = Workload(
        "tf.shape(tf.where(mask))[0]",
        {"mask": Array("n", dtype="bool")},
        {"n": (100, 10_000, 1_000_000)},
    )
    safety = "safe"
    modes = NOT_JIT
    changes = (Change("tf.shape(tf.where($mask))[0]", "tf.math.count_nonzero($mask, dtype=tf.int32)"),)
