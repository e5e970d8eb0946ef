"""The logistic function spelled out."""

from energy_code.rule_engine import NOT_JIT, Array, Change, Rule, Workload


class Sigmoid(Rule):
    """Use `tf.sigmoid` instead of spelling it out.

    `1 / (1 + tf.exp(-x))` is four operations, each with a pass over memory; `tf.sigmoid` is one.

    **Equal when** x lies where the exponential does not overflow. Below about −88 (float32) the
    spelled-out form gives zero and a NaN gradient where `tf.sigmoid` gives a tiny number and the right
    gradient: the fix mends that, and is offered for review because it is a change.
    """

    message = "`tf.sigmoid` is one pass over memory instead of four, and its gradient does not become NaN"
    category = "memory"
    examples = (
        ("p = 1 / (1 + tf.exp(-x))", "p = tf.sigmoid(x)"),
        ("p = 1.0 / (tf.exp(-score) + 1.0)", "p = tf.sigmoid(score)"),
    )
    leave_alone = ("p = 1 / (1 + tf.exp(x))", "p = 1 / (2 + tf.exp(-x))")
    workload = Workload(
        "1.0 / (1.0 + tf.exp(-x))",
        {"x": Array("n")},
        {"n": (100, 10_000, 1_000_000)},
        tolerance=1e-5,
        gradients=("x",),
        unequal={"huge": "overflow", "infinite": "overflow"},
    )
    safety = "review"
    modes = NOT_JIT
    changes = (Change("1 / (1 + tf.exp(-$x))", "tf.sigmoid($x)"),)
