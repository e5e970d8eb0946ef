"""An encoder block as a layer class, used twice."""
import keras
import numpy as np
from keras import layers, ops


class Encoder(layers.Layer):
    def __init__(self, width, heads, inner):
        super().__init__()
        self.attention = layers.MultiHeadAttention(num_heads=heads, key_dim=width // heads)
        self.inner = keras.Sequential([layers.Dense(inner, activation="gelu"), layers.Dense(width)])
        self.first = layers.LayerNormalization(epsilon=1e-6)
        self.second = layers.LayerNormalization(epsilon=1e-6)

    def call(self, x):
        x = self.first(x + self.attention(x, x))
        return self.second(x + self.inner(x))


class Positions(layers.Layer):
    def __init__(self, length, vocabulary, width):
        super().__init__()
        self.words = layers.Embedding(vocabulary, width)
        self.places = layers.Embedding(length, width)
        self.length = length

    def call(self, x):
        return self.words(x) + self.places(ops.arange(0, self.length, 1))


inputs = keras.Input((56,), dtype="int32")
x = Positions(56, 4000, 64)(inputs)
x = Encoder(64, 4, 128)(x)
x = Encoder(64, 4, 128)(x)
x = layers.GlobalAveragePooling1D()(x)
x = layers.Dropout(0.1)(x)
model = keras.Model(inputs, layers.Dense(3, activation="softmax")(x))
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
data = np.random.randint(0, 4000, size=(960, 56))
labels = np.random.randint(0, 3, size=(960,))
model.fit(data, labels, batch_size=32, epochs=2, verbose=0)
model.predict(data[:64], verbose=0)
