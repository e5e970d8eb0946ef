"""generator: a small program of ordinary make for benchmarks/tune_table.py."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(5)
x = np.random.rand(10000, 16).astype("float32")
y = x.sum(axis=1).astype("float32")


def generator():
    for one, target in zip(x, y):
        yield one, target


ds = tf.data.Dataset.from_generator(
    generator, output_signature=(tf.TensorSpec((16,), tf.float32), tf.TensorSpec((), tf.float32))
).batch(64)
model = keras.Sequential(
    [keras.Input((16,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)]
)
model.compile("adam", "mse")
h = model.fit(ds, epochs=4, verbose=0)
print("loss", round(h.history["loss"][-1], 3))
