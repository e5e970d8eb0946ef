"""A small classifier trained with `fit`."""

import keras
import numpy as np

rng = np.random.default_rng(0)
x = rng.normal(size=(2048, 64)).astype("float32")
y = (x[:, :8].sum(axis=1) > 0).astype("int32")
model = keras.Sequential(
    [keras.layers.Input((64,)), keras.layers.Dense(256, activation="relu"), keras.layers.Dense(2)]
)
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, epochs=4, batch_size=64, verbose=0)
print(model.predict(x[:8], verbose=0).shape)
