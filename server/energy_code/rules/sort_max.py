"""Sorting to find the extreme."""

from energy_code.rule_engine import Array, Change, Rule, Workload


class SortMax(Rule):
    """Take an extreme with a reduction, not by sorting.

    Sorting n numbers takes about n·log n steps and writes all of them; the largest takes n and writes
    one.

    **Equal when** there is at least one number, none is NaN (sorting and reducing place NaN differently),
    and no gradient is taken where two numbers tie for the extreme: the reduction shares it out, the sort
    gives it to one.
    """

    message = "a reduction finds the extreme without sorting the rest"
    category = "arithmetic"
    examples = (
        ("top = tf.sort(x)[..., -1]", "top = tf.reduce_max(x, axis=-1)"),
        ("low = tf.sort(x, axis=-1)[..., 0]", "low = tf.reduce_min(x, axis=-1)"),
        ('top = tf.sort(x, direction="DESCENDING")[..., 0]', "top = tf.reduce_max(x, axis=-1)"),
    )
    leave_alone = ("median = tf.sort(x)[..., 5]", "top = tf.sort(x, axis=0)[..., -1]")
    workload = Workload(
        "tf.sort(x)[..., -1]",
        {"x": Array(16, "n")},
        {"n": (10, 1_000, 50_000)},
        gradients=("x",),
        unequal={"nan": "NaN", "ties": "tie", "empty": "at least one number"},
    )
    safety = "review"
    changes = (
        Change("tf.sort($x)[..., -1]", "tf.reduce_max($x, axis=-1)"),
        Change("tf.sort($x)[..., 0]", "tf.reduce_min($x, axis=-1)"),
        Change("tf.sort($x, direction='DESCENDING')[..., 0]", "tf.reduce_max($x, axis=-1)"),
        Change("tf.sort($x, direction='DESCENDING')[..., -1]", "tf.reduce_min($x, axis=-1)"),
    )
