"""The largest of sigmoids."""

from energy_code.rule_engine import Array, Change, Rule, Workload


class ArgmaxSigmoid(Rule):
    """Take the largest logit, not the largest sigmoid.

    `tf.sigmoid` keeps the order of its inputs; when only the largest is wanted it is spent for nothing.

    **Equal when** the sigmoid does not saturate: above about 17 (float32) it is 1 for all, and the first
    of them wins before, the largest after; so it is with logits that lie too close together for their sigmoids to
    differ. NaN may be placed differently.
    """

    message = "sigmoid keeps the order: `tf.argmax` of the logits gives the same index"
    category = "arithmetic"
    examples = (("label = tf.argmax(tf.sigmoid(logits), axis=1)", "label = tf.argmax(logits, axis=1)"),)
    leave_alone = ("label = tf.argmax(tf.tanh(logits), axis=1)",)
    workload = Workload(
        "tf.argmax(tf.sigmoid(x), axis=-1)",
        {"x": Array("n", 64)},
        {"n": (2, 256, 8192)},
        unequal={"huge": "saturate", "infinite": "saturate"},
    )
    safety = "review"
    changes = (
        Change(
            "tf.argmax(tf.nn.sigmoid($x), axis=$axis?, output_type=$type?)",
            "tf.argmax($x, axis=$axis?, output_type=$type?)",
        ),
    )
