"""Neural collaborative filtering in Keras."""

import keras
from keras import layers

import data

USERS, ITEMS, WIDTH = 2000, 1000, 32
asked = data.options(samples=32_768, epochs=3)
keras.utils.set_random_seed(0)
user, item, liked = data.ratings(asked.samples, USERS, ITEMS)

users, items = keras.Input((), dtype="int32"), keras.Input((), dtype="int32")
joined = layers.Concatenate()([layers.Embedding(USERS, WIDTH)(users), layers.Embedding(ITEMS, WIDTH)(items)])
hidden = layers.Dense(64, activation="relu")(joined)
hidden = layers.Dense(32, activation="relu")(hidden)
model = keras.Model([users, items], layers.Dense(1, activation="sigmoid")(hidden))
model.compile(keras.optimizers.Adam(1e-3), "binary_crossentropy")

model.fit([user, item], liked, batch_size=asked.batch, epochs=asked.epochs, verbose=0)
scores = model.predict([user, item], batch_size=asked.batch, verbose=0)
print(f"accuracy: {((scores[:, 0] > 0.5) == (liked > 0.5)).mean():.4f}")
