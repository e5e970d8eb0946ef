"""Traces of products."""

from energy_code.ruling import Array, Change, Rule, Workload


class TraceMatmul(Rule):
    """Take the trace of a product without the product.

    The trace needs n of the n² entries of `a @ b`, each a sum of n products; summing `a * transpose(b)`
    computes only those.

    **Equal when** both are real matrices (or batches of them); the order of summation differs, so the
    last digits may.
    """

    message = "the trace needs only the diagonal of the product: sum `a * transpose(b)` instead"
    category = "arithmetic"
    examples = (
        (
            "t = tf.linalg.trace(tf.matmul(a, b))",
            "t = tf.reduce_sum(a * tf.linalg.matrix_transpose(b), axis=[-2, -1])",
        ),
    )
    leave_alone = ("t = tf.linalg.trace(a)", "t = tf.linalg.trace(tf.matmul(a, b, transpose_b=True))")
    workload = Workload(
        "tf.linalg.trace(tf.matmul(a, b))",
        {"a": Array("n", "n"), "b": Array("n", "n")},
        {"n": (16, 128, 512)},
        tolerance=1e-3,
        absolute=1e-2,
        gradients=("a", "b"),
    )
    safety = "review"
    changes = (
        Change(
            "tf.linalg.trace($a @ $b)",
            "tf.reduce_sum($a * tf.linalg.matrix_transpose($b), axis=[-2, -1])",
        ),
    )
