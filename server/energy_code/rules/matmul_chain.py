"""The order of matrix products."""

from energy_code.rule_engine import Array, Change, Rule, Workload


class MatmulChain(Rule):
    """Multiply matrices with the vector first.

    `(A @ B) @ v` takes n³ multiplications for the product of the matrices; `A @ (B @ v)` takes 2·n².

    **Equal when** no entry is infinity and rounding does not matter: the sums run in another order (about
    1e-3 of the value for n = 512).
    """

    message = "multiplying with the vector first takes n² steps instead of n³"
    category = "arithmetic"
    examples = (
        (
            "y = tf.linalg.matvec(tf.matmul(a, b), v)",
            "y = tf.linalg.matvec(a, tf.linalg.matvec(b, v))",
        ),
    )
    leave_alone = (
        "y = tf.linalg.matvec(a, v)",
        "y = tf.linalg.matvec(tf.matmul(a, b, transpose_b=True), v)",
    )
    workload = Workload(
        "tf.linalg.matvec(tf.matmul(a, b), v)",
        {"a": Array("n", "n"), "b": Array("n", "n"), "v": Array("n")},
        {"n": (16, 128, 512)},
        tolerance=1e-2,
        absolute=1e-2,
        gradients=("a", "b", "v"),
        gradient_tolerance=1e-2,
        unequal={"infinite": "infinity"},
    )
    safety = "review"
    changes = (Change("tf.linalg.matvec($a @ $b, $v)", "tf.linalg.matvec($a, tf.linalg.matvec($b, $v))"),)
