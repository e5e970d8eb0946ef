import math

import tensorflow as tf


def ring(n):
    angle = tf.random.uniform([n], maxval=2 * math.pi)
    points = tf.stack([tf.cos(angle), tf.sin(angle)], -1)
    return tf.data.Dataset.from_tensor_slices(points).shuffle(n).map(lambda p: p + tf.random.normal([2], stddev=0.05))
