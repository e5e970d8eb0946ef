"""Half precision on CPUs."""

from energy_code.rule_engine import Array, Rule, Workload


class Bfloat16(Rule):
    """Compute in `bfloat16`.

    Processors without units for `bfloat16` convert every number to `float32` and back; `float16` fares
    worse still. On a GPU or a recent server processor the answer is another one: measure there.
    """

    message = "half precision is slower on processors without units for it"
    category = "arithmetic"
    workload = Workload(
        "tf.matmul(a, b)",
        {"a": Array("n", "n"), "b": Array("n", "n")},
        {"n": (16, 64, 256)},
        after="tf.cast(tf.matmul(tf.cast(a, tf.bfloat16), tf.cast(b, tf.bfloat16)), tf.float32)",
        tolerance=0.1,
        absolute=1.0,
        vary=False,
    )
    safety = "none"
    saves = False
