"""Greyscale before resizing."""

from energy_code.rule_engine import NOT_JIT, Change, Rule
from energy_code.rule_engine.evidence.common_workloads import resizing


class GrayResize(Rule):
    """Turn the smaller image grey.

    `tf.image.rgb_to_grayscale` reads every pixel; after `tf.image.resize` to a smaller size there are
    fewer of them.

    **Equal when** the image has floating-point pixels, since both steps are weighted sums; bytes are
    rounded between the steps. It saves when the image gets smaller: the fix is for review.
    """

    message = "resize first: the greyscale conversion then reads the smaller image"
    category = "image"
    examples = (
        (
            "x = tf.image.resize(tf.image.rgb_to_grayscale(image), [64, 64])",
            "x = tf.image.rgb_to_grayscale(tf.image.resize(image, [64, 64]))",
        ),
    )
    leave_alone = ("x = tf.image.rgb_to_grayscale(tf.image.resize(image, [64, 64]))",)
    workload = resizing("tf.image.resize(tf.image.rgb_to_grayscale(image), [64, 64])")
    safety = "review"
    modes = NOT_JIT
    changes = (
        Change(
            "tf.image.resize(tf.image.rgb_to_grayscale($image), $size)",
            "tf.image.rgb_to_grayscale(tf.image.resize($image, $size))",
        ),
    )
