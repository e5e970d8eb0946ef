"""Transposing twice."""

from energy_code.rule_engine import EAGER, Array, Change, Rule, RuleContext, Workload


class DoubleTranspose(Rule):
    """Drop two transpositions that undo each other.

    Each `tf.transpose` copies the whole tensor in another order. Grappler drops the pair inside
    `tf.function`.

    **Equal when** both use the default order of axes and the operand is a tensor.
    """

    message = "two transpositions undo each other, and each copies the whole tensor"
    category = "memory"
    examples = (
        (
            "def f(x: tf.Tensor):\n    return tf.transpose(tf.transpose(x))",
            "def f(x: tf.Tensor):\n    return x",
        ),
    )
    leave_alone = (
        "y = tf.transpose(tf.transpose(x), [1, 0, 2])",
        "y = tf.transpose(tf.transpose(numpy_array))",
    )
    workload = Workload(
        "tf.transpose(tf.transpose(x))",
        {"x": Array("n", "n")},
        {"n": (8, 128, 1024)},
        gradients=("x",),
    )
    modes = EAGER
    changes = (Change("tf.transpose(tf.transpose($x))", "$x"),)

    def where(self, place: RuleContext) -> bool:
        """The result must be a tensor still."""
        return place.is_tensor(place["x"])
