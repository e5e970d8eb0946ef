"""Swish by name."""

from energy_code.rule_engine import Array, Rule, Workload


class Silu(Rule):
    """Use `tf.nn.silu` for `x * sigmoid(x)`.

    `tf.nn.silu` wraps the same two operations in a function with a gradient of its own, which saves
    memory under a tape and costs dispatch everywhere.
    """

    message = "`tf.nn.silu` wraps the same two operations"
    category = "arithmetic"
    workload = Workload(
        "x * tf.sigmoid(x)",
        {"x": Array("n")},
        {"n": (100, 10_000, 1_000_000)},
        after="tf.nn.silu(x)",
        tolerance=1e-5,
        absolute=1e-6,
        vary=False,
    )
    safety = "none"
    saves = False
