"""Sorting indices to find the first."""

from energy_code.rule_engine import Array, Change, Rule, Workload


class ArgsortArgmax(Rule):
    """Find the index of an extreme with `tf.argmax` or `tf.argmin`, not by sorting.

    `tf.argsort` orders all indices, though only one of them is kept.

    **Equal when** there is at least one number, none is NaN, and the extreme is not shared: the
    two may name different ones of equal numbers.
    """

    message = "`tf.argmax` / `tf.argmin` find the extreme without sorting the rest"
    category = "arithmetic"
    examples = (
        (
            'best = tf.argsort(x, direction="DESCENDING")[..., 0]',
            "best = tf.argmax(x, axis=-1, output_type=tf.int32)",
        ),
        ("least = tf.argsort(x)[..., 0]", "least = tf.argmin(x, axis=-1, output_type=tf.int32)"),
    )
    leave_alone = ("order = tf.argsort(x)", "second = tf.argsort(x)[..., 1]")
    workload = Workload(
        "tf.argsort(x, direction='DESCENDING')[..., 0]",
        {"x": Array(16, "n")},
        {"n": (10, 1_000, 50_000)},
        unequal={"nan": "NaN", "empty": "at least one number"},
    )
    safety = "review"
    changes = (
        Change(
            "tf.argsort($x, direction='DESCENDING')[..., 0]",
            "tf.argmax($x, axis=-1, output_type=tf.int32)",
        ),
        Change("tf.argsort($x)[..., -1]", "tf.argmax($x, axis=-1, output_type=tf.int32)"),
        Change("tf.argsort($x)[..., 0]", "tf.argmin($x, axis=-1, output_type=tf.int32)"),
    )
