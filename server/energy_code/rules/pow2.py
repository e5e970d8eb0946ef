"""Squares written as powers."""

from energy_code.rule_engine import EAGER, Array, Change, Rule, Workload


class Pow2(Rule):
    """Square with `tf.square`, not with a power of two.

    `tf.pow` calls the general power function for every element and first turns the exponent into a tensor
    of its own; `tf.square` multiplies once. Inside `tf.function` Grappler makes the same replacement, so
    the rule speaks of eager code only.

    **Equal when** the operand is a tensor, which the rule wants to see proven for `x ** 2`: on a NumPy
    array the rewrite would change the type of the result. Values, shapes and gradients are the same,
    except that the power of a number close to the limits of its type may be rounded differently in the
    last digit.
    """

    message = "`tf.square` multiplies once where a power of 2 calls the general power function"
    category = "arithmetic"
    examples = (
        ("y = tf.pow(x, 2)", "y = tf.square(x)"),
        (
            "def energy(x: tf.Tensor):\n    return 0.5 * x ** 2",
            "def energy(x: tf.Tensor):\n    return 0.5 * tf.square(x)",
        ),
        ("y = tf.pow(tf.abs(a) + b, 2.0)", "y = tf.square(tf.abs(a) + b)"),
    )
    leave_alone = (
        "y = n ** 2",
        "def f(x: tf.Tensor):\n    return x ** 3",
        "@tf.function\ndef f(x: tf.Tensor):\n    return x ** 2",
    )
    workload = Workload(
        "tf.pow(x, 2)",
        {"x": Array("n")},
        {"n": (100, 10_000, 1_000_000)},
        tolerance=1e-6,
        gradients=("x",),
    )
    safety = "safe"
    modes = EAGER
    changes = (
        Change("tf.pow($x, 2)", "tf.square($x)"),
        Change("$x ** 2", "tf.square($x)"),
        Change("tf.keras.backend.pow($x, 2)", "tf.keras.backend.square($x)"),
    )
    signatures = (("tf.keras.backend.pow", "x, a"),)
