"""Einsum for products."""

from energy_code.rule_engine import Array, Rule, Workload


class Einsum(Rule):
    """Write `tf.matmul` instead of `tf.einsum`.

    `tf.einsum` finds that its equation is a matrix product and calls the same kernel.
    """

    message = "`tf.einsum` calls the same kernel as `tf.matmul`"
    category = "arithmetic"
    workload = Workload(
        "tf.einsum('ij,jk->ik', a, b)",
        {"a": Array("n", "n"), "b": Array("n", "n")},
        {"n": (16, 128, 512)},
        after="tf.matmul(a, b)",
        tolerance=1e-4,
        absolute=1e-4,
        vary=False,
    )
    safety = "none"
    saves = False
