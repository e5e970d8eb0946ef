"""Singular vectors that nobody uses."""

from energy_code.rule_engine import NOT_JIT, Array, Change, Rule, Workload


class SvdValues(Rule):
    """Ask for singular values alone when the vectors are not used.

    `tf.linalg.svd(A)[0]` computes both sets of singular vectors too, which is most of the work.

    **Equal when** rounding does not matter. Under a tape the gradient needs the vectors: the rule is
    silent there.
    """

    message = "`compute_uv=False` leaves out the singular vectors that are not used"
    category = "arithmetic"
    examples = (("s = tf.linalg.svd(A)[0]", "s = tf.linalg.svd(A, compute_uv=False)"),)
    leave_alone = ("s, u, v = tf.linalg.svd(A)", "s = tf.linalg.svd(A, compute_uv=False)[0]")
    workload = Workload(
        "tf.linalg.svd(a)[0]",
        {"a": Array("n", "n")},
        {"n": (8, 64, 192)},
        tolerance=1e-3,
        absolute=1e-3,
        vary=False,
    )
    safety = "safe"
    modes = NOT_JIT
    under_tape = False
    changes = (Change("tf.linalg.svd($a)[0]", "tf.linalg.svd($a, compute_uv=False)"),)
