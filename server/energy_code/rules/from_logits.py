"""Cross-entropy of probabilities."""

from energy_code.rule_engine import EAGER, Array, Change, Rule, Workload


class FromLogits(Rule):
    """Give the cross-entropy logits, not probabilities.

    The loss of probabilities clips them and takes logarithms of what softmax has just exponentiated;
    `from_logits=True` does both in one stable operation. Inside `tf.function` the difference vanishes.

    **Equal when** no probability is clipped (below 1e-7): there the loss after is the right one, before
    it is cut off.
    """

    message = "`from_logits=True` computes softmax and loss in one stable operation"
    category = "keras"
    examples = (
        (
            "loss = keras.losses.categorical_crossentropy(y, tf.nn.softmax(z))",
            "loss = keras.losses.categorical_crossentropy(y, z, from_logits=True)",
        ),
        (
            "loss = keras.losses.sparse_categorical_crossentropy(y, tf.nn.softmax(z))",
            "loss = keras.losses.sparse_categorical_crossentropy(y, z, from_logits=True)",
        ),
        (
            "loss = keras.losses.binary_crossentropy(y, tf.sigmoid(z))",
            "loss = keras.losses.binary_crossentropy(y, z, from_logits=True)",
        ),
    )
    leave_alone = (
        "loss = keras.losses.categorical_crossentropy(y, p)",
        "loss = keras.losses.categorical_crossentropy(y, tf.nn.softmax(z), from_logits=True)",
    )
    workload = Workload(
        "keras.losses.sparse_categorical_crossentropy(y, tf.nn.softmax(z))",
        {"y": Array("n", dtype="int32", below=32), "z": Array("n", 32)},
        {"n": (8, 256, 16_384)},
        tolerance=1e-4,
        absolute=1e-5,
        gradients=("z",),
        unequal={"huge": "clipped", "infinite": "clipped"},
    )
    safety = "review"
    modes = EAGER
    changes = tuple(
        Change(f"keras.losses.{loss}($y, tf.nn.{act}($z))", "$callee($y, $z, from_logits=True)")
        for loss, act in (
            ("categorical_crossentropy", "softmax"),
            ("sparse_categorical_crossentropy", "softmax"),
            ("binary_crossentropy", "sigmoid"),
        )
    )
    signatures = tuple(
        (f"keras.losses.{loss}", "y_true, y_pred, from_logits=False")
        for loss in ("categorical_crossentropy", "sparse_categorical_crossentropy", "binary_crossentropy")
    )
