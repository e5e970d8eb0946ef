"""Products with diagonal matrices."""

from energy_code.rule_engine import Array, Change, Rule, RuleContext, Workload
from energy_code.rule_engine.queries.shapes import is_large

_SMALL = 64


class DiagMatmul(Rule):
    """Scale rows instead of multiplying with a diagonal matrix.

    `tf.linalg.diag(d) @ x` writes n² numbers, nearly all zero, and multiplies them out; scaling the rows
    of x takes one multiplication per element. For small matrices the extra dispatch costs more than it
    saves: the rule is silent where n is known to be small.

    **Equal when** x holds no NaN or infinity (0 × ∞ spreads through the product), and x has at least two
    axes. The last digits may differ.
    """

    message = "scaling the rows saves the diagonal matrix and the product with its zeros"
    category = "arithmetic"
    examples = (
        ("y = tf.linalg.diag(d) @ x", "y = tf.expand_dims(d, -1) * x"),
        ("y = tf.matmul(tf.linalg.diag(d), x)", "y = tf.expand_dims(d, -1) * x"),
        ("y = tf.matmul(x, tf.linalg.diag(d))", "y = x * tf.expand_dims(d, -2)"),
    )
    leave_alone = (
        "d = tf.ones([8])\ny = tf.linalg.diag(d) @ x",
        "y = tf.linalg.diag(d, k=1) @ x",
    )
    workload = Workload(
        "tf.linalg.diag(d) @ x",
        {"d": Array("n"), "x": Array("n", "n")},
        {"n": (64, 256, 1024)},
        tolerance=1e-5,
        absolute=1e-6,
        gradients=("d", "x"),
        unequal={"nan": "NaN", "infinite": "infinity"},
    )
    safety = "review"
    changes = (
        Change("tf.linalg.diag($d) @ $x", "tf.expand_dims($d, -1) * $x"),
        Change("$x @ tf.linalg.diag($d)", "$x * tf.expand_dims($d, -2)"),
    )

    def where(self, place: RuleContext) -> bool:
        """Not where the matrix is known to be small, nor for the product of two diagonals."""
        if "linalg.diag(" in place.text(place["x"]):
            return False
        return is_large(place, place["d"], _SMALL)
