"""A small transformer that classifies sentences, in Keras."""

import keras
from keras import layers, ops

import data

WORDS, LENGTH, WIDTH, HEADS = 500, 32, 64, 4
asked = data.options(samples=4096, epochs=2)
keras.utils.set_random_seed(0)
text, label = data.sentences(asked.samples, LENGTH, WORDS)


@keras.saving.register_keras_serializable()
class Embedded(layers.Layer):
    def __init__(self):
        super().__init__()
        self.words, self.places = layers.Embedding(WORDS, WIDTH), layers.Embedding(LENGTH, WIDTH)

    def call(self, text):
        return self.words(text) + self.places(ops.arange(LENGTH))


inputs = keras.Input((LENGTH,), dtype="int32")
x = Embedded()(inputs)
for _ in range(2):
    x = layers.LayerNormalization()(x + layers.MultiHeadAttention(HEADS, WIDTH // HEADS)(x, x))
    x = layers.LayerNormalization()(x + layers.Dense(WIDTH)(layers.Dense(128, activation="relu")(x)))
outputs = layers.Dense(1, activation="sigmoid")(layers.GlobalAveragePooling1D()(x))
model = keras.Model(inputs, outputs)
model.compile(keras.optimizers.Adam(1e-3), "binary_crossentropy")

model.fit(text, label, batch_size=asked.batch, epochs=asked.epochs, verbose=0)
scores = model.predict(text, batch_size=asked.batch, verbose=0)
print(f"accuracy: {((scores[:, 0] > 0.5) == (label > 0.5)).mean():.4f}")
