"""convolutions: a small program of ordinary make for benchmarks/tune_table.py."""

import numpy as np
from tensorflow import keras

keras.utils.set_random_seed(1)
x = np.random.rand(600, 24, 24, 3).astype("float32")
y = np.random.randint(0, 5, 600)
model = keras.Sequential(
    [
        keras.Input((24, 24, 3)),
        keras.layers.Conv2D(24, 3, activation="relu"),
        keras.layers.Conv2D(24, 3, activation="relu"),
        keras.layers.GlobalAveragePooling2D(),
        keras.layers.Dense(5),
    ]
)
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=50, epochs=3, verbose=2)
