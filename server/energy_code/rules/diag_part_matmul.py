"""Diagonals of products."""

from energy_code.rule_engine import Array, Change, Rule, RuleContext, Workload
from energy_code.rule_engine.queries.shapes import is_large

_SMALL = 256


class DiagPartMatmul(Rule):
    """Take the diagonal of a product without the product.

    Only n of the n² entries of `a @ b` are kept; summing the rows of `a * transpose(b)` computes only
    those.

    For small matrices the dispatch costs more than the product: the rule is silent where they are known to
    be small.

    **Equal when** the product is square (n rows and n columns): of another one the diagonal is shorter.
    The order of summation differs, so the last digits may; NaN and infinity spread to other gradients.
    """

    message = "the diagonal needs only n of the n² entries: sum the rows of `a * transpose(b)` instead"
    category = "arithmetic"
    examples = (
        (
            "d = tf.linalg.diag_part(tf.matmul(a, b))",
            "d = tf.reduce_sum(a * tf.linalg.matrix_transpose(b), axis=-1)",
        ),
        (
            "d = tf.linalg.diag_part(tf.matmul(a, b, transpose_b=True))",
            "d = tf.reduce_sum(a * b, axis=-1)",
        ),
    )
    leave_alone = (
        "a = tf.ones([8, 8])\nd = tf.linalg.diag_part(tf.matmul(a, b))",
        "d = tf.linalg.diag_part(a)",
        "d = tf.linalg.diag_part(tf.matmul(a, b), k=1)",
    )
    workload = Workload(
        "tf.linalg.diag_part(tf.matmul(a, b))",
        {"a": Array("n", "n"), "b": Array("n", "n")},
        {"n": (64, 256, 768)},
        tolerance=1e-3,
        absolute=1e-3,
        gradients=("a", "b"),
        unequal={"nan": "NaN", "infinite": "infinity"},
    )
    safety = "review"
    changes = (
        Change("tf.linalg.diag_part($a @ $b)", "tf.reduce_sum($a * tf.linalg.matrix_transpose($b), axis=-1)"),
        Change("tf.linalg.diag_part(tf.matmul($a, $b, transpose_b=True))", "tf.reduce_sum($a * $b, axis=-1)"),
    )

    def where(self, place: RuleContext) -> bool:
        """Not where the matrices are known to be small: the product is then cheaper than the dispatch."""
        return all(is_large(place, place[name], _SMALL) for name in ("a", "b"))
