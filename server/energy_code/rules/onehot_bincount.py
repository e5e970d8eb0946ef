"""Counting with one-hot vectors."""

from energy_code.rule_engine import Array, Change, Rule, RuleContext, Workload
from energy_code.rule_engine.queries.chains import runs_for_single_elements

_SMALL, _SMALL_TRACED = 50_000, 256


class OnehotBincount(Rule):
    """Count labels with `tf.math.bincount`.

    `tf.reduce_sum(tf.one_hot(i, n), 0)` writes n numbers for every label and adds them up;
    `tf.math.bincount` adds one per label. For few labels the one-hot vectors are cheaper, in eager code up
    to tens of thousands: there the rule wants to see that they are many; inside `tf.function` it is silent
    where few are known, and in functions that a pipeline maps over single examples.

    **Equal when** the labels have one axis and lie in range: one-hot leaves out labels that do not,
    bincount leaves out those above and refuses negative ones. Counts beyond 2^24 are exact after, rounded
    before.
    """

    message = "`tf.math.bincount` adds one per label instead of a whole one-hot vector"
    category = "memory"
    examples = (
        (
            "@tf.function\ndef count(labels):\n    return tf.reduce_sum(tf.one_hot(labels, 10), axis=0)",
            "@tf.function\ndef count(labels):\n"
            "    return tf.math.bincount(labels, minlength=10, maxlength=10, dtype=tf.float32)",
        ),
    )
    leave_alone = (
        "counts = tf.reduce_sum(tf.one_hot(labels, 10), axis=0)",
        "counts = tf.reduce_sum(tf.one_hot(labels, 10), axis=1)",
        "def counts_of(features):\n"
        "    labels = tf.cast(features['labels'], tf.int32)\n"
        "    return tf.reduce_sum(tf.one_hot(labels, 10), axis=0)\n\n\n"
        "ds = tf.data.TFRecordDataset(files).map(parse).map(counts_of)",
        "labels = tf.constant([1, 2, 3])\ncounts = tf.reduce_sum(tf.one_hot(labels, 10), axis=0)",
    )
    workload = Workload(
        "tf.reduce_sum(tf.one_hot(labels, 64), axis=0)",
        {"labels": Array("n", dtype="int32", below=64)},
        {"n": (256, 20_000, 200_000)},
        after="tf.math.bincount(labels, minlength=64, maxlength=64, dtype=tf.float32)",
    )
    safety = "review"
    changes = (
        Change(
            "tf.reduce_sum(tf.one_hot($i, $n), axis=0)",
            "tf.math.bincount($i, minlength=$n, maxlength=$n, dtype=tf.float32)",
        ),
    )

    def where(self, place: RuleContext) -> bool:
        """Many labels for sure in eager code, not few for sure in graphs; and the depth is written twice."""
        size = place.size(place["i"])
        if "(" in place.text(place["n"]) or (size is None and place.mode == "eager"):
            return False
        if size is None:  # one example has a handful of labels
            return not runs_for_single_elements(place, place.node)
        return size > (_SMALL if place.mode == "eager" else _SMALL_TRACED)
