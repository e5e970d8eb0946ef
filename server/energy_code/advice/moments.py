"""Mean and variance."""

from energy_code.rule_engine import Array, Rule, Workload


class Moments(Rule):
    """Use `tf.nn.moments` for mean and variance.

    `tf.nn.moments` casts, stops a gradient and squeezes around the same two reductions.
    """

    message = "`tf.nn.moments` is the same reductions with more around them"
    category = "arithmetic"
    workload = Workload(
        "m = tf.reduce_mean(x)\nreturn m, tf.reduce_mean(tf.math.squared_difference(x, m))",
        {"x": Array("n")},
        {"n": (100, 10_000, 1_000_000)},
        after="m, v = tf.nn.moments(x, axes=[0])\nreturn m, v",
        tolerance=1e-3,
        absolute=1e-5,
        vary=False,
    )
    safety = "none"
    saves = False
