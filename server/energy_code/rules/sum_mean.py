"""Means as sums and divisions."""

from energy_code.rule_engine import NOT_JIT, Array, Change, Rule, RuleContext, Workload


class SumMean(Rule):
    """Take the mean with `tf.reduce_mean`.

    Dividing a sum by a size that was counted and cast takes four operations where one does.

    **Equal when** x is a floating-point tensor; the last digit may be rounded differently. Of an empty
    tensor both give NaN.
    """

    message = "`tf.reduce_mean` is one operation instead of four"
    category = "dispatch"
    examples = (
        (
            "m = tf.reduce_sum(x) / tf.cast(tf.size(x), tf.float32)",
            "m = tf.reduce_mean(x)",
        ),
    )
    leave_alone = (
        "m = tf.reduce_sum(x) / tf.cast(tf.size(y), tf.float32)",
        "m = tf.reduce_sum(x, 0) / tf.cast(tf.size(x), tf.float32)",
        "m = tf.reduce_sum(x) / tf.cast(tf.size(x), tf.int32)",
    )
    workload = Workload(
        "tf.reduce_sum(x) / tf.cast(tf.size(x), tf.float32)",
        {"x": Array("n")},
        {"n": (100, 10_000, 1_000_000)},
        tolerance=1e-5,
        absolute=1e-7,
        gradients=("x",),
    )
    safety = "safe"
    modes = NOT_JIT
    changes = (Change("tf.reduce_sum($x) / tf.cast(tf.size($x), $dtype)", "tf.reduce_mean($x)"),)

    def where(self, place: RuleContext) -> bool:
        """Of integers the mean is an integer, the quotient is not."""
        return place.dtype_name(place["dtype"]) in ("float32", "float64")
