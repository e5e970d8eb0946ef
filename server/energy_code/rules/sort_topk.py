"""Sorting to find the largest few."""

from energy_code.rule_engine import Array, Change, Rule, Workload


class SortTopk(Rule):
    """Take the largest k with `tf.math.top_k`, not by sorting everything.

    A sort orders all n numbers, though only k of them are kept.

    **Equal when** no number is NaN, k is not larger than the last axis, and k is not negative.
    """

    message = "`tf.math.top_k` finds the largest few without sorting the rest"
    category = "arithmetic"
    examples = (
        (
            'best = tf.sort(x, direction="DESCENDING")[..., :5]',
            "best = tf.math.top_k(x, k=5).values",
        ),
    )
    leave_alone = (
        'rest = tf.sort(x, direction="DESCENDING")[..., 5:]',
        "low = tf.sort(x)[..., :5]",
    )
    workload = Workload(
        "tf.sort(x, direction='DESCENDING')[..., :5]",
        {"x": Array(16, "n")},
        {"n": (10, 1_000, 50_000)},
        gradients=("x",),
        smallest=5,
        unequal={"nan": "NaN"},
    )
    safety = "review"
    changes = (Change("tf.sort($x, direction='DESCENDING')[..., :$k]", "tf.math.top_k($x, k=$k).values"),)
