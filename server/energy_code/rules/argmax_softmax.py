"""The largest of probabilities."""

from energy_code.rule_engine import Array, Change, Rule, Workload


class ArgmaxSoftmax(Rule):
    """Take the largest logit, not the largest probability.

    `tf.nn.softmax` keeps the order of its inputs, so its exponentials, sum and division are spent for
    nothing when only the largest is wanted.

    **Equal when** no two logits lie so close together that softmax rounds them to the same probability
    (about 1e-7 apart), and none is NaN or infinite.
    """

    message = "softmax keeps the order: `tf.argmax` of the logits gives the same index"
    category = "arithmetic"
    examples = (
        ("label = tf.argmax(tf.nn.softmax(logits), axis=-1)", "label = tf.argmax(logits, axis=-1)"),
        ("label = tf.argmax(tf.nn.softmax(logits), -1)", "label = tf.argmax(logits, axis=-1)"),
    )
    leave_alone = (
        "label = tf.argmax(tf.nn.softmax(logits, axis=0), axis=-1)",
        "label = tf.argmax(tf.nn.softmax(logits))",
    )
    workload = Workload(
        "tf.argmax(tf.nn.softmax(x), axis=-1)",
        {"x": Array("n", 64)},
        {"n": (2, 256, 8192)},
        unequal={"nan": "NaN", "infinite": "infinite"},
    )
    safety = "review"
    changes = (
        Change(
            "tf.argmax(tf.nn.softmax($x), axis=-1, output_type=$type?)",
            "tf.argmax($x, axis=-1, output_type=$type?)",
        ),
        Change(
            "tf.argmax(tf.nn.softmax($x, axis=-1), axis=-1, output_type=$type?)",
            "tf.argmax($x, axis=-1, output_type=$type?)",
        ),
    )
