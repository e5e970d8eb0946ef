"""Traces of products."""

from energy_code.rule_engine import Array, Change, Rule, RuleContext, Workload
from energy_code.rule_engine.queries.shapes import is_large

_SMALL = 256


class TraceMatmul(Rule):
    """Take the trace of a product without the product.

    The trace needs n of the n² entries of `a @ b`, each a sum of n products; summing `a * transpose(b)`
    computes only those.

    For small matrices the dispatch costs more than the product: the rule is silent where they are known to
    be small.

    **Equal when** both are real matrices (or batches of them); the order of summation differs, so the
    last digits may. NaN and infinity spread to other gradients.
    """

    message = "the trace needs only the diagonal of the product: sum `a * transpose(b)` instead"
    category = "arithmetic"
    examples = (
        (
            "t = tf.linalg.trace(tf.matmul(a, b))",
            "t = tf.reduce_sum(a * tf.linalg.matrix_transpose(b), axis=[-2, -1])",
        ),
    )
    leave_alone = (
        "a = tf.ones([8, 8])\nt = tf.linalg.trace(tf.matmul(a, b))",
        "t = tf.linalg.trace(a)",
        "t = tf.linalg.trace(tf.matmul(a, b, transpose_b=True))",
    )
    workload = Workload(
        "tf.linalg.trace(tf.matmul(a, b))",
        {"a": Array("n", "n"), "b": Array("n", "n")},
        {"n": (64, 256, 768)},
        tolerance=1e-3,
        absolute=1e-2,
        gradients=("a", "b"),
        unequal={"nan": "NaN", "infinite": "infinity"},
    )
    safety = "review"
    changes = (
        Change(
            "tf.linalg.trace($a @ $b)",
            "tf.reduce_sum($a * tf.linalg.matrix_transpose($b), axis=[-2, -1])",
        ),
    )

    def where(self, place: RuleContext) -> bool:
        """Not where the matrices are known to be small: the product is then cheaper than the dispatch."""
        return all(is_large(place, place[name], _SMALL) for name in ("a", "b"))
