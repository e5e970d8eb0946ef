"""exp(x) − 1."""

from energy_code.rule_engine import Array, Rule, Workload


class Expm1(Rule):
    """Use `tf.math.expm1` for `exp(x) - 1`.

    `tf.math.expm1` is more precise near zero, which is a good reason to use it. In eager mode it saves the
    dispatch of a subtraction; traced, nothing. On an Ice Lake processor it took 1.7 times the energy for
    large tensors.
    """

    message = "`tf.math.expm1` is more precise; whether it is cheaper depends on the processor"
    category = "arithmetic"
    workload = Workload(
        "tf.exp(x) - 1.0",
        {"x": Array("n")},
        {"n": (50_000, 500_000, 2_000_000)},
        after="tf.math.expm1(x)",
        tolerance=1e-4,
        absolute=1e-5,
        vary=False,
    )
    safety = "none"
    saves = False
