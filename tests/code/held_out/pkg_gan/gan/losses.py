from typing import Callable, NamedTuple

import tensorflow as tf


class Objective(NamedTuple):
    critic: Callable[[tf.Tensor, tf.Tensor], tf.Tensor]
    generator: Callable[[tf.Tensor], tf.Tensor]


_bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)


def _critic_bce(real, fake):
    return _bce(tf.ones_like(real), real) + _bce(tf.zeros_like(fake), fake)


def _hinge(real, fake):
    return tf.reduce_mean(tf.nn.relu(1.0 - real)) + tf.reduce_mean(tf.nn.relu(1.0 + fake))


OBJECTIVES = {
    "bce": Objective(_critic_bce, lambda fake: _bce(tf.ones_like(fake), fake)),
    "hinge": Objective(_hinge, lambda fake: -tf.reduce_mean(fake)),
}


def get(name: str) -> Objective:
    return OBJECTIVES[name]
