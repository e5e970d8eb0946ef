"""Double precision for a whole model."""

from energy_code.rule_engine import EVERYWHERE, Array, Change, Rule, Workload


class Float64(Rule):
    """Train in single precision.

    `set_floatx("float64")` doubles the memory traffic of every layer and halves what a vector instruction
    does; most GPUs run double precision at a small fraction of their speed.

    **Not equal**: single precision carries about 7 digits instead of 16. Training rarely needs more; the
    fix is for review.
    """

    message = (
        "double precision doubles the memory traffic of every layer; single precision is enough to train with"
    )
    category = "keras"
    examples = (
        ('keras.config.set_floatx("float64")', 'keras.config.set_floatx("float32")'),
        ('keras.backend.set_floatx("float64")', 'keras.backend.set_floatx("float32")'),
    )
    leave_alone = ('keras.config.set_floatx("float32")', 'keras.config.set_floatx("float16")')
    workload = Workload(
        "tf.matmul(tf.cast(x, tf.float64), tf.cast(w, tf.float64))",
        {"x": Array("n", 256, dtype="float64"), "w": Array(256, 256, dtype="float64")},
        {"n": (8, 128, 1024)},
        after="tf.cast(tf.matmul(tf.cast(x, tf.float32), tf.cast(w, tf.float32)), tf.float64)",
        tolerance=1e-3,
        absolute=1e-3,
        vary=False,
    )
    safety = "review"
    modes = EVERYWHERE
    changes = (Change("keras.config.set_floatx('float64')", '$callee("float32")'),)
    signatures = (("keras.config.set_floatx", "value"), ("keras.backend.set_floatx", "value"))
