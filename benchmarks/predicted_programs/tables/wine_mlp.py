"""A perceptron on a table, functional, with validation_split and class weights."""
import numpy as np
import keras
from keras import layers

rng = np.random.default_rng(0)
features = rng.normal(size=(3000, 11)).astype("float32")
quality = rng.integers(0, 6, size=3000)

inputs = keras.Input(shape=(11,))
x = layers.Dense(96, activation="relu")(inputs)
x = layers.BatchNormalization()(x)
x = layers.Dropout(0.3)(x)
x = layers.Dense(48, activation="relu")(x)
outputs = layers.Dense(6, activation="softmax")(x)
model = keras.Model(inputs, outputs)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(features, quality, batch_size=50, epochs=6, validation_split=0.2, class_weight={0: 2.0, 1: 1.0, 2: 1.0, 3: 1.0, 4: 1.0, 5: 1.0}, verbose=0)
model.evaluate(features, quality, batch_size=100, verbose=0)
