"""Transposing before a matrix product."""

from energy_code.rule_engine import EAGER, Array, Change, Rule, RuleContext, Workload


class MatmulTranspose(Rule):
    """Let the matrix product transpose.

    `tf.matmul(tf.transpose(a), b)` copies `a` in another order first; with `transpose_a=True` the product
    reads it the other way round. Grappler does this inside `tf.function`.

    **Equal when** the transposed operand has two axes: of more, `tf.transpose` reverses all and
    `transpose_a` swaps the last two. The fix is safe where the rank is known, and for review otherwise.
    """

    message = "`transpose_a=True` / `transpose_b=True` saves the copy that `tf.transpose` makes"
    category = "memory"
    examples = (
        ("y = tf.matmul(tf.transpose(a), b)", "y = tf.matmul(a, b, transpose_a=True)"),
        ("y = tf.matmul(a, tf.transpose(b))", "y = tf.matmul(a, b, transpose_b=True)"),
        (
            "def gram(x: tf.Tensor):\n    return x @ tf.transpose(x)",
            "def gram(x: tf.Tensor):\n    return tf.matmul(x, x, transpose_b=True)",
        ),
    )
    leave_alone = ("y = tf.matmul(tf.transpose(a, [0, 2, 1]), b)", "y = tf.matmul(a, b)")
    workload = Workload(
        "tf.matmul(tf.transpose(a), b)",
        {"a": Array("n", "n"), "b": Array("n", "n")},
        {"n": (16, 128, 512)},
        tolerance=1e-4,
        absolute=1e-4,
        gradients=("a", "b"),
    )
    safety = "review"
    modes = EAGER
    changes = (
        Change(
            "tf.transpose($a) @ tf.transpose($b)", "tf.matmul($a, $b, transpose_a=True, transpose_b=True)"
        ),
        Change("tf.transpose($a) @ $b", "tf.matmul($a, $b, transpose_a=True)"),
        Change("$a @ tf.transpose($b)", "tf.matmul($a, $b, transpose_b=True)"),
    )

    def where(self, place: RuleContext) -> bool:
        """Not where more than two axes are known."""
        ranks = [place.rank(place[name]) for name in ("a", "b")]
        return all(rank in (None, 2) for rank in ranks)

    def proven(self, place: RuleContext) -> bool:
        """Two axes each."""
        return place.rank(place["a"]) == 2 and place.rank(place["b"]) == 2
