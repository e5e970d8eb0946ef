"""Rows picked by a matrix product."""

from energy_code.rule_engine import Array, Change, Rule, RuleContext, Workload


class OnehotGather(Rule):
    """Pick rows with `tf.gather`, not with a product of one-hot vectors.

    `tf.one_hot(i, n) @ W` multiplies a matrix of zeros with all of `W` to copy one row; `tf.gather`
    copies the row.

    **Equal when** every index lies in range (one-hot gives zeros for others, gather fails), the rows hold
    no NaN or infinity (0 × ∞ spreads through the product), and the indices have one axis.
    """

    message = "`tf.gather` copies the rows that the one-hot product multiplies out"
    category = "arithmetic"
    examples = (
        ("rows = tf.matmul(tf.one_hot(ids, 1000), table)", "rows = tf.gather(table, ids)"),
        ("rows = tf.one_hot(ids, depth=n) @ table", "rows = tf.gather(table, ids)"),
    )
    leave_alone = (
        "rows = tf.matmul(tf.one_hot(ids, 10, on_value=0.9), table)",
        "rows = tf.matmul(table, tf.one_hot(ids, 10))",
    )
    workload = Workload(
        "tf.matmul(tf.one_hot(ids, 256), table)",
        {"ids": Array("n", dtype="int32", below=256), "table": Array(256, 64)},
        {"n": (4, 256, 4096)},
        tolerance=1e-5,
        gradients=("table",),
        unequal={"nan": "NaN", "infinite": "infinity"},
    )
    safety = "review"
    changes = (Change("tf.one_hot($i, $depth) @ $table", "tf.gather($table, $i)"),)

    def where(self, place: RuleContext) -> bool:
        """The depth is dropped: it must have no effects."""
        return "(" not in place.text(place["depth"]) or place.api(place["depth"]) is not None
