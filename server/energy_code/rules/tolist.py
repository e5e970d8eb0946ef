"""Arrays through Python lists."""

from energy_code.rule_engine import EAGER, Array, Change, Rule, Workload


class Tolist(Rule):
    """Give TensorFlow the array, not a list made of it.

    `a.tolist()` makes a Python object of every number, and TensorFlow walks through them again; an array
    is copied as a block.

    **Equal when** the type is stated, as the rule demands: without it a list becomes `float32` and an
    array keeps its own type.
    """

    message = "the array itself is copied as a block; `tolist()` makes a Python object of every number"
    category = "dispatch"
    examples = (
        ("x = tf.constant(a.tolist(), dtype=tf.float32)", "x = tf.constant(a, dtype=tf.float32)"),
        ("x = tf.convert_to_tensor(a.tolist(), tf.float32)", "x = tf.convert_to_tensor(a, dtype=tf.float32)"),
    )
    leave_alone = ("x = tf.constant(a.tolist())",)
    workload = Workload(
        "tf.constant(a.tolist(), dtype=tf.float32)",
        {"a": Array("n", kind="numpy")},
        {"n": (100, 10_000, 1_000_000)},
        graph=False,
    )
    modes = EAGER
    changes = (
        Change("tf.constant($a.tolist(), dtype=$dtype)", "tf.constant($a, dtype=$dtype)"),
        Change("tf.convert_to_tensor($a.tolist(), dtype=$dtype)", "tf.convert_to_tensor($a, dtype=$dtype)"),
    )
