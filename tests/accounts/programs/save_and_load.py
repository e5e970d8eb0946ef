"""Saving and loading a model and arrays."""

import os
import tempfile

import keras
import numpy as np

folder = tempfile.mkdtemp()
np.save(os.path.join(folder, "x.npy"), np.random.default_rng(0).normal(size=(20000, 64)).astype("float32"))
x = np.load(os.path.join(folder, "x.npy"))
model = keras.Sequential([keras.layers.Input((64,)), keras.layers.Dense(512), keras.layers.Dense(64)])
model.compile("adam", "mse")
model.fit(x[:2000], x[:2000], verbose=0)
path = os.path.join(folder, "model.keras")
model.save(path)
again = keras.models.load_model(path)
print(np.allclose(model.predict(x[:4], verbose=0), again.predict(x[:4], verbose=0)))
