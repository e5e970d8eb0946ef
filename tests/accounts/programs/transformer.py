"""A small transformer for text, written as layers of its own."""

import keras
import numpy as np


class Block(keras.layers.Layer):
    def __init__(self, width, heads):
        super().__init__()
        self.attention = keras.layers.MultiHeadAttention(heads, width // heads)
        self.feed = keras.Sequential(
            [keras.layers.Dense(2 * width, activation="relu"), keras.layers.Dense(width)]
        )
        self.first, self.second = keras.layers.LayerNormalization(), keras.layers.LayerNormalization()

    def call(self, inputs):
        hidden = self.first(inputs + self.attention(inputs, inputs))
        return self.second(hidden + self.feed(hidden))


inputs = keras.Input((32,))
hidden = keras.layers.Embedding(500, 32)(inputs)
for _ in range(2):
    hidden = Block(32, 4)(hidden)
outputs = keras.layers.Dense(2, activation="softmax")(keras.layers.GlobalAveragePooling1D()(hidden))
model = keras.Model(inputs, outputs)
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
rng = np.random.default_rng(0)
x = rng.integers(0, 500, size=(512, 32))
model.fit(x, (x[:, 0] > 250).astype("int32"), batch_size=64, epochs=2, verbose=0)
print(model.evaluate(x, (x[:, 0] > 250).astype("int32"), verbose=0)[1] >= 0)
