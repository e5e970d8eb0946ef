import tensorflow as tf

class Scale(tf.keras.layers.Layer):
    def __init__(self, factor, **kwargs):
        super().__init__(**kwargs)
        self.factor = factor

    def call(self, inputs):
        return tf.multiply(inputs, self.factor)
