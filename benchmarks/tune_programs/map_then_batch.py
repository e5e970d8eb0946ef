"""map then batch: a small program of ordinary make for benchmarks/tune_table.py."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(2)
images = np.random.randint(0, 255, (20000, 14, 14, 1)).astype("uint8")
labels = np.random.randint(0, 10, 20000)


def normalize_img(image, label):
    return tf.cast(image, tf.float32) / 255.0, label


ds = tf.data.Dataset.from_tensor_slices((images, labels))
ds = ds.map(normalize_img, num_parallel_calls=tf.data.AUTOTUNE)
ds = ds.shuffle(2000, seed=1)
ds = ds.take(18000)
ds = ds.batch(128)
ds = ds.prefetch(tf.data.AUTOTUNE)
model = keras.Sequential(
    [
        keras.Input((14, 14, 1)),
        keras.layers.Flatten(),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(10),
    ]
)
model.compile(
    optimizer="adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"]
)
history = model.fit(ds, epochs=6, verbose=0)
print("loss", round(history.history["loss"][-1], 4))
