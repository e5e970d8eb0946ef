"""Texts as numbers through an embedding and a bidirectional GRU, data in tf.data."""
import tensorflow as tf
from tensorflow.keras import layers

vocabulary, length = 6000, 48
texts = tf.random.uniform((2000, length), maxval=vocabulary, dtype=tf.int32)
stars = tf.random.uniform((2000, 1), maxval=2, dtype=tf.int32)
train = tf.data.Dataset.from_tensor_slices((texts, stars)).shuffle(2000).batch(50).prefetch(tf.data.AUTOTUNE)

model = tf.keras.Sequential([
    layers.Embedding(vocabulary, 40),
    layers.Bidirectional(layers.GRU(24)),
    layers.Dense(24, activation="relu"),
    layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(train, epochs=3, verbose=0)
