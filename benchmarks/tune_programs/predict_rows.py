"""predict rows: a small program of ordinary make for benchmarks/tune_table.py."""

import numpy as np
from tensorflow import keras

keras.utils.set_random_seed(7)
model = keras.Sequential(
    [
        keras.Input((10,)),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(3, activation="softmax"),
    ]
)
data = np.random.rand(80, 10).astype("float32")
labels = []
for row in data:
    probabilities = model.predict(row.reshape(1, -1), verbose=0)
    labels.append(int(np.argmax(probabilities)))
print("counts", np.bincount(labels, minlength=3))
