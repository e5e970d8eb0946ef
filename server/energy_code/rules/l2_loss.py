"""Half sums of squares."""

from energy_code.rule_engine import NOT_JIT, Array, Change, Rule, RuleContext, Workload


class L2Loss(Rule):
    """Take half the sum of squares in one operation.

    `tf.reduce_sum(tf.square(x)) / 2` makes two passes over memory and writes the squares in between;
    `tf.nn.l2_loss` makes one and keeps nothing.

    **Equal when** x is a floating-point tensor and the sum runs over all of it; the fix is safe where a
    floating-point factor or a known type shows that, and for review otherwise. The two sum in different
    orders, so the last digits differ (about 1e-6 of the value).
    """

    message = "`tf.nn.l2_loss` squares, sums and halves in one pass over memory"
    category = "memory"
    examples = (
        ("penalty = tf.reduce_sum(tf.square(w)) / 2", "penalty = tf.nn.l2_loss(w)"),
        ("penalty = 0.5 * tf.reduce_sum(tf.square(w))", "penalty = tf.nn.l2_loss(w)"),
    )
    leave_alone = (
        "y = tf.reduce_sum(tf.square(w), axis=1) / 2",
        "y = tf.reduce_sum(tf.square(w)) / 3",
        "n = tf.reduce_sum(tf.square(tf.range(5))) / 2",
    )
    workload = Workload(
        "tf.reduce_sum(tf.square(x)) / 2.0",
        {"x": Array("n")},
        {"n": (100, 10_000, 1_000_000)},
        tolerance=1e-5,
        gradients=("x",),
    )
    safety = "review"
    modes = NOT_JIT
    changes = (
        Change("tf.reduce_sum(tf.square($x)) / $two", "tf.nn.l2_loss($x)"),
        Change("tf.reduce_sum(tf.square($x)) * $half", "tf.nn.l2_loss($x)"),
    )

    def where(self, place: RuleContext) -> bool:
        """Half, of what is not known to be integers: those have no `l2_loss`."""
        half = (
            place.constant(place["two"]) == 2
            if "two" in place.captures
            else place.constant(place["half"]) == 0.5
        )
        return half and not place.is_integer(place["x"])

    def proven(self, place: RuleContext) -> bool:
        """TensorFlow multiplies and divides only floating-point tensors by a float."""
        number = place.captures.get("two", place.captures.get("half"))
        stated = number is not None and isinstance(place.constant(number), float)
        return stated or (place.dtype(place["x"]) or "").startswith("float")
