"""Logarithms of probabilities."""

from energy_code.rule_engine import NOT_JIT, Array, Change, Rule, Workload


class LogSoftmax(Rule):
    """Take the logarithm of softmax in one operation.

    `tf.math.log(tf.nn.softmax(x))` writes exponentials, divides and takes logarithms again;
    `tf.nn.log_softmax` subtracts the logarithm of the sum.

    **Equal when** no probability is so small that it vanishes: there the logarithm before is −∞ and after
    it is the right number. With a NaN in the row the logarithm before is −∞ or NaN, after it is NaN. The last digits
    differ.
    """

    message = "`tf.nn.log_softmax` saves the way through the exponentials, and does not overflow"
    category = "memory"
    examples = (("y = tf.math.log(tf.nn.softmax(x))", "y = tf.nn.log_softmax(x)"),)
    leave_alone = ("y = tf.math.log(tf.nn.softmax(x) + 1e-9)",)
    workload = Workload(
        "tf.math.log(tf.nn.softmax(x))",
        {"x": Array("n", 64)},
        {"n": (2, 256, 8192)},
        tolerance=1e-4,
        absolute=1e-5,
        gradients=("x",),
        unequal={"huge": "vanishes", "infinite": "vanishes", "nan": "NaN"},
    )
    safety = "review"
    modes = NOT_JIT
    changes = (Change("tf.math.log(tf.nn.softmax($x, axis=$axis?))", "tf.nn.log_softmax($x, axis=$axis?)"),)
