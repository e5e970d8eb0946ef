import tensorflow as tf


class Compose:
    def __init__(self, steps):
        self.steps = steps

    def __call__(self, image, target):
        for step in self.steps:
            image, target = step(image, target)
        return image, target


class Brightness:
    def __init__(self, delta):
        self.delta = delta

    def __call__(self, image, target):
        return tf.image.adjust_brightness(image, self.delta), target


def flip(image, target):
    y0, x0, y1, x1 = tf.unstack(target["box"])
    return tf.image.flip_left_right(image), {**target, "box": tf.stack([y0, 1 - x1, y1, 1 - x0])}
