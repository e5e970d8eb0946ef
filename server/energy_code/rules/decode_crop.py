"""Decoding more of a JPEG than is used."""

from energy_code.rule_engine import NOT_JIT, Change, Rule, Workload


class DecodeCrop(Rule):
    """Decode only the part of a JPEG that is kept.

    `tf.io.decode_and_crop_jpeg` leaves out the blocks outside the window, which saves most of the
    decoding when the window is small.

    **Not equal**: colours at the border of the window are interpolated differently, by up to 23 of 255
    levels, and the window is given as one vector. There is no automatic fix.
    """

    message = "`tf.io.decode_and_crop_jpeg` decodes only the window that is kept"
    category = "image"
    reports = ("x = tf.image.crop_to_bounding_box(tf.io.decode_jpeg(data), 10, 10, 64, 64)",)
    leave_alone = ("x = tf.image.crop_to_bounding_box(image, 10, 10, 64, 64)",)
    workload = Workload(
        "tf.image.crop_to_bounding_box(tf.io.decode_jpeg(data), 16, 16, 48, 48)",
        {"data": "tf.io.encode_jpeg(tf.constant(rng.integers(0, 256, size=(n, n, 3)), tf.uint8))"},
        {"n": (64, 256, 1024)},
        after="tf.io.decode_and_crop_jpeg(data, [16, 16, 48, 48])",
        absolute=64.0,
        vary=False,
    )
    safety = "none"
    modes = NOT_JIT
    changes = (
        Change(
            "tf.image.crop_to_bounding_box(tf.io.decode_jpeg($data, channels=$channels?), $y, $x, $h, $w)"
        ),
    )
    signatures = (
        ("tf.image.crop_to_bounding_box", "image, offset_height, offset_width, target_height, target_width"),
        (
            "tf.io.decode_jpeg",
            "contents, channels=0, ratio=1, fancy_upscaling=True, try_recover_truncated=False, "
            "acceptable_fraction=1, dct_method='', name=None",
        ),
    )
