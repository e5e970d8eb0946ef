"""Reciprocals of square roots."""

from energy_code.rule_engine import NOT_JIT, Array, Change, Rule, RuleContext, Workload
from energy_code.rule_engine.queries.single_numbers import is_number


class Rsqrt(Rule):
    """Take the reciprocal square root in one operation.

    `1 / tf.sqrt(x)` writes the square roots to memory and reads them back to divide; `tf.math.rsqrt` does
    both in one pass, with the processor's own approximation and a correction step.

    **Equal when** x is a floating-point tensor: values and gradients agree to about 1e-6, zeros give
    infinity and negative numbers NaN on both sides. One single number, such as a length, is left alone.
    """

    message = "`tf.math.rsqrt` takes root and reciprocal in one pass over memory"
    category = "memory"
    examples = (
        ("y = 1 / tf.sqrt(x)", "y = tf.math.rsqrt(x)"),
        ("y = 1.0 / tf.math.sqrt(v + 1e-5)", "y = tf.math.rsqrt(v + 1e-5)"),
        ("y = tf.divide(1.0, tf.sqrt(x))", "y = tf.math.rsqrt(x)"),
        ("y = tf.math.reciprocal(tf.sqrt(x))", "y = tf.math.rsqrt(x)"),
    )
    leave_alone = (
        "y = 2 / tf.sqrt(x)",
        "y = 1 / x",
        "y = tf.sqrt(x) / 1",
        "y = 1 / tf.sqrt(tf.cast(x.shape[-1], tf.float32))",
    )
    workload = Workload(
        "1.0 / tf.sqrt(x)",
        {"x": Array("n", values="positive")},
        {"n": (100, 10_000, 1_000_000)},
        tolerance=1e-5,
        gradients=("x",),
    )
    modes = NOT_JIT
    changes = (
        Change("1 / tf.sqrt($x)", "tf.math.rsqrt($x)"),
        Change("tf.math.reciprocal(tf.sqrt($x))", "tf.math.rsqrt($x)"),
    )

    def where(self, place: RuleContext) -> bool:
        """More than one number, as far as known."""
        return not is_number(place, place["x"])
