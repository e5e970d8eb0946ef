"""Leaky rectifiers spelled out."""

from energy_code.rule_engine import NOT_JIT, Array, Change, Rule, RuleContext, Workload


class LeakyRelu(Rule):
    """Use `tf.nn.leaky_relu` instead of spelling it out.

    `tf.where(x > 0, x, a * x)` compares, multiplies and selects, each with a pass over memory; the one
    operation makes one pass.

    **Equal when** x is a floating-point tensor and the slope a plain number. Values and
    gradients are the same bit for bit, NaN included; of a `float64` tensor the slope is rounded to
    `float32`, a difference of about 1e-8.
    """

    message = "`tf.nn.leaky_relu` is one pass over memory instead of three"
    category = "memory"
    examples = (
        (
            "def act(x: tf.Tensor):\n    return tf.where(x > 0, x, 0.1 * x)",
            "def act(x: tf.Tensor):\n    return tf.nn.leaky_relu(x, alpha=0.1)",
        ),
    )
    leave_alone = (
        "y = tf.where(x > 1, x, 0.1 * x)",
        "y = tf.where(x > 0, x, 0.1 * z)",
        "y = tf.where(x > 0, x, slope * x)",
    )
    workload = Workload(
        "tf.where(x > 0, x, 0.2 * x)",
        {"x": Array("n")},
        {"n": (100, 10_000, 1_000_000)},
        tolerance=1e-7,
        gradients=("x",),
    )
    modes = NOT_JIT
    changes = (Change("tf.where($x > 0, $x, $a * $x)", "tf.nn.leaky_relu($x, alpha=$a)"),)

    def where(self, place: RuleContext) -> bool:
        """Only a number as slope is sure to keep the shape."""
        return isinstance(place.constant(place["a"]), float)
