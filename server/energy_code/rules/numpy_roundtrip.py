"""Tensors through NumPy and back."""

from energy_code.rule_engine import EAGER, Array, Change, Rule, RuleContext, Workload


class NumpyRoundtrip(Rule):
    """Keep a tensor instead of taking it through NumPy and back.

    `tf.constant(t.numpy())` copies the data once or twice, and on a GPU carries them to the host and
    back.

    **Equal when** t is a tensor and no gradient should be stopped here: the way through NumPy cuts the
    tape, so the fix is for review.
    """

    message = "the tensor itself saves the copies through NumPy and back"
    category = "memory"
    examples = (
        (
            "def f(x: tf.Tensor):\n    return tf.constant(x.numpy()) + 1",
            "def f(x: tf.Tensor):\n    return x + 1",
        ),
        (
            "def f(x: tf.Tensor):\n    return tf.convert_to_tensor(tf.abs(x).numpy())",
            "def f(x: tf.Tensor):\n    return tf.abs(x)",
        ),
    )
    leave_alone = (
        "y = tf.constant(x.numpy(), dtype=tf.float64)",
        "def f(v: tf.Variable):\n    return tf.constant(v.numpy())",
    )
    workload = Workload(
        "tf.constant(x.numpy())",
        {"x": Array("n")},
        {"n": (100, 10_000, 1_000_000)},
        graph=False,
    )
    safety = "review"
    modes = EAGER
    changes = (
        Change("tf.constant($x.numpy())", "$x"),
        Change("tf.convert_to_tensor($x.numpy())", "$x"),
    )

    def where(self, place: RuleContext) -> bool:
        """A variable would keep changing."""
        return place.type(place["x"]) == "tensorflow.Tensor"
