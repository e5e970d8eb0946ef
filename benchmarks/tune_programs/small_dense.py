"""small dense: a small program of ordinary make for benchmarks/tune_table.py."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, models

tf.random.set_seed(0)
np.random.seed(0)
x_train = np.random.rand(6000, 20).astype("float32")
y_train = (x_train[:, 0] > x_train[:, 1]).astype("int32")
model = models.Sequential()
model.add(layers.Input((20,)))
model.add(layers.Dense(64, activation="relu"))
model.add(layers.Dropout(0.2))
model.add(layers.Dense(1, activation="sigmoid"))
model.compile(loss="binary_crossentropy", optimizer="rmsprop", metrics=["accuracy"])
model.fit(x_train, y_train, epochs=10, batch_size=32, verbose=0)
print("test", model.evaluate(x_train[:1000], y_train[:1000], verbose=0))
