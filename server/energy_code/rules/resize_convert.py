"""Converting an image before resizing it."""

from energy_code.rule_engine import NOT_JIT, Array, Change, Rule, RuleContext, Workload


class ResizeConvert(Rule):
    """Resize the bytes, then scale the smaller image.

    `tf.image.convert_image_dtype` writes four bytes for each byte of the full image, and
    `tf.image.resize` reads them; `resize` takes bytes as they are, and the division by 255 then runs over
    the small result.

    **Equal when** the image has `uint8` pixels (for others the factor is another one) and the method is
    not nearest neighbour, whose result stays in bytes. Values agree to about 1e-6.
    """

    message = "resize the bytes first: the conversion then runs over the smaller image"
    category = "image"
    examples = (
        (
            "x = tf.image.resize(tf.image.convert_image_dtype(image, tf.float32), [224, 224])",
            "x = tf.image.resize(image, [224, 224]) / 255.0",
        ),
    )
    leave_alone = (
        'x = tf.image.resize(tf.image.convert_image_dtype(image, tf.float32), s, method="nearest")',
        "x = tf.image.resize(tf.image.convert_image_dtype(image, tf.uint8), s)",
    )
    workload = Workload(
        "tf.image.resize(tf.image.convert_image_dtype(image, tf.float32), [64, 64])",
        {"image": Array("n", "n", 3, dtype="uint8", below=256)},
        {"n": (64, 256, 1024)},
        tolerance=1e-4,
        absolute=1e-5,
        vary=False,
    )
    safety = "review"
    modes = NOT_JIT
    changes = (
        Change(
            "tf.image.resize(tf.image.convert_image_dtype($image, tf.float32), $size, antialias=$antialias?)",
            "tf.image.resize($image, $size, antialias=$antialias?) / 255.0",
        ),
    )

    def where(self, place: RuleContext) -> bool:
        """Bytes, as far as known."""
        return place.dtype(place["image"]) in (None, "uint8")

    def proven(self, place: RuleContext) -> bool:
        """Bytes for sure."""
        return place.dtype(place["image"]) == "uint8"
