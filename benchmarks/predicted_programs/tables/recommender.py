"""Dot products of embeddings."""
import numpy as np
import keras
from keras import layers

users, items, width = 1500, 900, 32
user = keras.Input((1,), name="user")
item = keras.Input((1,), name="item")
u = layers.Flatten()(layers.Embedding(users, width)(user))
v = layers.Flatten()(layers.Embedding(items, width)(item))
rating = layers.Dense(1)(layers.concatenate([layers.Dot(axes=1)([u, v]), u, v]))
model = keras.Model([user, item], rating)
model.compile("adam", "mse")
n = 6400
who = np.random.randint(0, users, (n, 1))
what = np.random.randint(0, items, (n, 1))
stars = np.random.rand(n, 1)
model.fit([who, what], stars, batch_size=128, epochs=3, verbose=0)
model.predict([who[:1000], what[:1000]], verbose=0)
