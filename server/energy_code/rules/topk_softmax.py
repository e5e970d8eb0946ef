"""The largest k of probabilities."""

from energy_code.rule_engine import Array, Change, Rule, Workload


class TopkSoftmax(Rule):
    """Take the indices of the largest logits, not of the largest probabilities.

    Softmax keeps the order; when only the indices of `tf.math.top_k` are used its exponentials, sum and
    division are spent for nothing.

    **Equal when** no two logits lie so close together that softmax rounds them to the same probability,
    and none is NaN or infinite.
    """

    message = "softmax keeps the order: `tf.math.top_k` of the logits gives the same indices"
    category = "arithmetic"
    examples = (
        (
            "best = tf.math.top_k(tf.nn.softmax(logits), k=5).indices",
            "best = tf.math.top_k(logits, k=5).indices",
        ),
        ("best = tf.math.top_k(tf.nn.softmax(logits), 5)[1]", "best = tf.math.top_k(logits, k=5).indices"),
    )
    leave_alone = (
        "p, best = tf.math.top_k(tf.nn.softmax(logits), k=5)",
        "p = tf.math.top_k(tf.nn.softmax(logits), k=5).values",
    )
    workload = Workload(
        "tf.math.top_k(tf.nn.softmax(x), k=5).indices",
        {"x": Array("n", 64)},
        {"n": (2, 256, 8192)},
        unequal={"nan": "NaN", "infinite": "infinite"},
    )
    safety = "review"
    changes = (
        Change("tf.math.top_k(tf.nn.softmax($x), k=$k?).indices", "tf.math.top_k($x, k=$k?).indices"),
        Change("tf.math.top_k(tf.nn.softmax($x), k=$k?)[1]", "tf.math.top_k($x, k=$k?).indices"),
    )
