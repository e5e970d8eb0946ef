"""Pictures that are changed inside of the model, residual blocks from a function."""
import keras
from keras import layers
import numpy as np


def block(x, filters, stride=1):
    shortcut = x
    x = layers.Conv2D(filters, 3, strides=stride, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization()(x)
    x = layers.Activation("relu")(x)
    x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization()(x)
    if stride > 1:
        shortcut = layers.Conv2D(filters, 1, strides=stride, use_bias=False)(shortcut)
        shortcut = layers.BatchNormalization()(shortcut)
    return layers.Activation("relu")(layers.add([x, shortcut]))


inputs = keras.Input((40, 40, 3))
x = layers.RandomFlip("horizontal")(inputs)
x = layers.RandomRotation(0.05)(x)
x = layers.Conv2D(16, 3, padding="same", activation="relu")(x)
for filters in (16, 32):
    x = block(x, filters, 2)
x = layers.GlobalAveragePooling2D()(x)
outputs = layers.Dense(5, activation="softmax")(x)
model = keras.Model(inputs, outputs)
model.compile("adam", "categorical_crossentropy", metrics=["accuracy"])
pictures = np.random.random((640, 40, 40, 3)).astype("float32")
classes = keras.utils.to_categorical(np.random.randint(0, 5, 640), 5)
model.fit(pictures, classes, batch_size=32, epochs=3, verbose=0)
model.evaluate(pictures, classes, verbose=0)
