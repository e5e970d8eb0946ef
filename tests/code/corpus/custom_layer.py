from tensorflow import keras
from tensorflow.keras import layers
import tensorflow as tf


class Linear(layers.Layer):
    def __init__(self, units=32, **kwargs):
        super(Linear, self).__init__(**kwargs)
        self.units = units

    def build(self, input_shape):
        self.w = self.add_weight(
            shape=(input_shape[-1], self.units), initializer="random_normal", trainable=True, name="w"
        )
        self.b = self.add_weight(shape=(self.units,), initializer=keras.initializers.Zeros(), name="b")
        super().build(input_shape)

    def call(self, inputs):
        return tf.matmul(inputs, self.w) + self.b

    def get_config(self):
        config = super().get_config()
        config.update({"units": self.units})
        return config


class Residual(layers.Layer):
    def __init__(self, depth):
        super().__init__()
        self.blocks = [Linear(4) for _ in range(depth)]
        self.activation = layers.ReLU()

    def call(self, x):
        for block in self.blocks:
            x = x + self.activation(block(x))
        return x


class ComputeSum(keras.layers.Layer):
    def __init__(self, dim):
        super().__init__()
        self.total = self.add_weight(initializer="zeros", shape=(dim,), trainable=False)

    def call(self, inputs):
        self.total.assign_add(tf.reduce_sum(inputs, axis=0))
        return self.total


x = tf.ones((2, 4))
linear = Linear(4)
y = linear(x)
print(y.numpy(), linear.w.shape, len(linear.trainable_weights))
print(Residual(2)(x).shape)
summer = ComputeSum(4)
for _ in range(3):
    summer(x)
print(summer.total.numpy())
copy = Linear.from_config(linear.get_config())
copy.build((None, 4))
model = keras.Sequential([layers.InputLayer(shape=(4,)), copy, Residual(1), layers.Dense(1)])
print(model(x), [v.name for v in model.trainable_variables])
