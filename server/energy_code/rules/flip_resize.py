"""Flipping before resizing."""

from energy_code.rule_engine import NOT_JIT, Change, Rule
from energy_code.rule_engine.evidence.common_workloads import resizing


class FlipResize(Rule):
    """Flip the smaller image.

    Flipping copies every pixel; after `tf.image.resize` to a smaller size there are fewer of them.

    **Equal when** rounding does not matter: resizing treats both directions alike. It saves when the
    image gets smaller: the fix is for review.
    """

    message = "resize first: the flip then copies the smaller image"
    category = "image"
    examples = (
        (
            "x = tf.image.resize(tf.image.flip_left_right(image), [64, 64])",
            "x = tf.image.flip_left_right(tf.image.resize(image, [64, 64]))",
        ),
    )
    leave_alone = ("x = tf.image.flip_left_right(tf.image.resize(image, [64, 64]))",)
    workload = resizing("tf.image.resize(tf.image.flip_left_right(image), [64, 64])")
    safety = "review"
    modes = NOT_JIT
    changes = tuple(
        Change(
            f"tf.image.resize(tf.image.{flip}($image), $size)",
            f"tf.image.{flip}(tf.image.resize($image, $size))",
        )
        for flip in ("flip_left_right", "flip_up_down")
    )
