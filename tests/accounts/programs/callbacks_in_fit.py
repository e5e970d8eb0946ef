"""`fit` with TensorBoard (where it is installed), checkpoints and a callback of its own."""

import importlib.util
import tempfile

import keras
import numpy as np

rng = np.random.default_rng(0)
x, y = rng.normal(size=(1024, 32)).astype("float32"), rng.normal(size=(1024, 1)).astype("float32")
folder = tempfile.mkdtemp()
model = keras.Sequential([keras.layers.Input((32,)), keras.layers.Dense(64), keras.layers.Dense(1)])
model.compile("sgd", "mse")
callbacks = [
    keras.callbacks.ModelCheckpoint(folder + "/best.keras"),
    keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: print("epoch", epoch)),
]
if importlib.util.find_spec("tensorboard"):
    callbacks.append(keras.callbacks.TensorBoard(folder, histogram_freq=1))
model.fit(x, y, epochs=3, batch_size=64, callbacks=callbacks, verbose=0)
