"""Casts there and back."""

from energy_code.rule_engine import NOT_JIT, Array, Change, Rule, RuleContext, Workload

_EXACT_IN_FLOAT64 = frozenset(
    {
        "float16",
        "bfloat16",
        "float32",
        "float64",
        "int8",
        "uint8",
        "int16",
        "uint16",
        "int32",
        "uint32",
        "bool",
    }
)


class CastRoundtrip(Rule):
    """Cast once.

    A cast to `float64` on the way to `float32` writes a tensor of twice the size and reads it again; the
    direct cast gives the same numbers, and is no operation at all for a tensor that has the type already.

    **Equal when** the numbers fit into `float64` exactly, as all types but 64-bit integers and complex
    numbers do; the fix is safe where the type is known, and for review otherwise.
    """

    message = "one cast is enough: the detour through float64 adds a pass over memory"
    category = "memory"
    examples = (
        (
            "y = tf.cast(tf.cast(x, tf.float64), tf.float32)",
            "y = tf.cast(x, tf.float32)",
        ),
    )
    leave_alone = (
        "y = tf.cast(tf.cast(x, tf.int32), tf.float32)",
        "y = tf.cast(tf.cast(x, tf.float32), tf.float64)",
    )
    workload = Workload(
        "tf.cast(tf.cast(x, tf.float64), tf.float32)",
        {"x": Array("n")},
        {"n": (100, 10_000, 1_000_000)},
        gradients=("x",),
    )
    safety = "review"
    modes = NOT_JIT
    changes = (
        Change("tf.cast(tf.cast($x, tf.float64), tf.float32)", "tf.cast($x, tf.float32)"),
        Change("tf.cast(tf.cast($x, tf.float64), tf.float16)", "tf.cast($x, tf.float16)"),
    )

    def proven(self, place: RuleContext) -> bool:
        """Known to fit into float64."""
        return place.dtype(place["x"]) in _EXACT_IN_FLOAT64
