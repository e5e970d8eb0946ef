import tensorflow as tf


def l2(x):
    return tf.sqrt(tf.reduce_sum(tf.square(x)))
