"""Logarithms of sums."""

from energy_code.rule_engine import Array, Rule, Workload


class Logsumexp(Rule):
    """Use `tf.reduce_logsumexp`.

    `tf.reduce_logsumexp` finds the maximum first so as not to overflow: worth it for the numbers, at
    the price of two further passes.
    """

    message = "`tf.reduce_logsumexp` is stable, not cheaper"
    category = "arithmetic"
    workload = Workload(
        "tf.math.log(tf.reduce_sum(tf.exp(x)))",
        {"x": Array("n")},
        {"n": (100, 10_000, 1_000_000)},
        after="tf.reduce_logsumexp(x)",
        tolerance=1e-4,
        absolute=1e-4,
        vary=False,
    )
    safety = "none"
    saves = False
