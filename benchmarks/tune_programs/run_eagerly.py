"""run eagerly: a small program of ordinary make for benchmarks/tune_table.py."""

import numpy as np
from tensorflow import keras

keras.utils.set_random_seed(5)
x = np.random.rand(3000, 16).astype("float32")
y = x.sum(axis=1)
model = keras.Sequential(
    [keras.Input((16,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)]
)
model.compile("adam", "mse", run_eagerly=True)
h = model.fit(x, y, epochs=3, verbose=0)
print("loss", round(h.history["loss"][-1], 3))
