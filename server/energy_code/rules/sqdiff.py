"""Squares of differences."""

from energy_code.rule_engine import EAGER, Array, Change, Rule, RuleContext, Workload


class SquaredDifference(Rule):
    """Square a difference in one operation.

    `tf.square(a - b)` writes the difference to memory and reads it back; `tf.math.squared_difference`
    makes one pass. Grappler fuses the two inside `tf.function`, and under a tape the gradient needs the
    difference anyway: the rule speaks of eager code outside a tape.

    **Equal when** a and b are real tensors of one type. Values are the same bit for bit; of complex numbers
    `squared_difference` takes the absolute square instead. The fix is safe where the operands are known to
    be tensors and the file has nothing to do with complex numbers, and for review otherwise.
    """

    message = "`tf.math.squared_difference` subtracts and squares in one pass over memory"
    category = "memory"
    examples = (
        (
            "def error(a: tf.Tensor, b):\n    return tf.reduce_mean(tf.square(a - b))",
            "def error(a: tf.Tensor, b):\n    return tf.reduce_mean(tf.math.squared_difference(a, b))",
        ),
        ("y = tf.square(tf.subtract(p, q))", "y = tf.math.squared_difference(p, q)"),
    )
    leave_alone = (
        "y = tf.square(a + b)",
        "with tf.GradientTape() as tape:\n    loss = tf.square(tf.subtract(a, b))",
        "y = tf.square(tf.abs(a - b))",
        "def mse(a, b):\n    return tf.square(a - b)\n\n\nwith tf.GradientTape() as t:\n    y = mse(p, q)",
        "def my_loss(a, b):\n    return tf.square(a - b)",
        "class ValueLoss:\n    def __call__(self, a, b):\n        return tf.square(a - b)",
    )
    workload = Workload(
        "tf.square(a - b)",
        {"a": Array("n"), "b": Array("n")},
        {"n": (100, 10_000, 1_000_000)},
        gradients=("a", "b"),
    )
    safety = "review"
    modes = EAGER
    under_tape = False
    changes = (Change("tf.square($a - $b)", "tf.math.squared_difference($a, $b)"),)

    def proven(self, place: RuleContext) -> bool:
        """No complex numbers in sight."""
        return not any(map(place.shared.has, (b"complex", b"fft", b"stft")))
