"""Solving by inversion."""

from energy_code.rule_engine import Array, Change, Rule, Workload


class InvSolve(Rule):
    """Solve a linear system without inverting the matrix.

    `tf.linalg.inv(A) @ b` computes all columns of the inverse and multiplies; `tf.linalg.solve(A, b)`
    factorises once. It also loses fewer digits.

    **Equal when** rounding does not matter, and b is a matrix of as many axes as A: `solve` does not
    broadcast.
    """

    message = "`tf.linalg.solve` factorises once instead of inverting and multiplying, and is more precise"
    category = "arithmetic"
    examples = (
        ("x = tf.linalg.inv(A) @ b", "x = tf.linalg.solve(A, b)"),
        ("x = tf.matmul(tf.linalg.inv(A), b)", "x = tf.linalg.solve(A, b)"),
    )
    leave_alone = ("x = b @ tf.linalg.inv(A)", "x = tf.linalg.inv(A)", "x = tf.linalg.pinv(A) @ b")
    workload = Workload(
        "tf.linalg.inv(a) @ b",
        {"a": Array("n", "n", values="spd"), "b": Array("n", 4)},
        {"n": (8, 64, 256)},
        tolerance=1e-3,
        absolute=1e-4,
        gradients=("b",),
        vary=False,
    )
    safety = "review"
    changes = (Change("tf.linalg.inv($a) @ $b", "tf.linalg.solve($a, $b)"),)
