"""Counting to see whether anything is true."""

from energy_code.rule_engine import NOT_JIT, Array, Change, Rule, RuleContext, Workload


class AnyTrue(Rule):
    """Ask whether anything is true with `tf.reduce_any`.

    `tf.reduce_sum(tf.cast(mask, tf.int32)) > 0` turns every truth value into four bytes and adds them up;
    `tf.reduce_any` reads the truth values themselves.

    **Equal when** the mask holds truth values, which the rule wants to see (a comparison, say):
    `reduce_any` takes nothing else.
    """

    message = "`tf.reduce_any` reads the mask itself instead of casting and adding it up"
    category = "memory"
    examples = (
        (
            "found = tf.reduce_sum(tf.cast(tf.greater(x, 3.0), tf.int32)) > 0",
            "found = tf.reduce_any(tf.greater(x, 3.0))",
        ),
        (
            "def f(x: tf.Tensor):\n    return tf.reduce_sum(tf.cast(x > 3.0, tf.float32), axis=1) > 0",
            "def f(x: tf.Tensor):\n    return tf.reduce_any(x > 3.0, axis=1)",
        ),
    )
    leave_alone = (
        "found = tf.reduce_sum(tf.cast(x, tf.int32)) > 0",
        "found = tf.reduce_sum(tf.cast(tf.greater(x, 3.0), tf.int32)) > 1",
    )
    workload = Workload(
        "tf.reduce_sum(tf.cast(tf.greater(x, 2.5), tf.int32)) > 0",
        {"x": Array("n")},
        {"n": (100, 10_000, 1_000_000)},
    )
    safety = "safe"
    modes = NOT_JIT
    changes = (
        Change("tf.reduce_sum(tf.cast($mask, $dtype), axis=$axis?) > 0", "tf.reduce_any($mask, axis=$axis?)"),
    )

    def where(self, place: RuleContext) -> bool:
        """Truth values, counted in a type that does not overflow early."""
        wide = place.dtype_name(place["dtype"]) in ("int32", "int64", "float32", "float64")
        return wide and place.dtype(place["mask"]) == "bool"
