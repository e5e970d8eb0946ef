"""tf.norm."""

from energy_code.rule_engine import Array, Rule, Workload


class Norm(Rule):
    """Use `tf.norm` for lengths.

    `tf.norm` is written in Python: it squares, sums and takes the root with the same operations, after
    looking at its arguments. What saves is `tf.math.reduce_euclidean_norm` (rule `euclid-norm`).
    """

    message = "`tf.norm` is the same three operations behind more Python"
    category = "arithmetic"
    workload = Workload(
        "tf.sqrt(tf.reduce_sum(tf.square(x)))",
        {"x": Array("n")},
        {"n": (100, 10_000, 1_000_000)},
        after="tf.norm(x)",
        tolerance=1e-4,
        vary=False,
    )
    safety = "none"
    saves = False
