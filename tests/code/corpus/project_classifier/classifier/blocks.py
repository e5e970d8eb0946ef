import tensorflow as tf


class DenseBlock(tf.keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.dense = tf.keras.layers.Dense(units)
        self.bn = tf.keras.layers.BatchNormalization()

    def call(self, x, training=None):
        return tf.nn.relu(self.bn(self.dense(x), training=training))
