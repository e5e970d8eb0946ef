"""Names from Keras that are something else here."""
import types

import tensorflow as tf


class Dense:
    def __init__(self, units):
        self.units = units

    def __call__(self, x):
        return tf.repeat(x, self.units)


class Sequential(list):
    def add(self, item):
        self.append(item)

    def fit(self, x, epochs=1):
        for _ in range(epochs):
            for step in self:
                x = step(x)
        return x


class Model:
    def compile(self, **options):
        self.options = options

    def fit(self, *data):
        return self.options


keras = types.SimpleNamespace(layers=types.SimpleNamespace(Dense=Dense), Model=Model)
net = Sequential()
net.add(Dense(2))
net.add(keras.layers.Dense(3))
net.add(lambda x: tf.reduce_sum(x))
print(net.fit(tf.ones(1)).numpy())
m = keras.Model()
m.compile(optimizer="adam")
print(m.fit(1, 2))


def matmul(a, b):
    return tf.matmul(a, b)


class Tape:
    def __enter__(self):
        return self

    def __exit__(self, *args):
        return False

    def gradient(self, a, b):
        return [a, b]


with Tape() as tape:
    print(tape.gradient(1, 2))
print(matmul(tf.eye(2), tf.eye(2)).numpy().trace())


def tf_like(tf=types.SimpleNamespace(ones=list)):
    return tf.ones((1, 2))


print(tf_like(), [constant for constant in (tf.constant(1),)][0].numpy())
