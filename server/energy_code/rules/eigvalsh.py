"""Eigenvectors that nobody uses."""

from energy_code.rule_engine import NOT_JIT, Array, Change, Rule, Workload


class Eigvalsh(Rule):
    """Ask for eigenvalues alone when the eigenvectors are not used.

    `tf.linalg.eigh(A)[0]` computes the eigenvectors too, which is most of the work.

    **Equal when** rounding does not matter. Under a tape the gradient needs the eigenvectors: the rule is
    silent there.
    """

    message = "`tf.linalg.eigvalsh` leaves out the eigenvectors that are not used"
    category = "arithmetic"
    examples = (("w = tf.linalg.eigh(A)[0]", "w = tf.linalg.eigvalsh(A)"),)
    leave_alone = (
        "w, v = tf.linalg.eigh(A)",
        "v = tf.linalg.eigh(A)[1]",
        "with tf.GradientTape() as t:\n    w = tf.linalg.eigh(A)[0]",
    )
    workload = Workload(
        "tf.linalg.eigh(a)[0]",
        {"a": Array("n", "n", values="spd")},
        {"n": (8, 64, 192)},
        tolerance=1e-3,
        absolute=1e-3,
        vary=False,
    )
    safety = "safe"
    modes = NOT_JIT
    under_tape = False
    changes = (Change("tf.linalg.eigh($a)[0]", "tf.linalg.eigvalsh($a)"),)
