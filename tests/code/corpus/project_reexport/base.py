import tensorflow as tf


class BaseEncoder(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.project = tf.keras.layers.Dense(2)

    def call(self, x):
        return tf.nn.l2_normalize(x, axis=-1)

    def encode(self, x):
        return self(x)
