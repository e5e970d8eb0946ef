"""Euclidean norms in three steps."""

from energy_code.rule_engine import NOT_JIT, Array, Change, Rule, Workload


class EuclideanNorm(Rule):
    """Take the Euclidean norm in one reduction.

    `tf.sqrt(tf.reduce_sum(tf.square(x), axis))` writes the squares to memory first;
    `tf.math.reduce_euclidean_norm` squares while it sums. (`tf.norm` is the three steps again and costs
    more than either.)

    **Equal when** no gradient is taken at a vector of zeros: there the gradient before is NaN or infinite
    and after it is NaN. Sums run in different orders, so the last digits differ. The operation has no
    kernel under `jit_compile=True` on CPUs, where the rule is silent.
    """

    message = "`tf.math.reduce_euclidean_norm` squares while it sums, without writing the squares to memory"
    category = "memory"
    examples = (
        (
            "d = tf.sqrt(tf.reduce_sum(tf.square(a - b), axis=-1))",
            "d = tf.math.reduce_euclidean_norm(a - b, axis=-1)",
        ),
        (
            "d = tf.sqrt(tf.reduce_sum(tf.square(x), 1, keepdims=True))",
            "d = tf.math.reduce_euclidean_norm(x, axis=1, keepdims=True)",
        ),
    )
    leave_alone = (
        "d = tf.sqrt(tf.reduce_mean(tf.square(x)))",
        "d = tf.sqrt(tf.reduce_sum(tf.square(x)) + 1e-8)",
        "@tf.function(jit_compile=True)\ndef f(x):\n    return tf.sqrt(tf.reduce_sum(tf.square(x)))",
    )
    workload = Workload(
        "tf.sqrt(tf.reduce_sum(tf.square(x), axis=-1))",
        {"x": Array("n", 64)},
        {"n": (4, 256, 16_384)},
        tolerance=1e-5,
        gradients=("x",),
    )
    safety = "review"
    modes = NOT_JIT
    changes = (
        Change(
            "tf.sqrt(tf.reduce_sum(tf.square($x), axis=$axis?, keepdims=$keepdims?))",
            "tf.math.reduce_euclidean_norm($x, axis=$axis?, keepdims=$keepdims?)",
        ),
    )
