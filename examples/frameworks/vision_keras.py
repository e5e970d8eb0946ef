"""A small residual network, in Keras."""

import keras
from keras import layers

import data

SIDE, CLASSES = 32, 4
asked = data.options(samples=1024, epochs=2)
keras.utils.set_random_seed(0)
image, label = data.pictures(asked.samples, SIDE, CLASSES)


def block(x, filters):
    """Two convolutions beside a shortcut; half the side."""
    y = layers.Conv2D(filters, 3, strides=2, padding="same", use_bias=False)(x)
    y = layers.ReLU()(layers.BatchNormalization()(y))
    y = layers.BatchNormalization()(layers.Conv2D(filters, 3, padding="same", use_bias=False)(y))
    return layers.ReLU()(y + layers.Conv2D(filters, 1, strides=2, use_bias=False)(x))


inputs = keras.Input((SIDE, SIDE, 3))
x = layers.Conv2D(16, 3, padding="same", activation="relu")(inputs)
for filters in (32, 64):
    x = block(x, filters)
outputs = layers.Dense(CLASSES, activation="softmax")(layers.GlobalAveragePooling2D()(x))
model = keras.Model(inputs, outputs)
model.compile(keras.optimizers.Adam(1e-3), "sparse_categorical_crossentropy")

model.fit(image, label, batch_size=asked.batch, epochs=asked.epochs, verbose=0)
scores = model.predict(image, batch_size=asked.batch, verbose=0)
print(f"accuracy: {(scores.argmax(axis=1) == label).mean():.4f}")
