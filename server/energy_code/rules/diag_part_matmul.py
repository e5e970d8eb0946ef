"""Diagonals of products."""

from energy_code.ruling import Array, Change, Rule, Workload


class DiagPartMatmul(Rule):
    """Take the diagonal of a product without the product.

    Only n of the n² entries of `a @ b` are kept; summing the rows of `a * transpose(b)` computes only
    those.

    **Equal when** the product is square (n rows and n columns): of another one the diagonal is shorter.
    The order of summation differs, so the last digits may.
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
    leave_alone = ("d = tf.linalg.diag_part(a)", "d = tf.linalg.diag_part(tf.matmul(a, b), k=1)")
    workload = Workload(
        "tf.linalg.diag_part(tf.matmul(a, b))",
        {"a": Array("n", "n"), "b": Array("n", "n")},
        {"n": (16, 128, 512)},
        tolerance=1e-3,
        absolute=1e-3,
        gradients=("a", "b"),
    )
    safety = "review"
    changes = (
        Change("tf.linalg.diag_part($a @ $b)", "tf.reduce_sum($a * tf.linalg.matrix_transpose($b), axis=-1)"),
        Change("tf.linalg.diag_part(tf.matmul($a, $b, transpose_b=True))", "tf.reduce_sum($a * $b, axis=-1)"),
    )
