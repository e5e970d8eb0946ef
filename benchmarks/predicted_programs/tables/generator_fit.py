"""Batches from a generator of Python."""
import numpy as np
import keras

def batches():
    while True:
        yield np.random.rand(32, 64).astype("float32"), np.random.randint(0, 2, (32, 1))

model = keras.Sequential([
    keras.Input((64,)),
    keras.layers.Dense(256, activation="relu"),
    keras.layers.Dense(64, activation="relu"),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile("rmsprop", "binary_crossentropy")
model.fit(batches(), steps_per_epoch=60, epochs=3, verbose=0)
