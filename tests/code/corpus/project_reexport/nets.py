import tensorflow as tf
from tensorflow.keras import layers as L
from tensorflow.keras.losses import MeanAbsoluteError, MeanSquaredError

import settings
from base import BaseEncoder

LOSSES = {"mse": MeanSquaredError(), "mae": MeanAbsoluteError()}


def make_mlp(widths):
    model = tf.keras.Sequential()
    for width in widths:
        model.add(L.Dense(width))
    return model


def random_input(*shape):
    return tf.random.normal(shape)


def get_optimizer(name):
    if name == "sgd":
        return tf.keras.optimizers.SGD(0.1)
    return tf.keras.optimizers.Adam()


class Encoder(BaseEncoder):
    def call(self, x):
        return self.project(super().call(x))
