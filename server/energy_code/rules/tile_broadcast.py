"""Tiling before arithmetic that broadcasts."""

from energy_code.ruling import Array, Change, Rule, Workload


class TileBroadcast(Rule):
    """Let arithmetic broadcast instead of tiling.

    `x * tf.tile(b, …)` writes all copies of `b` to memory; the arithmetic repeats an axis of length one
    by itself.

    **Equal when** every tiled axis has length 1: any other tiling is a different result, so this fix is
    for review.
    """

    message = "arithmetic repeats an axis of length 1 by itself; `tf.tile` writes the copies to memory"
    category = "memory"
    examples = (
        ("y = x * tf.tile(b, [8, 1])", "y = x * b"),
        ("y = x + tf.tile(b, [tf.shape(x)[0], 1])", "y = x + b"),
    )
    leave_alone = ("y = tf.tile(b, [8, 1])", "y = tf.concat([x, tf.tile(b, [8, 1])], 1)")
    workload = Workload(
        "x * tf.tile(b, [tf.shape(x)[0], 1])",
        {"x": Array("n", 128), "b": Array(1, 128)},
        {"n": (4, 256, 8192)},
        gradients=("x", "b"),
    )
    safety = "review"
    changes = tuple(
        change
        for symbol in ("*", "+", "-")
        for change in (Change(f"$x {symbol} tf.tile($b, $multiples)", f"$x {symbol} $b"),)
    )
